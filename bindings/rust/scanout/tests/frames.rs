//! Frames, and how long they live.

mod common;

use common::{film, frames, next, open, paused};
use scanout::{Decoder, DynamicHdr, ErrorKind, MemoryKind, Options, Player, Timeline};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::io::AsRawFd;
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn planes_are_the_memory_of_the_descriptor() {
    for (name, bits) in [("plain.mp4", 8), ("hevc-10bit.mp4", 10), ("crop.mp4", 8), ("odd-size-444.mp4", 8)] {
        let player = open(name);
        let frame = next(&player);
        assert_eq!((frame.bit_depth(), frame.plane_count()), (bits, 3), "{name}");
        let memory = File::from(frame.memory().try_clone_to_owned().unwrap());
        for index in 0..3 {
            let plane = frame.plane(index).unwrap();
            let mut bytes = vec![0; plane.bytes().len()];
            memory.read_exact_at(&mut bytes, frame.info().planes[index].visible_offset).unwrap();
            assert_eq!(plane.bytes(), bytes, "{name}");
            assert_eq!(plane.rows().len(), plane.height() as usize);
            for (number, row) in plane.rows().enumerate() {
                assert_eq!(row.len(), plane.width() as usize * plane.bits() as usize / 8);
                match plane.row_of_u16(number) {
                    Some(samples) => assert!(bits == 10 && samples.len() == plane.width() as usize && samples.iter().all(|&sample| sample < 1024)),
                    None => assert_eq!(bits, 8),
                }
            }
        }
        let luma = frame.plane(0).unwrap();
        assert_eq!(frame.size(), (luma.width(), luma.height()));
        assert_eq!(frame.plane(3).err().unwrap().kind(), ErrorKind::Argument);
    }
}

#[test]
fn a_frame_outlives_its_player_on_another_thread() {
    let player = open("plain.mp4");
    let frame = next(&player);
    let expected = frame.to_vec().unwrap();
    // Whatever the decoder writes meanwhile.
    assert_eq!(frames(&player).len(), 29);
    drop(player);
    let (sender, receiver) = channel();
    sender.send(frame).unwrap();
    let found = thread::spawn(move || receiver.recv().unwrap().to_vec().unwrap()).join().unwrap();
    assert_eq!(found, expected);
}

#[test]
fn a_frame_is_read_by_many_threads() {
    let player = open("plain.mp4");
    let frame = next(&player);
    let expected = frame.to_vec().unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(frame.to_vec().unwrap(), expected)));
        }
    });
}

#[test]
fn the_whole_budget_held_is_an_error_and_no_hang() {
    let player = Player::open(film("plain.mp4"), &Options { budget: 2, ..Options::default() }).unwrap();
    let mut held: Vec<_> = player.frames().take(2).map(Result::unwrap).collect();
    let error = player.next_frame(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Budget);
    assert!(error.to_string().starts_with("All 2 frames"));
    held.pop();
    assert_eq!(next(&player).sequence(), 2);
}

#[test]
fn another_thread_may_give_frames_back() {
    let player = Player::open(film("plain.mp4"), &Options { budget: 1, waits_when_full: true, ..Options::default() }).unwrap();
    let first = next(&player);
    thread::scope(|scope| {
        scope.spawn(|| drop(first));
        assert_eq!(player.next_frame(None).unwrap().unwrap().sequence(), 1);
    });
}

#[test]
fn a_frame_is_given_back_after_a_fence() {
    let player = paused("plain.mp4");
    let frame = next(&player);
    assert!(frame.acquire_fence().is_none(), "software has finished");
    // What is no sync_file cannot hold the frame back.
    let nothing = File::open("/dev/null").unwrap();
    let number = nothing.as_raw_fd();
    frame.release_after(nothing.into());
    player.play().unwrap();
    assert_eq!(frames(&player).len(), 29);
    assert!(!std::path::Path::new(&format!("/proc/self/fd/{number}")).exists() || number_is_used_again(number));
}

fn number_is_used_again(number: i32) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{number}")).map_or(true, |path| path.as_os_str() != "/dev/null")
}

#[test]
fn what_is_no_device_with_timelines_is_refused() {
    let error = Timeline::new(File::open("/dev/null").unwrap()).err().unwrap();
    assert!(error.kind() == ErrorKind::Device && error.message().contains("timelines"), "{error}");
}

#[test]
fn colours_and_hdr() {
    let hdr = open("hdr10.mp4");
    let frame = next(&hdr);
    let color = frame.color();
    assert_eq!((color.primaries, color.transfer, color.matrix, color.is_full_range), (9, 16, 9, Some(false)));
    assert!(frame.hdr().unwrap().maximum_luminance > 100.0);
    let turned = open("rotation-90.mp4");
    let frame = next(&turned);
    assert_eq!((frame.rotation(), frame.hdr()), (90, None));
}

#[test]
fn a_format_that_is_asked_for_is_what_comes() {
    let options = Options { formats: "rgb24,gray".into(), row_alignment: 256, ..Options::default() };
    let player = Player::open(film("plain.mp4"), &options).unwrap();
    let frame = next(&player);
    assert_eq!((frame.format().as_str(), frame.plane_count()), ("rgb24", 1));
    assert_eq!(frame.dynamic_hdr(DynamicHdr::Hdr10Plus), None);
    let options = Options { decoder: Decoder::Software, size: Some((160, 120)), modifiers: vec![0], device: 57984, ..Options::default() };
    let player = Player::open(film("plain.mp4"), &options).unwrap();
    let frame = next(&player);
    assert_eq!((frame.size(), frame.pixel_aspect(), frame.device()), ((160, 120), Some((4, 3)), None));
    assert!(![MemoryKind::Unknown, MemoryKind::Device, MemoryKind::Given].contains(&frame.memory_kind()));
    let refused = Player::open(film("plain.mp4"), &Options { formats: "nothing".into(), ..Options::default() });
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::Argument);
}

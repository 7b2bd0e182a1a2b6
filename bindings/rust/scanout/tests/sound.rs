//! Sound.

mod common;

use common::{film, MINUTE};
use scanout::{ErrorKind, Options, Player, Sound, SoundFormat, TrackChoice};
use std::process::Command;
use std::thread;

fn all(sound: &mut Sound) -> (Vec<f32>, Vec<bool>) {
    let (mut samples, mut breaks) = (Vec::new(), Vec::new());
    while let Some(block) = sound.next(MINUTE).unwrap() {
        samples.extend_from_slice(block.samples);
        breaks.push(block.is_discontinuous);
    }
    (samples, breaks)
}

#[test]
fn every_sample_is_ffmpegs() {
    let path = film("demo.mp4");
    let ffmpeg =
        Command::new("ffmpeg").args(["-nostdin", "-v", "error", "-i"]).arg(&path).args(["-map", "0:a:0", "-f", "f32le", "-"]).output().unwrap();
    let expected: Vec<f32> = ffmpeg.stdout.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
    let options = Options { video_track: TrackChoice::Nothing, sound: Some(SoundFormat::default()), ..Options::default() };
    let mut player = Player::open(path, &options).unwrap();
    let (samples, breaks) = all(&mut player.take_sound().unwrap());
    assert!(samples.len() > 900_000 && samples == expected, "{} and {} samples", samples.len(), expected.len());
    assert!(breaks[0] && !breaks[1..].contains(&true));
    assert!(player.take_sound().is_none());
}

#[test]
fn frames_and_sound_side_by_side_and_after_a_seek() {
    let format = SoundFormat { sample_rate: 8000, channel_count: 1, ..SoundFormat::default() };
    let mut player = Player::open(film("demo.mp4"), &Options { sound: Some(format), ..Options::default() }).unwrap();
    let mut sound = player.take_sound().unwrap();
    for (target, serial) in [(0, 0), (8_000_000_000, 1)] {
        if serial > 0 {
            assert_eq!(player.seek(target).unwrap(), serial);
        }
        thread::scope(|scope| {
            let listener = scope.spawn(|| {
                let first = sound.next(MINUTE).unwrap().unwrap();
                assert_eq!((first.serial, first.film_time, first.sample_rate, first.channel_count), (serial, target, 8000, 1));
                first.samples.len() + all(&mut sound).0.len()
            });
            assert!(player.frames().all(|frame| frame.unwrap().serial() == serial));
            assert!(listener.join().unwrap() > if serial == 0 { 72_000 } else { 14_000 });
        });
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_a_silent_film_ends() {
    for (sample_rate, channel_count) in [(10_000_000, 0), (0, 99)] {
        let format = SoundFormat { sample_rate, channel_count, ..SoundFormat::default() };
        let refused = Player::open(film("demo.mp4"), &Options { sound: Some(format), ..Options::default() });
        assert_eq!(refused.err().unwrap().kind(), ErrorKind::Argument);
    }
    let mut player = Player::open(film("plain.mp4"), &Options { sound: Some(SoundFormat::default()), ..Options::default() }).unwrap();
    let mut sound = player.take_sound().unwrap();
    assert!(sound.next(MINUTE).unwrap().is_none());
    assert_eq!(sound.read(&mut [0.0; 8], scanout::host_time()).unwrap_err().kind(), ErrorKind::Argument);
    drop(player);
    assert!(sound.next(MINUTE).unwrap().is_none(), "it outlives the player");
}

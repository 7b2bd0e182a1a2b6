//! Seeks, ends, pauses and what the film says of itself.

mod common;

use common::{descriptors, film, frames, next, open, paused, MINUTE};
use scanout::{Error, ErrorKind, Event, Finder, FinderOptions, LogLevel, Options, Output, Player, State, TrackChoice, TrackKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::time::Duration;

fn error<T>(outcome: Result<T, Error>) -> Error {
    outcome.err().expect("it fails")
}

#[test]
fn every_seek_gives_the_exact_frame_and_its_number() {
    let player = open("demo.mp4");
    for (number, index) in (1..).zip([200, 3, 299, 150, 0]) {
        assert_eq!(player.seek(index * 1_000_000_000 / 30 + 1).unwrap(), number);
        let frame = next(&player);
        assert_eq!((frame.serial(), (frame.film_time().unwrap() * 30 + 500_000_000) / 1_000_000_000), (number, index));
    }
    loop {
        match player.next_event(MINUTE).expect("a seek is reported") {
            Event::Sought { serial, error } if serial == 5 => return assert_eq!(error, None),
            _ => {}
        }
    }
}

#[test]
fn there_are_frames_again_after_the_end() {
    let player = open("plain.mp4");
    let first = frames(&player);
    assert_eq!((first.len(), player.state()), (30, State::Ended));
    assert!(player.next_frame(None).unwrap().is_none());
    player.seek(0).unwrap();
    assert_eq!(frames(&player), first);
    assert_eq!((player.export_statistics().bytes_copied, player.statistics().frames_dropped), (0, 0));
    assert!(player.export_statistics().delivered >= 60);
}

#[test]
fn a_part_of_the_film() {
    let options = Options { start: 2_000_000_000, duration: 1_000_000_000, ..Options::default() };
    let player = Player::open(film("demo.mp4"), &options).unwrap();
    let times: Vec<_> = player.frames().map(|frame| frame.unwrap().film_time().unwrap()).collect();
    assert_eq!((times.len(), times[0]), (30, 2_000_000_000));
}

#[test]
fn a_film_that_stands_still_is_a_timeout() {
    let player = paused("plain.mp4");
    drop(next(&player));
    assert_eq!(error(player.next_frame(Some(Duration::from_millis(10)))).kind(), ErrorKind::Timeout);
    player.step(true).unwrap();
    assert_eq!(next(&player).sequence(), 1);
}

#[test]
fn with_a_clock_the_due_frame_is_given_again() {
    let news = Arc::new(AtomicUsize::new(0));
    let options = Options { output: Output::None, starts_paused: true, ..Options::default() };
    let player = Player::open(film("demo.mp4"), &options).unwrap();
    let counter = news.clone();
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    player.on_frame_available(Some(Box::new(count))).unwrap();
    let first = loop {
        if let Some(frame) = player.frame_for(scanout::host_time()).unwrap() {
            break frame;
        }
    };
    assert_eq!((first.sequence(), first.is_new()), (0, true));
    let again = player.frame_for(scanout::host_time()).unwrap().unwrap();
    assert_eq!((again.identity(), again.is_new()), (first.identity(), false));
    player.on_frame_available(None).unwrap();
    assert_eq!(Arc::strong_count(&news), 1, "the handler is gone");
}

#[test]
fn a_handler_that_panics_harms_nobody() {
    let player = paused("plain.mp4");
    player.on_frame_available(Some(Box::new(|| panic!("as the test wants it")))).unwrap();
    player.play().unwrap();
    assert_eq!(frames(&player).len(), 30);
}

#[test]
fn a_film_that_breaks_off_is_no_end() {
    let whole = std::fs::read(film("av1.mkv")).unwrap();
    let player = Player::open_memory(whole[..whole.len() * 2 / 3].to_vec(), "cut.mkv", &Options::default()).unwrap();
    let mut outcomes: Vec<_> = player.frames().map(|frame| frame.map(|frame| frame.sequence())).collect();
    let last = error(outcomes.pop().unwrap());
    assert_eq!((last.kind(), player.state()), (ErrorKind::Data, State::Failed));
    assert!(last.message().starts_with("cut.mkv: "), "{last}");
    assert!(std::iter::from_fn(|| player.next_event(Some(Duration::ZERO))).any(|event| event == Event::Failed(last.clone())));
}

#[test]
fn refusals_have_a_sentence() {
    let missing = error(Player::open("/nonexistent.mp4", &Options::default()));
    assert!(missing.kind() == ErrorKind::Open && missing.to_string().starts_with("/nonexistent.mp4: "), "{missing}");
    assert_eq!(error(Player::open(file!(), &Options::default())).kind(), ErrorKind::Open);
    assert_eq!(error(Player::open_memory(vec![0; 5000], "zeros", &Options::default())).kind(), ErrorKind::Data);
    assert_eq!(error(Player::open("a\0b", &Options::default())).kind(), ErrorKind::Argument);
    for options in
        [Options { budget: 100_000, ..Options::default() }, Options { plays_sound: true, sound: Some(Default::default()), ..Options::default() }]
    {
        assert_eq!(error(Player::open(film("plain.mp4"), &options)).kind(), ErrorKind::Argument);
    }
    let player = open("plain.mp4");
    for rate in [0.0, -1.0, f64::NAN] {
        assert_eq!(error(player.set_rate(rate)).kind(), ErrorKind::Argument);
    }
}

#[test]
fn opening_is_cancelled() {
    let (reader, _writer) = std::os::unix::net::UnixStream::pair().unwrap();
    let player = Player::open_fd(&reader, "the socket", &Options { opens_async: true, ..Options::default() }).unwrap();
    assert!(player.film().is_none());
    player.cancel_open().unwrap();
    loop {
        if let Event::Failed(error) = player.next_event(MINUTE).expect("the failure is reported") {
            assert_eq!(error.kind(), ErrorKind::Cancelled);
            return assert!(error.message().starts_with("the socket: "), "{error}");
        }
    }
}

#[test]
fn what_is_in_the_film() {
    let options = Options { audio_track: TrackChoice::Nothing, ..Options::default() };
    let player = Player::open(film("demo.mp4"), &options).unwrap();
    let described = player.film().unwrap();
    let (video, sound) = (&described.tracks[0], &described.tracks[1]);
    assert_eq!((video.kind, video.codec.as_str(), video.frame_rate, video.is_selected), (TrackKind::Video, "h264", Some((30, 1)), true));
    assert_eq!((sound.kind, sound.sample_rate, sound.channel_count, sound.is_selected), (TrackKind::Audio, 48_000, 2, false));
    assert!(described.is_seekable && described.container.contains("mp4") && described.duration == player.duration());
}

#[test]
fn frames_of_any_times() {
    let mut finder = Finder::open(film("demo.mp4"), &FinderOptions::default()).unwrap();
    let index = |frame: scanout::Frame| (frame.film_time().unwrap() * 30 + 500_000_000) / 1_000_000_000;
    assert_eq!(index(finder.frame_at(5_000_000_000).unwrap()), 150);
    let found: Vec<_> = finder.frames_at(&[9_000_000_000, 0, 3_000_000_000]).unwrap().map(|(place, frame)| (place, index(frame.unwrap()))).collect();
    assert_eq!(found, [(1, 0), (2, 90), (0, 270)]);
    assert_eq!(error(finder.frame_at(3_600_000_000_000)).kind(), ErrorKind::NoFrame);
    finder.cancel();
    assert_eq!(error(finder.frame_at(0)).kind(), ErrorKind::Cancelled);
}

#[test]
fn descriptors_stay_as_many() {
    let open_many = |count| (0..count).for_each(|_| drop(next(&open("plain.mp4"))));
    open_many(3);
    let before = descriptors();
    open_many(20);
    // Tests run side by side: what they have open comes and goes.
    assert!(descriptors() < before + 20 * 4, "{before} and {}", descriptors());
}

#[test]
fn the_log_says_what_players_do() {
    let (send, receive) = channel();
    let send = std::sync::Mutex::new(send);
    scanout::set_log_handler(
        LogLevel::Error,
        Some(move |level, text: &str| {
            let _ = send.lock().unwrap().send((level, text.to_owned()));
        }),
    )
    .unwrap();
    assert!(Player::open("/nonexistent/log.mp4", &Options::default()).is_err());
    // Other tests of the process may fail to open something as well.
    let line = receive.iter().find(|line| line.1.contains("/nonexistent/log.mp4")).unwrap();
    assert_eq!(line.0, LogLevel::Error);
    scanout::set_log_handler(LogLevel::Error, None::<fn(LogLevel, &str)>).unwrap();
    // Its sender is gone: the handler has been dropped.
    while receive.try_recv().is_ok() {}
    assert_eq!(receive.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
}

//! Subtitles beside the frames.

mod common;

use common::{film, MINUTE};
use scanout::{Event, Options, Output, Player, TrackChoice};
use std::process::Command;

#[test]
fn they_come_from_files_later_than_their_times() {
    let file = std::env::temp_dir().join(format!("scanout-beside-{}.srt", std::process::id()));
    std::fs::write(&file, "1\n00:00:00,100 --> 00:00:00,300\nBeside\n").unwrap();
    let options = Options {
        subtitle_files: vec![file.clone()],
        subtitle_delay: 500_000_000,
        subtitle_track: TrackChoice::Number(1),
        takes_subtitles: true,
        ..Options::default()
    };
    let player = Player::open(film("plain.mp4"), &options).unwrap();
    let mut told: Vec<String> = Vec::new();
    for frame in player.frames() {
        let on = player.subtitles(frame.unwrap().film_time().unwrap(), None, MINUTE).unwrap().unwrap();
        if told.last() != Some(&on.text()) {
            told.push(on.text());
        }
    }
    assert_eq!(told, ["", "Beside", ""]);
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn each_frame_has_its_text_and_picture() {
    let folder = std::env::temp_dir().join(format!("scanout-subtitles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (text, path) = (folder.join("text.srt"), folder.join("film.mkv"));
    std::fs::write(&text, "1\n00:00:00,200 --> 00:00:00,600\n<i>One</i>\nmore\n\n2\n00:00:00,600 --> 00:00:00,800\nTwo\n").unwrap();
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-nostdin", "-v", "error", "-y", "-i"]).arg(film("plain.mp4")).arg("-i").arg(&text);
    ffmpeg.args(["-map", "0:v", "-map", "1", "-c:v", "copy", "-c:s", "srt"]).arg(&path);
    assert!(ffmpeg.status().unwrap().success());

    let options = Options { subtitle_track: TrackChoice::Number(1), takes_subtitles: true, ..Options::default() };
    let player = Player::open(&path, &options).unwrap();
    let mut told: Vec<(String, u64)> = Vec::new();
    for frame in player.frames() {
        let on = player.subtitles(frame.unwrap().film_time().unwrap(), Some((640, 360)), MINUTE).unwrap().unwrap();
        assert_eq!(on.picture().is_some(), !on.text().is_empty());
        if let Some(picture) = on.picture() {
            assert_eq!(picture.pixels.len(), picture.pitch * picture.height as usize);
            assert!(picture.pixels.chunks(4).all(|pixel| pixel[..3].iter().all(|&part| part <= pixel[3])));
        }
        if told.last() != Some(&(on.text(), on.serial())) {
            told.push((on.text(), on.serial()));
        }
    }
    assert_eq!(told.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), ["", "One\nmore", "Two", ""]);
    let on = player.subtitles(300_000_000, None, MINUTE).unwrap().unwrap();
    drop(player);
    let line = &on.lines()[0];
    assert_eq!((line.start, line.end, line.text.as_str(), line.place), (200_000_000, Some(600_000_000), "One\nmore", None));
    assert_eq!((on.from(), on.until(), on.picture().is_none()), (Some(200_000_000), Some(600_000_000), true));

    let player = Player::open(&path, &Options::default()).unwrap();
    assert!(player.subtitles(0, None, MINUTE).unwrap().is_none());

    let options = Options { output: Output::None, starts_paused: true, ..options };
    let player = Player::open(&path, &options).unwrap();
    player.seek(300_000_000).unwrap();
    loop {
        match player.next_event(MINUTE).expect("what is said is reported") {
            Event::Subtitles(text) if !text.is_empty() => break assert_eq!(text, "One\nmore"),
            _ => {}
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

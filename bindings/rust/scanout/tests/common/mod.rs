//! The project's own films, whose folder SCANOUT_FILMS names.

#![allow(dead_code)]

use scanout::{Frame, Options, Player};
use std::path::PathBuf;
use std::time::Duration;

pub fn film(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("SCANOUT_FILMS").expect("SCANOUT_FILMS names the folder of the films")).join(name)
}

pub fn open(name: &str) -> Player {
    Player::open(film(name), &Options::default()).unwrap()
}

pub fn paused(name: &str) -> Player {
    Player::open(film(name), &Options { starts_paused: true, ..Options::default() }).unwrap()
}

pub fn frames(player: &Player) -> Vec<Vec<u8>> {
    player.frames().map(|frame| frame.unwrap().to_vec().unwrap()).collect()
}

pub fn next(player: &Player) -> Frame {
    player.next_frame(MINUTE).unwrap().unwrap()
}

/// Longer than anything but a hang.
pub const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

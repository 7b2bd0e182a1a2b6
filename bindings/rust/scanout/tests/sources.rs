//! Films that are read from descriptors, memory and a program's own functions.

mod common;

use common::{film, frames, open};
use scanout::{Canceller, ErrorKind, Options, Player, Sandbox, Source};
use std::fs::File;
use std::io;
use std::sync::mpsc::{channel, Receiver, Sender};

/// Reads from memory, until it fails at some byte.
struct Reel {
    bytes: Vec<u8>,
    place: usize,
    fault: Fault,
}

enum Fault {
    None,
    Error(usize),
    Panic(usize),
    Blocks { at: usize, blocked: Sender<()>, cancelled: Receiver<()>, cancel: Option<Sender<()>> },
}

impl Reel {
    fn new(name: &str, fault: Fault) -> Self {
        Reel { bytes: std::fs::read(film(name)).unwrap(), place: 0, fault }
    }
}

impl Source for Reel {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut end = self.bytes.len().min(self.place + bytes.len().min(1000));
        match &self.fault {
            Fault::None => {}
            Fault::Error(at) if self.place >= *at => return Err(io::Error::from_raw_os_error(13)),
            Fault::Panic(at) if self.place >= *at => panic!("as the test wants it"),
            Fault::Blocks { at, blocked, cancelled, .. } if self.place >= *at => {
                let _ = blocked.send(());
                let _ = cancelled.recv();
                return Err(io::ErrorKind::Other.into());
            }
            Fault::Error(at) | Fault::Panic(at) | Fault::Blocks { at, .. } => end = end.min(*at),
        }
        let count = end - self.place;
        bytes[..count].copy_from_slice(&self.bytes[self.place..end]);
        self.place = end;
        Ok(count)
    }

    fn seek(&mut self, offset: u64) -> io::Result<()> {
        self.place = offset as usize;
        Ok(())
    }

    fn byte_count(&mut self) -> Option<u64> {
        Some(self.bytes.len() as u64)
    }

    fn canceller(&mut self) -> Option<Canceller> {
        match &mut self.fault {
            Fault::Blocks { cancel, .. } => cancel.take().map(|cancel| -> Canceller { Box::new(move || drop(cancel)) }),
            _ => None,
        }
    }
}

#[test]
fn frames_are_the_same_however_the_film_is_read() {
    let expected = frames(&open("plain.mp4"));
    for sandbox in [Sandbox::Off, Sandbox::Full] {
        let options = Options { sandbox, ..Options::default() };
        let file = File::open(film("plain.mp4")).unwrap();
        assert_eq!(frames(&Player::open_fd(&file, "descriptor", &options).unwrap()), expected);
        assert_eq!(frames(&Player::open_source(file, "file", &options).unwrap()), expected);
        assert_eq!(frames(&Player::open_memory(std::fs::read(film("plain.mp4")).unwrap(), "memory", &options).unwrap()), expected);
        assert_eq!(frames(&Player::open_source(Reel::new("plain.mp4", Fault::None), "reel", &options).unwrap()), expected);
    }
}

#[test]
fn bytes_in_the_value_itself_stay_where_they_are() {
    let bytes: [u8; 4] = [1, 2, 3, 4];
    assert_eq!(Player::open_memory(bytes, "four bytes", &Options::default()).err().unwrap().kind(), ErrorKind::Data);
}

#[test]
fn a_read_that_fails_ends_the_film_with_its_cause() {
    for (fault, cause) in [(Fault::Error(4000), "Permission denied"), (Fault::Panic(4000), "Input/output error")] {
        let player = Player::open_source(Reel::new("av1.mkv", fault), "the reel", &Options::default()).unwrap();
        let error = player.frames().find_map(Result::err).expect("the film breaks off");
        assert!(error.kind() == ErrorKind::Data && error.message().starts_with("the reel: ") && error.message().contains(cause), "{error}");
    }
}

#[test]
fn a_read_that_blocks_ends_when_the_player_is_dropped() {
    let ((blocked, is_blocked), (cancel, cancelled)) = (channel(), channel());
    let fault = Fault::Blocks { at: 4000, blocked, cancelled, cancel: Some(cancel) };
    let player = Player::open_source(Reel::new("av1.mkv", fault), "the reel", &Options::default()).unwrap();
    is_blocked.recv().unwrap();
    drop(player);
    assert!(is_blocked.iter().count() < 1000, "the source is gone with the player");
}

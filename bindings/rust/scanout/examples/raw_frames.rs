//! Writes the visible bytes of every frame into a file, as `ffmpeg -f rawvideo` does.

use scanout::{Decoder, Options, Player};
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.len() != 2 {
        return Err("usage: raw_frames FILM FILE".into());
    }
    let player = Player::open(&arguments[0], &Options { decoder: Decoder::Software, ..Options::default() })?;
    let mut output = BufWriter::new(File::create(&arguments[1])?);
    for frame in player.frames() {
        output.write_all(&frame?.to_vec()?)?;
    }
    output.flush()?;
    Ok(())
}

//! Prints the mean luma of each frame of a film, computed in the decoder's memory.
//!
//!     PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig LD_LIBRARY_PATH=$HOME/.local/lib \
//!         cargo run --release --manifest-path bindings/rust/Cargo.toml --example mean_luma film.mkv

use scanout::{Error, ErrorKind, Options, Plane, Player};
use std::env::args_os;
use std::ffi::OsStr;
use std::process::ExitCode;

fn mean(plane: &Plane<'_>) -> f64 {
    let mut sum: u64 = 0;
    for row in 0..plane.height() as usize {
        sum += match plane.row_of_u16(row) {
            Some(samples) => samples.iter().map(|&sample| u64::from(sample)).sum::<u64>(),
            None => plane.row(row).iter().map(|&sample| u64::from(sample)).sum(),
        };
    }
    sum as f64 / f64::from(plane.width()) / f64::from(plane.height())
}

fn print_luma(film: &OsStr) -> Result<(), Error> {
    let player = Player::open(film, &Options::default())?;
    for frame in player.frames() {
        let frame = frame?;
        println!("{:.3} {:.3}", frame.film_time().unwrap_or(0) as f64 / 1e9, mean(&frame.plane(0)?));
    }
    Ok(())
}

fn main() -> ExitCode {
    let films: Vec<_> = args_os().skip(1).collect();
    if films.len() != 1 {
        eprintln!("usage: mean_luma FILM");
        return ExitCode::from(64);
    }
    match print_luma(&films[0]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mean_luma: {error}");
            ExitCode::from(if error.kind() == ErrorKind::Data { 65 } else { 66 })
        }
    }
}

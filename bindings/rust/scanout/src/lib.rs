//! Films as decoded frames, in the memory into which the decoder wrote them, and as decoded sound.
//!
//! ```no_run
//! let player = scanout::Player::open("film.mkv", &scanout::Options::default())?;
//! for frame in player.frames() {
//!     let frame = frame?;
//!     let luma = frame.plane(0)?;
//!     let sum: u64 = luma.rows().flatten().map(|&sample| u64::from(sample)).sum();
//!     println!("{:?} {}", frame.film_time(), sum as f64 / f64::from(luma.width() * luma.height()));
//! }
//! # Ok::<(), scanout::Error>(())
//! ```
//!
//! - **Threads.** Everything may be sent to, and except for [`Sound`] be used from, any thread. A call that waits says so.
//! - **Lifetimes.** A [`Frame`] is a right to read. It outlives the player; its planes, rows and descriptor are borrowed from it. The decoder writes
//!   the memory again when the frame is dropped, or when the fence given to [`Frame::release_after`] has signalled.
//! - **Times** are nanoseconds: film times from the beginning of the film, host times those of [`host_time`].
//! - **The library** is `libscanout.so.0`, which `scripts/install` or the package `libscanout-dev` installs. The crate has no other dependency.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

mod error;
mod event;
mod exporter;
mod film;
mod finder;
mod frame;
mod log;
mod network;
mod options;
mod plane;
mod player;
mod sized;
mod sound;
mod source;
mod subtitles;
mod timeline;

pub use error::{Error, ErrorKind, Result};
pub use event::{Event, State};
pub use exporter::{ExportStatistics, Frames};
pub use film::{Chapter, Film, Track, TrackKind};
pub use finder::{Finder, FinderOptions, FramesAt, Selection};
pub use frame::{Color, DynamicHdr, Frame, Hdr, HdrPoint, MemoryKind};
pub use log::{set_log_handler, LogLevel};
pub use network::{Network, RtspTransport};
pub use options::{Decoder, Options, Output, Sandbox, SoundFormat, TrackChoice};
pub use plane::{Plane, Rows};
pub use player::{Player, Statistics};
pub use sound::{Sound, SoundBlock};
pub use source::{Canceller, Source};
pub use subtitles::{SubtitleLine, SubtitlePicture, Subtitles};
pub use timeline::Timeline;

/// The host's clock: CLOCK_MONOTONIC, in nanoseconds. [`Player::frame_for`] takes such times.
pub fn host_time() -> i64 {
    sized::monotonic()
}

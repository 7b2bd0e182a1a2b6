//! The functions, structs and values of `scanout.h`, as they are in C. The header says what each does; the crate `scanout` is the safe interface.
//!
//! Every struct begins with its size: start from zeros, which are the defaults, and set `size`.

#![allow(non_camel_case_types)]

mod conversion;
mod egl;
mod event;
mod exporter;
mod film;
mod finder;
mod frame;
mod log;
mod player;
mod queue;
mod result;
mod server;
mod sound;
mod subtitles;
mod vulkan;

pub use conversion::*;
pub use egl::*;
pub use event::*;
pub use exporter::*;
pub use film::*;
pub use finder::*;
pub use frame::*;
pub use log::*;
pub use player::*;
pub use queue::*;
pub use result::*;
pub use server::*;
pub use sound::*;
pub use subtitles::*;
pub use vulkan::*;

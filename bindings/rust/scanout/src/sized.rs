//! What the C interface asks of its callers: structs that say their size, text with a zero, timeouts in nanoseconds.

use crate::error::{Error, ErrorKind, Result};
use scanout_sys as sys;
use std::ffi::{CStr, CString};
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_long};
use std::time::Duration;

/// A struct of `scanout.h`: all zeros are its defaults.
///
/// # Safety
/// The type is `repr(C)`, begins with a `u32` that is its size, and is valid when all its bytes are 0.
pub(crate) unsafe trait Sized32: Copy {
    /// The defaults, with the size.
    fn sized() -> Self {
        // SAFETY: the trait promises that zeros are a valid value, and that the first member is the size.
        unsafe {
            let mut value: Self = std::mem::zeroed();
            (&mut value as *mut Self).cast::<u32>().write(size_of::<Self>() as u32);
            value
        }
    }
}

macro_rules! sized {
    ($($name:ident),* $(,)?) => { $(
        // SAFETY: the structs of scanout.h are made so: numbers, pointers that may be null, and optional functions, the size in front.
        unsafe impl Sized32 for sys::$name {}
    )* };
}

sized!(
    scanout_options,
    scanout_network,
    scanout_stream,
    scanout_statistics,
    scanout_film_info,
    scanout_track_info,
    scanout_chapter,
    scanout_metadata,
    scanout_event,
    scanout_exporter_options,
    scanout_exporter_statistics,
    scanout_frame_info,
    scanout_sound_options,
    scanout_sound_block,
    scanout_finder_options,
    scanout_canvas,
    scanout_subtitles_info,
    scanout_subtitle_line,
);

/// The buffer for a sentence about a failure.
pub(crate) struct Message([u8; 1000]);

impl Message {
    pub(crate) fn new() -> Self {
        Message([0; 1000])
    }

    pub(crate) fn place(&mut self) -> *mut c_char {
        self.0.as_mut_ptr().cast()
    }

    pub(crate) fn size(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn error(&self, result: sys::scanout_result) -> Error {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        Error::of_result(result, String::from_utf8_lossy(&self.0[..end]).into_owned())
    }
}

pub(crate) fn c_string(bytes: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error::new(ErrorKind::Argument, "A name has a zero byte inside."))
}

/// The text at `place`; None for NULL.
///
/// # Safety
/// `place` is NULL, or points to bytes that end with a zero and stay unchanged during the call.
pub(crate) unsafe fn text(place: *const c_char) -> Option<String> {
    if place.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    Some(unsafe { CStr::from_ptr(place) }.to_string_lossy().into_owned())
}

/// The text in an array of characters.
pub(crate) fn text_in(characters: &[c_char]) -> String {
    let bytes: Vec<u8> = characters.iter().take_while(|&&character| character != 0).map(|&character| character as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A timeout for the C interface; None waits without limit.
pub(crate) fn timeout(duration: Option<Duration>) -> i64 {
    duration.map_or(-1, |duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

/// A time that may be unknown.
pub(crate) fn known(time: i64) -> Option<i64> {
    if time == sys::SCANOUT_NO_TIME {
        None
    } else {
        Some(time)
    }
}

/// Two numbers of which 0 : 0 means unknown.
pub(crate) fn ratio(pair: [u32; 2]) -> Option<(u32, u32)> {
    if pair[0] == 0 || pair[1] == 0 {
        None
    } else {
        Some((pair[0], pair[1]))
    }
}

#[repr(C)]
struct Timespec {
    seconds: c_long,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

const CLOCK_MONOTONIC: c_int = 1;

pub(crate) fn monotonic() -> i64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the struct is that of the system, and the clock exists on every Linux.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    i64::from(time.seconds) * 1_000_000_000 + i64::from(time.nanoseconds)
}

use crate::error::{check, Error, ErrorKind, Result};
use crate::sized::{known, text, timeout, Sized32};
use scanout_sys as sys;
use std::ptr::{null, null_mut, NonNull};
use std::slice;
use std::time::Duration;

/// What subtitles are on at a moment of a film: [`Player::subtitles`](crate::Player::subtitles). It outlives the player.
pub struct Subtitles {
    handle: NonNull<sys::scanout_subtitles>,
    info: sys::scanout_subtitles_info,
}

// SAFETY: scanout.h allows every function on any thread, and what is on does not change.
unsafe impl Send for Subtitles {}
unsafe impl Sync for Subtitles {}

/// A line of text, or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubtitleLine {
    /// Film time from which it is on.
    pub start: i64,
    /// Film time until which it is on; None: until the next one, which is not read yet.
    pub end: Option<i64>,
    /// Without tags; empty for an image.
    pub text: String,
    /// With the override tags of ASS, which other formats of text are turned into; None for an image.
    pub ass: Option<String>,
    /// The name of its style in an ASS script.
    pub style: Option<String>,
    /// Left, top, width and height of an image on `canvas`.
    pub place: Option<(i32, i32, u32, u32)>,
    /// The size that `place` is counted on; None: the film does not say.
    pub canvas: Option<(u32, u32)>,
}

/// How subtitles look on the canvas that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct SubtitlePicture<'subtitles> {
    /// From the canvas's left edge.
    pub x: i32,
    /// From its upper edge.
    pub y: i32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Blue, green, red and alpha, premultiplied.
    pub pixels: &'subtitles [u8],
}

impl Subtitles {
    /// None: the film has none, or they are not taken.
    ///
    /// # Safety
    /// `player` is open.
    pub(crate) unsafe fn at(
        player: *mut sys::scanout_player,
        film_time: i64,
        canvas: Option<(u32, u32)>,
        limit: Option<Duration>,
    ) -> Result<Option<Self>> {
        let mut drawn = sys::scanout_canvas::sized();
        (drawn.width, drawn.height) = canvas.unwrap_or_default();
        let place: *const _ = if canvas.is_some() { &drawn } else { null() };
        let mut handle = null_mut();
        // SAFETY: the caller promises the player; the others are valid places.
        let result = unsafe { sys::scanout_subtitles_at(player, film_time, place, timeout(limit), &mut handle) };
        check(result)?;
        let handle = match NonNull::new(handle) {
            Some(handle) => handle,
            None if result == sys::SCANOUT_END => return Ok(None),
            None => return Err(Error::new(ErrorKind::Timeout, "No subtitles were drawn in time.")),
        };
        let mut info = sys::scanout_subtitles_info::sized();
        // SAFETY: the handle has just been given.
        unsafe { sys::scanout_subtitles_describe(handle.as_ptr(), &mut info) };
        Ok(Some(Subtitles { handle, info }))
    }

    /// Of all lines, one below the other, without tags; empty: nothing is on, or only images.
    pub fn text(&self) -> String {
        // SAFETY: the text is lent until the release.
        unsafe { text(self.info.text) }.unwrap_or_default()
    }

    /// Film time from which nothing has changed; None: nothing is known before.
    pub fn from(&self) -> Option<i64> {
        known(self.info.from)
    }

    /// Film time until which nothing changes, as far as the film has been read; None: nothing is known behind.
    pub fn until(&self) -> Option<i64> {
        known(self.info.until)
    }

    /// Of the picture: the same as last time where it is the same.
    pub fn serial(&self) -> u64 {
        self.info.serial
    }

    /// None: there is nothing to draw.
    pub fn picture(&self) -> Option<SubtitlePicture<'_>> {
        if self.info.pixels.is_null() {
            return None;
        }
        let (info, pitch) = (&self.info, self.info.pitch as usize);
        // SAFETY: the library lends so many bytes until the release.
        let pixels = unsafe { slice::from_raw_parts(info.pixels.cast::<u8>(), pitch * info.height as usize) };
        Some(SubtitlePicture { x: info.x, y: info.y, width: info.width, height: info.height, pitch, pixels })
    }

    /// The lines and images that are on, in the order of their starts.
    pub fn lines(&self) -> Vec<SubtitleLine> {
        (0..self.info.line_count).filter_map(|index| self.line(index)).collect()
    }

    fn line(&self, index: u32) -> Option<SubtitleLine> {
        let mut read = sys::scanout_subtitle_line::sized();
        // SAFETY: the handle is held, and its strings are lent until the release.
        unsafe {
            if sys::scanout_subtitles_get_line(self.handle.as_ptr(), index, &mut read) != sys::SCANOUT_OK {
                return None;
            }
            let is_image = read.is_image != 0;
            Some(SubtitleLine {
                start: read.start,
                end: known(read.end),
                text: text(read.text).unwrap_or_default(),
                ass: text(read.ass),
                style: text(read.style),
                place: is_image.then_some((read.x, read.y, read.width, read.height)),
                canvas: (read.canvas_width > 0).then_some((read.canvas_width, read.canvas_height)),
            })
        }
    }
}

impl Drop for Subtitles {
    fn drop(&mut self) {
        // SAFETY: nothing that was lent lives on.
        unsafe { sys::scanout_subtitles_release(self.handle.as_ptr()) }
    }
}

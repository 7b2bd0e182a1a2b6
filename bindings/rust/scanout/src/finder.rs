use crate::error::{check, Error, ErrorKind, Result};
use crate::frame::Frame;
use crate::options::Sandbox;
use crate::sized::{c_string, known, Message, Sized32};
use scanout_sys as sys;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::AtomicUsize;
use std::sync::Arc;

/// Which frame belongs to a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The frame on the screen then: the last that begins at or before the time.
    OnScreen,
    /// The first that begins at or after the time.
    Next,
    /// The one that begins nearest to the time.
    Nearest,
}

/// How frames are found.
#[derive(Clone, Debug)]
pub struct FinderOptions {
    /// Which frame belongs to a time.
    pub selection: Selection,
    /// A frame that begins up to this much earlier will do when it costs less, in nanoseconds; `i64::MAX`: the sync frame, which costs least.
    pub tolerance: i64,
    /// What runs without rights.
    pub sandbox: Sandbox,
    /// Decoding threads; 0: the decoder chooses.
    pub threads: u32,
    /// Frames that you may hold at once; 0: 8. With all of them held, the next search waits until another thread drops one.
    pub budget: u32,
    /// Frames that are larger are made smaller and keep their shape; 0: of any size.
    pub maximum_size: (u32, u32),
    /// Frames are turned until they stand upright, with square pixels.
    pub is_upright: bool,
    /// FFmpeg's name of the pixel format wanted: "bgra"; None: the decoder's.
    pub format: Option<String>,
}

impl Default for FinderOptions {
    fn default() -> Self {
        FinderOptions {
            selection: Selection::OnScreen,
            tolerance: 0,
            sandbox: Sandbox::Off,
            threads: 0,
            budget: 0,
            maximum_size: (0, 0),
            is_upright: false,
            format: None,
        }
    }
}

/// Frames of any times of a film, for previews and analysis, without playing it. Calls on several threads wait for each other.
pub struct Finder {
    handle: NonNull<sys::scanout_finder>,
    held: Arc<AtomicUsize>,
}

// SAFETY: scanout.h allows every function on any thread.
unsafe impl Send for Finder {}
unsafe impl Sync for Finder {}

impl Finder {
    /// Opens a path or a URL. Blocks.
    pub fn open(location: impl AsRef<OsStr>, wishes: &FinderOptions) -> Result<Self> {
        let location = c_string(location.as_ref().as_bytes())?;
        let format = wishes.format.as_deref().map(c_string).transpose()?;
        let mut options = sys::scanout_finder_options::sized();
        options.selection = match wishes.selection {
            Selection::OnScreen => sys::SCANOUT_SELECT_ON_SCREEN,
            Selection::Next => sys::SCANOUT_SELECT_NEXT,
            Selection::Nearest => sys::SCANOUT_SELECT_NEAREST,
        };
        options.tolerance = wishes.tolerance;
        options.sandbox = wishes.sandbox.number();
        options.threads = wishes.threads;
        options.budget = wishes.budget;
        options.maximum_width = wishes.maximum_size.0;
        options.maximum_height = wishes.maximum_size.1;
        options.is_upright = u32::from(wishes.is_upright);
        options.format = format.as_ref().map_or(std::ptr::null(), |format| format.as_ptr());
        let (mut handle, mut message) = (null_mut(), Message::new());
        // SAFETY: the strings live during the call, and the struct says its size.
        let result = unsafe { sys::scanout_finder_open(location.as_ptr(), &options, &mut handle, message.place(), message.size()) };
        match NonNull::new(handle) {
            Some(handle) if result == sys::SCANOUT_OK => Ok(Finder { handle, held: Arc::default() }),
            _ => Err(message.error(result)),
        }
    }

    /// The film's length; None: it has no known end.
    pub fn duration(&self) -> Option<i64> {
        // SAFETY: the finder is open.
        known(unsafe { sys::scanout_finder_duration(self.handle.as_ptr()) })
    }

    /// The frame for a film time. Blocks while it is decoded. [`ErrorKind::NoFrame`](crate::ErrorKind::NoFrame): the film has none then.
    pub fn frame_at(&self, film_time: i64) -> Result<Frame> {
        // SAFETY: the finder is open.
        self.found(|frame, message, size| unsafe { sys::scanout_finder_frame_at(self.handle.as_ptr(), film_time, frame, message, size) })
            .and_then(|frame| frame.ok_or_else(|| Error::new(ErrorKind::NoFrame, "There is no frame.")))
    }

    /// The frames for many times, which is much cheaper than one by one. They come in the order of the film, each with the place of its time in the
    /// list.
    pub fn frames_at(&mut self, film_times: &[i64]) -> Result<FramesAt<'_>> {
        // SAFETY: the finder is open, and so many times lie there.
        check(unsafe { sys::scanout_finder_want(self.handle.as_ptr(), film_times.as_ptr(), film_times.len()) })?;
        Ok(FramesAt { finder: self })
    }

    /// Makes a search that blocks, and every later one, fail soon with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn cancel(&self) {
        // SAFETY: the finder is open.
        unsafe { sys::scanout_finder_cancel(self.handle.as_ptr()) }
    }

    /// Carries a search out; None: the end of a list.
    fn found(
        &self,
        search: impl FnOnce(*mut *mut sys::scanout_frame, *mut std::os::raw::c_char, usize) -> sys::scanout_result,
    ) -> Result<Option<Frame>> {
        let (mut frame, mut message) = (null_mut(), Message::new());
        let size = message.size();
        let result = search(&mut frame, message.place(), size);
        match NonNull::new(frame) {
            // SAFETY: a frame that comes is ours.
            Some(frame) => Ok(Some(unsafe { Frame::own(frame, &self.held) })),
            None if result == sys::SCANOUT_END => Ok(None),
            None => Err(message.error(result)),
        }
    }
}

impl Drop for Finder {
    fn drop(&mut self) {
        // SAFETY: nobody borrows it any more.
        unsafe { sys::scanout_finder_close(self.handle.as_ptr()) }
    }
}

/// Frames for a list of times: [`Finder::frames_at`].
pub struct FramesAt<'finder> {
    finder: &'finder Finder,
}

impl Iterator for FramesAt<'_> {
    type Item = (usize, Result<Frame>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut index = 0;
        // SAFETY: the finder is open.
        let found = self
            .finder
            .found(|frame, message, size| unsafe { sys::scanout_finder_next(self.finder.handle.as_ptr(), &mut index, frame, message, size) });
        found.transpose().map(|frame| (index, frame))
    }
}

use crate::error::{check, Error, ErrorKind, Result};
use crate::frame::Frame;
use crate::options::Options;
use crate::player::Player;
use crate::sized::{c_string, timeout, Sized32};
use scanout_sys as sys;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a client's frames have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportStatistics {
    /// Frames that were decoded.
    pub offered: u64,
    /// That you got, each counted once.
    pub delivered: u64,
    /// Whose time was over before you asked.
    pub late: u64,
    /// That you did not get because you held too many.
    pub over_budget: u64,
    /// That a seek made void.
    pub flushed: u64,
    /// 0: nothing is copied.
    pub bytes_copied: u64,
}

type Handler = Box<dyn Fn() + Send + Sync>;

/// The handle of `scanout_exporter`, and the frames that are held.
pub(crate) struct Exporter {
    handle: NonNull<sys::scanout_exporter>,
    held: Arc<AtomicUsize>,
    /// Above which asking fails instead of waiting.
    budget: Option<usize>,
    handler: Mutex<Option<Arc<Handler>>>,
}

// SAFETY: scanout.h allows every function on any thread.
unsafe impl Send for Exporter {}
unsafe impl Sync for Exporter {}

pub(crate) enum Answer {
    Frame(Frame),
    Nothing,
    End,
}

impl Exporter {
    pub(crate) fn new(wishes: &Options) -> Result<Self> {
        let mut options = sys::scanout_exporter_options::sized();
        options.budget = wishes.budget;
        options.bound = wishes.bound;
        options.row_alignment = wishes.row_alignment;
        let formats = c_string(wishes.formats.as_str())?;
        if !wishes.formats.is_empty() {
            options.formats = formats.as_ptr();
        }
        if !wishes.modifiers.is_empty() {
            options.modifiers = wishes.modifiers.as_ptr();
            options.modifier_count = u32::try_from(wishes.modifiers.len()).unwrap_or(u32::MAX);
        }
        (options.width, options.height) = wishes.size.unwrap_or((0, 0));
        options.device = wishes.device;
        options.policy = if wishes.takes_every_frame() { sys::SCANOUT_POLICY_WAIT } else { sys::SCANOUT_POLICY_DROP_OLDEST };
        let mut handle = null_mut();
        // SAFETY: both are valid places.
        check(unsafe { sys::scanout_exporter_new(&options, &mut handle) })?;
        let handle = NonNull::new(handle).ok_or_else(|| Error::new(ErrorKind::Internal, "No exporter was made."))?;
        let budget = if wishes.waits_when_full { None } else { Some(if wishes.budget == 0 { 3 } else { wishes.budget as usize }) };
        Ok(Exporter { handle, held: Arc::default(), budget, handler: Mutex::new(None) })
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::scanout_exporter {
        self.handle.as_ptr()
    }

    pub(crate) fn wait(&self, limit: Option<Duration>) -> Result<Answer> {
        if let Some(budget) = self.budget {
            if self.held.load(Ordering::Acquire) >= budget {
                let sentence = format!("All {budget} frames of the budget are held; drop one, or open the film with a greater budget.");
                return Err(Error::new(ErrorKind::Budget, sentence));
            }
        }
        // SAFETY: the exporter is open, and closed only when nobody borrows it.
        self.answer(|frame| unsafe { sys::scanout_exporter_wait(self.as_ptr(), timeout(limit), frame) })
    }

    pub(crate) fn frame_for(&self, host_time: i64) -> Result<Answer> {
        // SAFETY: as above.
        self.answer(|frame| unsafe { sys::scanout_exporter_frame_for(self.as_ptr(), host_time, frame) })
    }

    fn answer(&self, ask: impl FnOnce(*mut *mut sys::scanout_frame) -> sys::scanout_result) -> Result<Answer> {
        let mut frame = null_mut();
        let result = ask(&mut frame);
        check(result)?;
        Ok(match NonNull::new(frame) {
            // SAFETY: a frame that comes is ours.
            Some(frame) => Answer::Frame(unsafe { Frame::own(frame, &self.held) }),
            None if result == sys::SCANOUT_END => Answer::End,
            None => Answer::Nothing,
        })
    }

    pub(crate) fn next_time(&self) -> Option<i64> {
        // SAFETY: the exporter is open.
        crate::sized::known(unsafe { sys::scanout_exporter_next_time(self.as_ptr()) })
    }

    pub(crate) fn set_handler(&self, handler: Option<Handler>) -> Result<()> {
        let handler = handler.map(Arc::new);
        let mut kept = self.handler.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let context = handler.as_ref().map_or(null_mut(), |handler| Arc::as_ptr(handler) as *mut c_void);
        let function: sys::scanout_news_handler = if handler.is_some() { Some(call) } else { None };
        // SAFETY: the context lives until another handler has taken its place, after which the library does not call this one.
        check(unsafe { sys::scanout_exporter_set_news_handler(self.as_ptr(), function, context) })?;
        *kept = handler;
        Ok(())
    }

    pub(crate) fn statistics(&self) -> ExportStatistics {
        let mut read = sys::scanout_exporter_statistics::sized();
        // SAFETY: the exporter is open, and the struct says its size.
        unsafe { sys::scanout_exporter_get_statistics(self.as_ptr(), &mut read) };
        ExportStatistics {
            offered: read.offered,
            delivered: read.delivered,
            late: read.late,
            over_budget: read.over_budget,
            flushed: read.flushed,
            bytes_copied: read.bytes_copied,
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        // SAFETY: nobody borrows the exporter any more. The handler does not run when this returns.
        unsafe { sys::scanout_exporter_close(self.as_ptr()) }
    }
}

/// The handler for the library. It holds what it calls, so that a handler that is replaced from within lives to its end.
unsafe extern "C" fn call(context: *mut c_void) {
    let place = context as *const Handler;
    // SAFETY: the context is that of an Arc which is kept while the library may call.
    let handler = unsafe {
        Arc::increment_strong_count(place);
        Arc::from_raw(place)
    };
    // A panic must not leave Rust; its message has been printed.
    let _ = catch_unwind(AssertUnwindSafe(|| handler()));
}

/// The frames of a film up to its end: [`Player::frames`]. After an error there is nothing more; after a seek, a new iterator goes on.
pub struct Frames<'player> {
    player: &'player Player,
    is_over: bool,
}

impl<'player> Frames<'player> {
    pub(crate) fn new(player: &'player Player) -> Self {
        Frames { player, is_over: false }
    }
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame>;

    fn next(&mut self) -> Option<Result<Frame>> {
        if self.is_over {
            return None;
        }
        let answer = self.player.next_frame(None).transpose();
        self.is_over = !matches!(answer, Some(Ok(_)));
        answer
    }
}

impl std::iter::FusedIterator for Frames<'_> {}

use crate::error::{check, Result};
use scanout_sys as sys;
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::Mutex;

/// How much a sentence of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// An opening, or playback, has failed.
    Error = 1,
    /// It goes on, and something is not as it should be.
    Warning = 2,
    /// What was chosen and why.
    Info = 3,
    /// Each change of a player's state, and each seek.
    Debug = 4,
}

impl LogLevel {
    fn of(number: u32) -> Self {
        match number {
            sys::SCANOUT_LOG_ERROR => LogLevel::Error,
            sys::SCANOUT_LOG_WARNING => LogLevel::Warning,
            sys::SCANOUT_LOG_INFO => LogLevel::Info,
            _ => LogLevel::Debug,
        }
    }
}

type Handler = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// What the library has the address of.
static CURRENT: Mutex<Option<Box<Handler>>> = Mutex::new(None);

/// Calls `handler` for what all players of the process do and find, one sentence for each call, up to `level`. It replaces the handler before, and None
/// removes it.
///
/// It runs on threads of the library: for one player in order, for several at the same time. It should return soon, and must neither close a player nor
/// set a handler. When this returns, the handler before is not running any more, and has been dropped.
pub fn set_log_handler<F: Fn(LogLevel, &str) + Send + Sync + 'static>(level: LogLevel, handler: Option<F>) -> Result<()> {
    let mut current = match CURRENT.lock() {
        Ok(current) => current,
        Err(poisoned) => poisoned.into_inner(),
    };
    let made = handler.map(|handler| Box::new(Box::new(handler) as Handler));
    let (function, context): (sys::scanout_log_handler, *mut c_void) = match &made {
        Some(handler) => (Some(call), &**handler as *const Handler as *mut c_void),
        None => (None, null_mut()),
    };
    // SAFETY: the context lives until another handler has taken its place.
    check(unsafe { sys::scanout_set_log_handler(level as u32, function, context) })?;
    *current = made;
    Ok(())
}

unsafe extern "C" fn call(context: *mut c_void, level: u32, text: *const c_char) {
    // SAFETY: `set_log_handler` gave a handler that lives until the library has let go of it, and the library a text with a zero.
    let (handler, text) = unsafe { (&*(context as *const Handler), CStr::from_ptr(text)) };
    // A panic must not cross into the library.
    let _ = catch_unwind(AssertUnwindSafe(|| handler(LogLevel::of(level), &text.to_string_lossy())));
}

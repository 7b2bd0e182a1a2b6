use scanout_sys as sys;
use std::fmt;

/// Why a call failed, for programs; [`Error`] has the sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value makes no sense.
    Argument,
    /// The file does not exist or cannot be read.
    Open,
    /// Nothing in the file can be played, or it breaks off.
    Data,
    /// The display or the kind of decoder asked for does not exist or is gone.
    Device,
    /// The operating system refused a resource that it normally grants.
    Internal,
    /// Opening, or a search, was cancelled.
    Cancelled,
    /// All frames of the budget are held: another can come only when one is dropped.
    Budget,
    /// Nothing came in time.
    Timeout,
    /// The film has no frame at that time.
    NoFrame,
}

/// A failure: its kind, and a sentence that names the film and the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// What a call that may fail returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into() }
    }

    /// The error of a negative result; without a message, what the library says of the result.
    pub(crate) fn of_result(result: sys::scanout_result, message: String) -> Self {
        let kind = match result {
            sys::SCANOUT_ERROR_ARGUMENT => ErrorKind::Argument,
            sys::SCANOUT_ERROR_OPEN => ErrorKind::Open,
            sys::SCANOUT_ERROR_DATA => ErrorKind::Data,
            sys::SCANOUT_ERROR_DEVICE => ErrorKind::Device,
            sys::SCANOUT_ERROR_CANCELLED => ErrorKind::Cancelled,
            sys::SCANOUT_NOTHING => ErrorKind::NoFrame,
            _ => ErrorKind::Internal,
        };
        if !message.is_empty() {
            return Error { kind, message };
        }
        // SAFETY: the string is static and never NULL.
        let words = unsafe { crate::sized::text(sys::scanout_error_string(result)) };
        Error { kind, message: words.unwrap_or_default() }
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// An error for a negative result, as the functions without a message have it.
pub(crate) fn check(result: sys::scanout_result) -> Result<()> {
    if result < 0 {
        Err(Error::of_result(result, String::new()))
    } else {
        Ok(())
    }
}

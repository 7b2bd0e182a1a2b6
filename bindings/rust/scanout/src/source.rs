use crate::sized::Sized32;
use scanout_sys as sys;
use std::io;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Mutex;

/// Makes a read that blocks, and every later one, return soon; it is called at most once, on any thread, while they run.
pub type Canceller = Box<dyn FnOnce() + Send>;

/// A film whose bytes you read yourself: from an archive, a database, a protocol of your own.
///
/// The functions are called on one thread at a time, though not always the same one. They may block: then the film waits. After a panic the film ends
/// as after a failed read.
pub trait Source: Send + 'static {
    /// Puts 1 or more of the bytes that come next into `bytes` and returns how many; 0 at the end.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize>;

    /// Makes byte `offset` the next one. The first call, for 0 and before any read, asks whether it can be done at all; by default it cannot, and the
    /// film is read like a pipe.
    fn seek(&mut self, offset: u64) -> io::Result<()> {
        let _ = offset;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// How many bytes there are, asked once and first; None: unknown.
    fn byte_count(&mut self) -> Option<u64> {
        None
    }

    /// How a read that blocks is ended, asked once, before the film is opened; None when nothing blocks for long.
    fn canceller(&mut self) -> Option<Canceller> {
        None
    }
}

impl Source for std::fs::File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        io::Read::read(self, bytes)
    }

    fn seek(&mut self, offset: u64) -> io::Result<()> {
        io::Seek::seek(self, io::SeekFrom::Start(offset)).map(|_| ())
    }

    fn byte_count(&mut self) -> Option<u64> {
        self.metadata().ok().filter(|about| about.is_file()).map(|about| about.len())
    }
}

/// What the library's functions get as their context; it lives until the player is closed.
pub(crate) struct Context {
    source: Mutex<Box<dyn Source>>,
    canceller: Mutex<Option<Canceller>>,
}

impl Context {
    pub(crate) fn new(mut source: Box<dyn Source>) -> Self {
        let canceller = source.canceller();
        Context { source: Mutex::new(source), canceller: Mutex::new(canceller) }
    }

    /// The functions for the library. They are valid as long as the context.
    pub(crate) fn stream(&self) -> sys::scanout_stream {
        let mut stream = sys::scanout_stream::sized();
        stream.context = self as *const Context as *mut c_void;
        stream.read = Some(read);
        stream.seek = Some(seek);
        stream.byte_count = Some(byte_count);
        stream.cancel = Some(cancel);
        stream
    }

    /// Calls the source; an error, and a panic, are a negative errno.
    fn with(&self, call: impl FnOnce(&mut dyn Source) -> io::Result<i64>) -> i64 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            // A source that has panicked is not asked again.
            let mut source = self.source.lock().map_err(|_| io::Error::from_raw_os_error(EIO))?;
            call(source.as_mut())
        }));
        match outcome {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => -i64::from(error.raw_os_error().filter(|&number| number > 0).unwrap_or(EIO)),
            Err(_) => -i64::from(EIO),
        }
    }
}

const EIO: i32 = 5;

/// # Safety
/// For all four: `context` is that of a [`Context`] that is alive.
unsafe extern "C" fn read(context: *mut c_void, bytes: *mut c_void, count: usize) -> i64 {
    // SAFETY: the library lends `count` bytes for writing. They are made zeros, so that a source which reads them sees no stray memory.
    let (context, bytes) = unsafe {
        std::ptr::write_bytes(bytes.cast::<u8>(), 0, count);
        (&*(context as *const Context), std::slice::from_raw_parts_mut(bytes.cast::<u8>(), count))
    };
    context.with(|source| loop {
        match source.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer.map(|count| count as i64),
        }
    })
}

unsafe extern "C" fn seek(context: *mut c_void, offset: i64) -> i64 {
    // SAFETY: see above.
    let context = unsafe { &*(context as *const Context) };
    context.with(|source| {
        let offset = u64::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        source.seek(offset).map(|()| 0)
    })
}

unsafe extern "C" fn byte_count(context: *mut c_void) -> i64 {
    // SAFETY: see above.
    let context = unsafe { &*(context as *const Context) };
    context.with(|source| Ok(source.byte_count().and_then(|count| i64::try_from(count).ok()).unwrap_or(-1)))
}

unsafe extern "C" fn cancel(context: *mut c_void) {
    // SAFETY: see above.
    let context = unsafe { &*(context as *const Context) };
    let canceller = context.canceller.lock().ok().and_then(|mut canceller| canceller.take());
    if let Some(canceller) = canceller {
        let _ = catch_unwind(AssertUnwindSafe(canceller));
    }
}

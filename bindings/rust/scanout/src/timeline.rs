use crate::error::{check, Error, ErrorKind, Result};
use crate::frame::Frame;
use crate::sized::Message;
use scanout_sys as sys;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{null_mut, NonNull};

/// A timeline of a DRM device (drm_syncobj), whose points stand for fences: explicit synchronisation with renderers and compositors that count them.
pub struct Timeline {
    handle: NonNull<sys::scanout_timeline>,
}

// SAFETY: scanout.h allows every function on any thread.
unsafe impl Send for Timeline {}
unsafe impl Sync for Timeline {}

impl Timeline {
    /// A new timeline on an open DRM device. [`ErrorKind::Device`]: it has none (before Linux 6.6, and drivers without them).
    pub fn new(device: impl AsFd) -> Result<Timeline> {
        Self::make(device.as_fd(), None)
    }

    /// The timeline that a driver or another program exports, on an open DRM device, whichever made it.
    pub fn import(device: impl AsFd, syncobj: impl AsFd) -> Result<Timeline> {
        Self::make(device.as_fd(), Some(syncobj.as_fd()))
    }

    fn make(device: BorrowedFd<'_>, syncobj: Option<BorrowedFd<'_>>) -> Result<Timeline> {
        let (mut handle, mut message) = (null_mut(), Message::new());
        let (size, syncobj) = (message.size(), syncobj.map_or(-1, |syncobj| syncobj.as_raw_fd()));
        // SAFETY: the descriptors are open during the call, and the places valid.
        let result = unsafe { sys::scanout_timeline_new(device.as_raw_fd(), syncobj, &mut handle, message.place(), size) };
        NonNull::new(handle).map(|handle| Timeline { handle }).ok_or_else(|| message.error(result))
    }

    /// A descriptor of it, for drivers and compositors to import.
    pub fn export(&self) -> Result<OwnedFd> {
        // SAFETY: the timeline is open; a descriptor that comes is ours.
        match unsafe { sys::scanout_timeline_fd(self.handle.as_ptr()) } {
            fd if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
            _ => Err(Error::new(ErrorKind::Internal, "The timeline cannot be exported.")),
        }
    }

    /// The point is reached at this moment, as if a device had done it.
    pub fn signal(&self, point: u64) -> Result<()> {
        // SAFETY: the timeline is open.
        check(unsafe { sys::scanout_timeline_signal(self.handle.as_ptr(), point) })
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::scanout_timeline {
        self.handle.as_ptr()
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // SAFETY: nobody borrows it any more. Frames that wait for its points still do.
        unsafe { sys::scanout_timeline_close(self.handle.as_ptr()) }
    }
}

impl Frame {
    /// The point is reached as soon as a device may read the frame: what [`acquire_fence`](Frame::acquire_fence) is as a sync_file.
    pub fn acquire_at(&self, timeline: &Timeline, point: u64) -> Result<()> {
        // SAFETY: the frame is ours and the timeline open.
        check(unsafe { sys::scanout_frame_acquire_at(self.as_ptr(), timeline.as_ptr(), point) })
    }

    /// Gives the frame back once the point is reached; what reaches it may be submitted later. On failure the frame comes back with the error.
    pub fn release_at(self, timeline: &Timeline, point: u64) -> std::result::Result<(), (Frame, Error)> {
        // SAFETY: the frame is ours; on success it is the library's, and only the rest of the value is dropped.
        match check(unsafe { sys::scanout_frame_release_at(self.as_ptr(), timeline.as_ptr(), point) }) {
            Ok(()) => {
                self.forget_handle();
                Ok(())
            }
            Err(error) => Err((self, error)),
        }
    }
}

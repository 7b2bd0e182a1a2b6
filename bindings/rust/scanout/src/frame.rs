use crate::error::{check, Error, ErrorKind, Result};
use crate::plane::Plane;
use crate::sized::{known, ratio, text_in, Sized32};
use scanout_sys as sys;
use std::fmt;
use std::os::raw::c_void;
use std::os::unix::io::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// A decoded frame that you hold: its memory does not change until the value is dropped, whatever becomes of the player.
pub struct Frame {
    handle: NonNull<sys::scanout_frame>,
    info: Box<sys::scanout_frame_info>,
    _count: Count,
}

// SAFETY: scanout.h allows every function on any thread; what a frame says of itself does not change.
unsafe impl Send for Frame {}
unsafe impl Sync for Frame {}

/// One of the frames that a client holds.
struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// How samples become colours, by ITU-T H.273; 2: the film does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// Of the three colours.
    pub primaries: u8,
    /// From light to numbers.
    pub transfer: u8,
    /// From RGB to luma and chroma.
    pub matrix: u8,
    /// Whether numbers have their whole range; None: not said.
    pub is_full_range: Option<bool>,
    /// 0: not said, 1: left, 2: centre, 3: top left, 4: top, 5: bottom left, 6: bottom.
    pub chroma_siting: u8,
}

/// A colour's place: CIE 1931 x and y.
pub type HdrPoint = (f64, f64);

/// The display that the film was graded on (SMPTE ST 2086), and its brightest light (CTA-861.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hdr {
    /// The red primary.
    pub red: HdrPoint,
    /// The green primary.
    pub green: HdrPoint,
    /// The blue primary.
    pub blue: HdrPoint,
    /// The white point.
    pub white: HdrPoint,
    /// cd/m².
    pub maximum_luminance: f64,
    /// cd/m².
    pub minimum_luminance: f64,
    /// cd/m²; 0: unknown.
    pub maximum_light: u16,
    /// cd/m²; 0: unknown.
    pub average_light: u16,
}

/// HDR metadata that changes from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicHdr {
    /// HDR10+ (SMPTE ST 2094-40), as ITU-T T.35 carries it, from the country's code on.
    Hdr10Plus = 1,
    /// Dolby Vision's RPU, as its NAL unit or OBU carries it.
    DolbyVision = 2,
}

/// Where a frame's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Of another process, which does not say.
    Unknown,
    /// Of the system; only the CPU reads it.
    Memfd,
    /// Of the system, as a DMA-BUF.
    Udmabuf,
    /// From one of the kernel's heaps, as a DMA-BUF.
    DmaHeap,
    /// A hardware decoder's, as a DMA-BUF; [`Frame::device`] says whose.
    Device,
    /// A camera's, as a DMA-BUF.
    Given,
}

impl Frame {
    /// # Safety
    /// `handle` is a frame that the caller owns and gives away.
    pub(crate) unsafe fn own(handle: NonNull<sys::scanout_frame>, held: &Arc<AtomicUsize>) -> Self {
        let mut info = Box::new(sys::scanout_frame_info::sized());
        held.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the frame is ours, and the struct says its size. It cannot fail with these arguments.
        unsafe { sys::scanout_frame_describe(handle.as_ptr(), &mut *info) };
        Frame { handle, info, _count: Count(held.clone()) }
    }

    /// The planes' number: 3 in yuv420p, 2 in NV12.
    pub fn plane_count(&self) -> usize {
        (self.info.plane_count as usize).min(sys::SCANOUT_MAX_PLANES)
    }

    /// The visible part of a plane, for reading, in the order of the format: Y, U and V in yuv420p. Waits until devices have written it.
    pub fn plane(&self, index: usize) -> Result<Plane<'_>> {
        if index >= self.plane_count() {
            return Err(Error::new(ErrorKind::Argument, format!("The frame has {} planes; there is no plane {index}.", self.plane_count())));
        }
        let mut start: *const c_void = std::ptr::null();
        // SAFETY: the frame is ours. The bytes stay mapped until it is released, which ends the planes' borrow.
        check(unsafe { sys::scanout_frame_map(self.handle.as_ptr(), &mut start) })?;
        // SAFETY: `byte_count` bytes lie there, which nobody writes while the frame is held.
        let memory = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), self.info.byte_count as usize) };
        Plane::new(memory, &self.info.planes[index])
    }

    /// The visible bytes of all planes without padding, as FFmpeg's rawvideo has them: a copy.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for index in 0..self.plane_count() {
            for row in self.plane(index)?.rows() {
                bytes.extend_from_slice(row);
            }
        }
        Ok(bytes)
    }

    /// The memory that all planes lie in: a DMA-BUF or a memfd, lent. `try_clone_to_owned` keeps the descriptor beyond the frame, but not the frame's
    /// content.
    pub fn memory(&self) -> BorrowedFd<'_> {
        let fd = self.info.planes[0].fd;
        assert!(fd >= 0, "a frame has a descriptor");
        // SAFETY: the descriptor is open while the frame is held.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }

    /// Whether devices can import [`memory`](Self::memory); it is a memfd otherwise, to be mapped and uploaded.
    pub fn is_dmabuf(&self) -> bool {
        self.info.is_dmabuf == 1
    }

    /// The whole description, as C has it: offsets and pitches of the planes, for an import by hand.
    pub fn info(&self) -> &sys::scanout_frame_info {
        &self.info
    }

    /// A sync_file that a device must wait for before it reads; None when the frame is finished.
    pub fn acquire_fence(&self) -> Option<OwnedFd> {
        // SAFETY: the frame is ours; a descriptor that comes is ours too.
        match unsafe { sys::scanout_frame_acquire_fence(self.handle.as_ptr()) } {
            fence if fence >= 0 => Some(unsafe { OwnedFd::from_raw_fd(fence) }),
            _ => None,
        }
    }

    /// Gives the frame back once the sync_file has signalled: what a device still reads is not written before.
    pub fn release_after(self, fence: OwnedFd) {
        // SAFETY: the frame is ours and not used again; it takes the fence over.
        unsafe { sys::scanout_frame_release_after(self.as_ptr(), fence.into_raw_fd()) };
        self.forget_handle();
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::scanout_frame {
        self.handle.as_ptr()
    }

    /// Drops everything but the handle, which the library has taken back.
    pub(crate) fn forget_handle(self) {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the parts are taken out once, and the value is not used again.
        drop(unsafe { (std::ptr::read(&this.info), std::ptr::read(&this._count)) });
    }

    /// FFmpeg's name: "yuv420p", "yuv420p10le", "nv12" …
    pub fn format(&self) -> String {
        text_in(&self.info.format)
    }

    /// DRM_FORMAT_*; None: the kernel has no code for it.
    pub fn fourcc(&self) -> Option<u32> {
        Some(self.info.fourcc).filter(|&code| code != 0)
    }

    /// DRM_FORMAT_MOD_*.
    pub fn modifier(&self) -> u64 {
        self.info.modifier
    }

    /// Of one component. In yuv420p10le they are the low bits of 16, in p010le the high ones.
    pub fn bit_depth(&self) -> u32 {
        self.info.bit_depth
    }

    /// Pixels that are meant to be seen: width and height.
    pub fn size(&self) -> (u32, u32) {
        (self.info.visible_width, self.info.visible_height)
    }

    /// Width to height of a pixel; None: unknown, which means square.
    pub fn pixel_aspect(&self) -> Option<(u32, u32)> {
        ratio(self.info.pixel_aspect)
    }

    /// Clockwise degrees until the frame stands upright: 0, 90, 180, 270.
    pub fn rotation(&self) -> u32 {
        self.info.rotation
    }

    /// Nanoseconds from the film's beginning.
    pub fn film_time(&self) -> Option<i64> {
        known(self.info.film_time)
    }

    /// Nanoseconds.
    pub fn duration(&self) -> Option<i64> {
        known(self.info.duration)
    }

    /// When it is to light up; None while the film stands, and without a clock.
    pub fn host_time(&self) -> Option<i64> {
        known(self.info.host_time)
    }

    /// Counts the frames that were decoded, from 0; gaps are frames that you did not get.
    pub fn sequence(&self) -> u64 {
        self.info.sequence
    }

    /// `st_rdev` of the render node whose memory the frame lies in; None: it is the system's, or nobody knows.
    pub fn device(&self) -> Option<u64> {
        Some(self.info.device).filter(|number| *number != 0)
    }

    /// Where the memory comes from.
    pub fn memory_kind(&self) -> MemoryKind {
        match self.info.memory {
            sys::SCANOUT_MEMORY_MEMFD => MemoryKind::Memfd,
            sys::SCANOUT_MEMORY_UDMABUF => MemoryKind::Udmabuf,
            sys::SCANOUT_MEMORY_DMA_HEAP => MemoryKind::DmaHeap,
            sys::SCANOUT_MEMORY_DEVICE => MemoryKind::Device,
            sys::SCANOUT_MEMORY_GIVEN => MemoryKind::Given,
            _ => MemoryKind::Unknown,
        }
    }

    /// The number of the seek that it follows; 0 before the first.
    pub fn serial(&self) -> u64 {
        self.info.serial
    }

    /// Of the memory: what you make of it serves all frames of one identity.
    pub fn identity(&self) -> [u32; 3] {
        self.info.identity
    }

    /// False: [`Player::frame_for`](crate::Player::frame_for) gave this one last time, too.
    pub fn is_new(&self) -> bool {
        self.info.is_new == 1
    }

    /// How samples become colours.
    pub fn color(&self) -> Color {
        let info = &self.info;
        let is_full_range = match info.range {
            1 => Some(false),
            2 => Some(true),
            _ => None,
        };
        Color { primaries: info.primaries, transfer: info.transfer, matrix: info.matrix, is_full_range, chroma_siting: info.chroma_siting }
    }

    /// HDR metadata of this frame alone, as the stream has it; None: it has none of the kind.
    pub fn dynamic_hdr(&self, kind: DynamicHdr) -> Option<&[u8]> {
        let (mut bytes, mut count): (*const c_void, usize) = (std::ptr::null(), 0);
        // SAFETY: the frame is ours, and both are valid places.
        let result = unsafe { sys::scanout_frame_dynamic_hdr(self.handle.as_ptr(), kind as u32, &mut bytes, &mut count) };
        if result != sys::SCANOUT_OK || bytes.is_null() {
            return None;
        }
        // SAFETY: so many bytes lie there, unchanged, until the frame is released, which ends the borrow.
        Some(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) })
    }

    /// HDR10's static metadata.
    pub fn hdr(&self) -> Option<Hdr> {
        if self.info.has_hdr != 1 {
            return None;
        }
        let hdr = &self.info.hdr;
        let point = |pair: [u16; 2]| (f64::from(pair[0]) / 50_000.0, f64::from(pair[1]) / 50_000.0);
        Some(Hdr {
            red: point(hdr.red),
            green: point(hdr.green),
            blue: point(hdr.blue),
            white: point(hdr.white),
            maximum_luminance: f64::from(hdr.maximum_luminance) / 10_000.0,
            minimum_luminance: f64::from(hdr.minimum_luminance) / 10_000.0,
            maximum_light: hdr.maximum_light,
            average_light: hdr.average_light,
        })
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: the frame is ours and is not used again.
        unsafe { sys::scanout_frame_release(self.handle.as_ptr()) }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut frame = formatter.debug_struct("Frame");
        frame.field("sequence", &self.sequence()).field("film_time", &self.film_time()).field("size", &self.size());
        frame.field("format", &self.format()).field("memory", &self.memory().as_raw_fd()).finish()
    }
}

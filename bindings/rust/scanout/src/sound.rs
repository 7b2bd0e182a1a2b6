use crate::error::{check, Error, ErrorKind, Result};
use crate::options::SoundFormat;
use crate::sized::{timeout, Sized32};
use scanout_sys as sys;
use std::ptr::{null_mut, NonNull};
use std::time::Duration;

/// A film's decoded sound as 32-bit floats, 1.0 the loudest: [`Player::take_sound`](crate::Player::take_sound).
///
/// One thread at a time uses it, which the borrows see to; it may be another than that of the frames. Dropped, the film goes on in silence.
pub struct Sound {
    handle: NonNull<sys::scanout_sound>,
    channel_count: u32,
}

// SAFETY: scanout.h allows every function on any thread, these one at a time: they take `&mut self`.
unsafe impl Send for Sound {}

/// A block of sound, lent until the next one is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SoundBlock<'sound> {
    /// All channels, in FFmpeg's native order; planar or frame by frame, as was asked for.
    pub samples: &'sound [f32],
    /// How many there are of each channel.
    pub frame_count: usize,
    /// Frames a second.
    pub sample_rate: u32,
    /// How many channels there are.
    pub channel_count: u32,
    /// Of the first frame.
    pub film_time: i64,
    /// The number of the seek that it follows; 0 before the first.
    pub serial: u64,
    /// It does not continue the block before.
    pub is_discontinuous: bool,
}

impl Sound {
    pub(crate) fn new(format: SoundFormat) -> Result<Self> {
        let mut options = sys::scanout_sound_options::sized();
        options.delivery = if format.is_as_heard { sys::SCANOUT_SOUND_AS_HEARD } else { sys::SCANOUT_SOUND_EVERYTHING };
        options.sample_rate = format.sample_rate;
        options.channel_count = format.channel_count;
        options.is_planar = u32::from(format.is_planar);
        let mut handle = null_mut();
        // SAFETY: both are valid places.
        let result = unsafe { sys::scanout_sound_new(&options, &mut handle) };
        match NonNull::new(handle) {
            Some(handle) if result == sys::SCANOUT_OK => Ok(Sound { handle, channel_count: format.channel_count }),
            _ => Err(Error::new(ErrorKind::Argument, format!("No sound has the form {format:?}."))),
        }
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::scanout_sound {
        self.handle.as_ptr()
    }

    /// The next block, of at most 4096 frames; None at the end of the film's sound. Waits for it, with a limit up to
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout).
    #[allow(clippy::should_implement_trait)] // The block borrows from this; an Iterator's items cannot.
    pub fn next(&mut self, limit: Option<Duration>) -> Result<Option<SoundBlock<'_>>> {
        let mut block = sys::scanout_sound_block::sized();
        // SAFETY: the sound is open, on one thread at a time, and the struct says its size.
        let result = unsafe { sys::scanout_sound_wait(self.as_ptr(), timeout(limit), &mut block) };
        check(result)?;
        match result {
            sys::SCANOUT_END => return Ok(None),
            sys::SCANOUT_NOTHING => return Err(Error::new(ErrorKind::Timeout, "No sound came in time.")),
            _ => {}
        }
        let count = block.frame_count as usize * block.channel_count as usize;
        let samples = if count == 0 {
            &[][..]
        } else {
            // SAFETY: so many samples lie there until the next call, which needs `self`.
            unsafe { std::slice::from_raw_parts(block.samples, count) }
        };
        Ok(Some(SoundBlock {
            samples,
            frame_count: block.frame_count as usize,
            sample_rate: block.sample_rate,
            channel_count: block.channel_count,
            film_time: block.film_time,
            serial: block.serial,
            is_discontinuous: block.is_discontinuous == 1,
        }))
    }

    /// Fills `samples`, whole frames of all channels, with what is to be heard from the host time on, and with silence where there is none. Returns
    /// how many frames are the film's. For the callback of a sound device: it waits for nothing but a lock that is held for microseconds.
    pub fn read(&mut self, samples: &mut [f32], heard_at: i64) -> Result<usize> {
        let channels = self.channel_count.max(1) as usize;
        let frames = u32::try_from(samples.len() / channels).ok().filter(|_| samples.len() % channels == 0);
        let frames = frames.ok_or_else(|| Error::new(ErrorKind::Argument, format!("{} samples are no frames of {channels}.", samples.len())))?;
        // SAFETY: there is room for so many frames; an exporter of everything refuses.
        let count = unsafe { sys::scanout_sound_read(self.as_ptr(), samples.as_mut_ptr(), frames, heard_at) };
        usize::try_from(count).map_err(|_| Error::of_result(count as sys::scanout_result, String::new()))
    }
}

impl Drop for Sound {
    fn drop(&mut self) {
        // SAFETY: nobody borrows it any more.
        unsafe { sys::scanout_sound_close(self.as_ptr()) }
    }
}

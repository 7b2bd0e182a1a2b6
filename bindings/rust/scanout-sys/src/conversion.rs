//! Films into other films in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::c_char;

use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_conversion {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_conversion_options {
    pub size: u32,
    pub copies: u32,
    pub video: *const c_char,
    pub audio: *const c_char,
    pub video_bit_rate: u64,
    pub audio_bit_rate: u64,
    pub byte_count: u64,
    pub quality: f64,
    pub passes: u32,
    pub width: u32,
    pub height: u32,
    pub overwrites: u32,
    pub is_fragmented: u32,
    pub has_index_in_front: u32,
    pub sandbox: u32,
    pub reserved: u32,
    pub start_time: i64,
    pub duration: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_conversion_progress {
    pub size: u32,
    pub pass: u32,
    pub pass_count: u32,
    pub is_whole: u32,
    pub time: i64,
    pub duration: i64,
    pub samples: u64,
    pub bytes: u64,
    pub bytes_copied: u64,
}

extern "C" {
    pub fn scanout_conversion_new(
        location: *const c_char,
        path: *const c_char,
        options: *const scanout_conversion_options,
        made: *mut *mut scanout_conversion,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_conversion_run(conversion: *mut scanout_conversion, message: *mut c_char, message_size: usize) -> scanout_result;
    pub fn scanout_conversion_get_progress(conversion: *mut scanout_conversion, progress: *mut scanout_conversion_progress) -> scanout_result;
    pub fn scanout_conversion_end(conversion: *mut scanout_conversion);
    pub fn scanout_conversion_cancel(conversion: *mut scanout_conversion);
    pub fn scanout_conversion_close(conversion: *mut scanout_conversion);
}

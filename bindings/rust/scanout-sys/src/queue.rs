//! Samples of your own in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_void};

use crate::event::scanout_event;
use crate::player::scanout_exporter;
use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_queue {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_queue_options {
    pub size: u32,
    pub output: u32,
    pub decoder: u32,
    pub threads: u32,
    pub exporter_count: u32,
    pub sandbox: u32,
    pub exporters: *const *mut scanout_exporter,
    pub render_node: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_video_format {
    pub size: u32,
    pub width: u32,
    pub height: u32,
    pub setup_size: u32,
    pub codec: *const c_char,
    pub setup: *const c_void,
    pub pixel_aspect: [u32; 2],
    pub rotation: u32,
    pub reorder_depth: u32,
    pub primaries: u8,
    pub transfer: u8,
    pub matrix: u8,
    pub range: u8,
    pub reserved: u32,
}

pub const SCANOUT_SAMPLE_SYNC: u32 = 1;
pub const SCANOUT_SAMPLE_DROPPABLE: u32 = 4;
pub const SCANOUT_SAMPLE_DO_NOT_DISPLAY: u32 = 8;
pub const SCANOUT_SAMPLE_DISPLAY_IMMEDIATELY: u32 = 16;
pub const SCANOUT_SAMPLE_CORRUPT: u32 = 32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_sample {
    pub size: u32,
    pub flags: u32,
    pub bytes: *const c_void,
    pub byte_count: u64,
    pub time: i64,
    pub decode_time: i64,
    pub duration: i64,
    pub timescale: u32,
    pub reserved: u32,
}

extern "C" {
    pub fn scanout_queue_open(
        options: *const scanout_queue_options,
        queue: *mut *mut scanout_queue,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_queue_close(queue: *mut scanout_queue);
    pub fn scanout_queue_set_format(queue: *mut scanout_queue, format: *const scanout_video_format) -> scanout_result;
    pub fn scanout_queue_enqueue(queue: *mut scanout_queue, sample: *const scanout_sample) -> scanout_result;
    pub fn scanout_queue_end(queue: *mut scanout_queue) -> scanout_result;
    pub fn scanout_queue_flush(queue: *mut scanout_queue, removes_image: i32) -> scanout_result;
    pub fn scanout_queue_is_ready(queue: *mut scanout_queue) -> i32;
    pub fn scanout_queue_ready_fd(queue: *mut scanout_queue) -> c_int;
    pub fn scanout_queue_set_rate(queue: *mut scanout_queue, rate: f64) -> scanout_result;
    pub fn scanout_queue_set_time(queue: *mut scanout_queue, film_time: i64) -> scanout_result;
    pub fn scanout_queue_time(queue: *mut scanout_queue) -> i64;
    pub fn scanout_queue_event_fd(queue: *mut scanout_queue) -> c_int;
    pub fn scanout_queue_next_event(queue: *mut scanout_queue, timeout: i64, event: *mut scanout_event) -> scanout_result;
}

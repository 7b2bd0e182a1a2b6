//! What a frame is, and its end in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_void};

use crate::exporter::scanout_frame;
use crate::result::scanout_result;

pub const SCANOUT_MAX_PLANES: usize = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_plane {
    pub fd: i32,
    pub pitch: u32,
    pub offset: u64,
    pub visible_offset: u64,
    pub width: u32,
    pub height: u32,
    pub visible_width: u32,
    pub visible_height: u32,
    pub bits: u32,
    pub components: u32,
    pub reserved: [u32; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_hdr {
    pub red: [u16; 2],
    pub green: [u16; 2],
    pub blue: [u16; 2],
    pub white: [u16; 2],
    pub maximum_luminance: u32,
    pub minimum_luminance: u32,
    pub maximum_light: u16,
    pub average_light: u16,
    pub reserved: [u16; 10],
}

pub type scanout_memory_kind = u32;
pub const SCANOUT_MEMORY_UNKNOWN: scanout_memory_kind = 0;
pub const SCANOUT_MEMORY_MEMFD: scanout_memory_kind = 1;
pub const SCANOUT_MEMORY_UDMABUF: scanout_memory_kind = 2;
pub const SCANOUT_MEMORY_DMA_HEAP: scanout_memory_kind = 3;
pub const SCANOUT_MEMORY_DEVICE: scanout_memory_kind = 4;
pub const SCANOUT_MEMORY_GIVEN: scanout_memory_kind = 5;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_frame_info {
    pub size: u32,
    pub fourcc: u32,
    pub modifier: u64,
    pub format: [c_char; 16],
    pub bit_depth: u32,
    pub plane_count: u32,
    pub planes: [scanout_plane; SCANOUT_MAX_PLANES],
    pub byte_count: u64,
    pub coded_width: u32,
    pub coded_height: u32,
    pub visible_x: u32,
    pub visible_y: u32,
    pub visible_width: u32,
    pub visible_height: u32,
    pub pixel_aspect: [u32; 2],
    pub rotation: u32,
    pub is_mirrored: u8,
    pub primaries: u8,
    pub transfer: u8,
    pub matrix: u8,
    pub range: u8,
    pub chroma_siting: u8,
    pub has_hdr: u8,
    pub is_dmabuf: u8,
    pub is_new: u8,
    pub is_copy: u8,
    pub field_order: u8,
    pub reserved: u8,
    pub hdr: scanout_hdr,
    pub film_time: i64,
    pub duration: i64,
    pub host_time: i64,
    pub sequence: u64,
    pub identity: [u32; 3],
    pub memory: u32,
    pub serial: u64,
    pub device: u64,
}

pub type scanout_dynamic_hdr = u32;
pub const SCANOUT_HDR10_PLUS: scanout_dynamic_hdr = 1;
pub const SCANOUT_DOLBY_VISION: scanout_dynamic_hdr = 2;

#[repr(C)]
pub struct scanout_timeline {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

extern "C" {
    pub fn scanout_frame_describe(frame: *const scanout_frame, info: *mut scanout_frame_info) -> scanout_result;
    pub fn scanout_frame_dynamic_hdr(frame: *const scanout_frame, kind: u32, bytes: *mut *const c_void, count: *mut usize) -> scanout_result;
    pub fn scanout_frame_acquire_fence(frame: *const scanout_frame) -> c_int;
    pub fn scanout_frame_map(frame: *mut scanout_frame, bytes: *mut *const c_void) -> scanout_result;
    pub fn scanout_frame_unmap(frame: *mut scanout_frame);
    pub fn scanout_frame_release(frame: *mut scanout_frame);
    pub fn scanout_frame_release_after(frame: *mut scanout_frame, fence: c_int);
    pub fn scanout_timeline_new(
        drm: c_int,
        syncobj: c_int,
        timeline: *mut *mut scanout_timeline,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_timeline_fd(timeline: *const scanout_timeline) -> c_int;
    pub fn scanout_timeline_signal(timeline: *mut scanout_timeline, point: u64) -> scanout_result;
    pub fn scanout_timeline_close(timeline: *mut scanout_timeline);
    pub fn scanout_frame_acquire_at(frame: *const scanout_frame, timeline: *mut scanout_timeline, point: u64) -> scanout_result;
    pub fn scanout_frame_release_at(frame: *mut scanout_frame, timeline: *mut scanout_timeline, point: u64) -> scanout_result;
}

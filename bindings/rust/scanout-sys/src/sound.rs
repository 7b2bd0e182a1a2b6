//! Sound in `scanout.h`.

use crate::player::scanout_sound;
use crate::result::scanout_result;

pub type scanout_sound_delivery = u32;
pub const SCANOUT_SOUND_EVERYTHING: scanout_sound_delivery = 0;
pub const SCANOUT_SOUND_AS_HEARD: scanout_sound_delivery = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_sound_options {
    pub size: u32,
    pub delivery: u32,
    pub sample_rate: u32,
    pub channel_count: u32,
    pub is_planar: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_sound_block {
    pub size: u32,
    pub frame_count: u32,
    pub sample_rate: u32,
    pub channel_count: u32,
    pub samples: *const f32,
    pub film_time: i64,
    pub serial: u64,
    pub is_discontinuous: u32,
    pub reserved: u32,
}

extern "C" {
    pub fn scanout_sound_new(options: *const scanout_sound_options, sound: *mut *mut scanout_sound) -> scanout_result;
    pub fn scanout_sound_close(sound: *mut scanout_sound);
    pub fn scanout_sound_wait(sound: *mut scanout_sound, timeout: i64, block: *mut scanout_sound_block) -> scanout_result;
    pub fn scanout_sound_read(sound: *mut scanout_sound, samples: *mut f32, frame_count: u32, heard_at: i64) -> i64;
}

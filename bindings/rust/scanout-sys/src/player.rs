//! Playing in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_void};

use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_player {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct scanout_exporter {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
pub struct scanout_sound {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type scanout_output = u32;
pub const SCANOUT_OUTPUT_NONE: scanout_output = 0;
pub const SCANOUT_OUTPUT_UNTIMED: scanout_output = 1;
pub const SCANOUT_OUTPUT_WINDOW: scanout_output = 2;
pub const SCANOUT_OUTPUT_MONITOR: scanout_output = 3;

pub type scanout_decoder = u32;
pub const SCANOUT_DECODER_AUTO: scanout_decoder = 0;
pub const SCANOUT_DECODER_HARDWARE: scanout_decoder = 1;
pub const SCANOUT_DECODER_SOFTWARE: scanout_decoder = 2;

pub type scanout_sandbox = u32;
pub const SCANOUT_SANDBOX_OFF: scanout_sandbox = 0;
pub const SCANOUT_SANDBOX_DECODER: scanout_sandbox = 1;
pub const SCANOUT_SANDBOX_REQUIRE: scanout_sandbox = 2;
pub const SCANOUT_SANDBOX_FULL: scanout_sandbox = 3;

pub type scanout_rtsp = u32;
pub const SCANOUT_RTSP_AUTO: scanout_rtsp = 0;
pub const SCANOUT_RTSP_TCP: scanout_rtsp = 1;
pub const SCANOUT_RTSP_UDP: scanout_rtsp = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_network {
    pub size: u32,
    pub rtsp: u32,
    pub timeout: i64,
    pub stall_timeout: i64,
    pub cache_ahead: i64,
    pub cache_behind: i64,
    pub bit_rate: i64,
    pub latency: i64,
    pub trusts_all_certificates: u32,
    pub reserved: u32,
    pub certificate_authorities: *const c_char,
    pub user_agent: *const c_char,
    pub referrer: *const c_char,
    pub header_fields: *const c_char,
    pub cookies_file: *const c_char,
    pub netrc_file: *const c_char,
    pub cache_folder: *const c_char,
    pub proxy: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_options {
    pub size: u32,
    pub output: u32,
    pub decoder: u32,
    pub threads: u32,
    pub starts_paused: u32,
    pub is_silent: u32,
    pub loops: u32,
    pub exporter_count: u32,
    pub exporters: *const *mut scanout_exporter,
    pub start_time: i64,
    pub play_duration: i64,
    pub sandbox: u32,
    pub opens_async: u32,
    pub video_track: i32,
    pub audio_track: i32,
    pub subtitle_track: i32,
    pub takes_subtitles: u32,
    pub audio_languages: *const c_char,
    pub subtitle_languages: *const c_char,
    pub sound: *mut scanout_sound,
    pub render_node: *const c_char,
    pub network: *const scanout_network,
    pub subtitle_files: *const *const c_char,
    pub subtitle_delay: i64,
    pub subtitle_file_count: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_stream {
    pub size: u32,
    pub reserved: u32,
    pub context: *mut c_void,
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, bytes: *mut c_void, count: usize) -> i64>,
    pub seek: Option<unsafe extern "C" fn(context: *mut c_void, offset: i64) -> i64>,
    pub byte_count: Option<unsafe extern "C" fn(context: *mut c_void) -> i64>,
    pub cancel: Option<unsafe extern "C" fn(context: *mut c_void)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_camera {
    pub size: u32,
    pub format: u32,
    pub width: u32,
    pub height: u32,
    pub rate_numerator: u32,
    pub rate_denominator: u32,
    pub reconnects: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_statistics {
    pub size: u32,
    pub stalls: u32,
    pub stalled: i64,
    pub frames_decoded: u64,
    pub frames_shown: u64,
    pub frames_dropped: u64,
    pub bytes_copied: u64,
    pub bytes_fetched: u64,
    pub bytes_ahead: u64,
    pub time_ahead: i64,
    pub bytes_per_second: u64,
    pub percent_ahead: u32,
    pub reserved: u32,
}

extern "C" {
    pub fn scanout_open(
        location: *const c_char,
        options: *const scanout_options,
        opened: *mut *mut scanout_player,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_open_fd(
        fd: c_int,
        name: *const c_char,
        options: *const scanout_options,
        opened: *mut *mut scanout_player,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_open_memory(
        bytes: *const c_void,
        count: usize,
        name: *const c_char,
        options: *const scanout_options,
        opened: *mut *mut scanout_player,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_open_stream(
        stream: *const scanout_stream,
        name: *const c_char,
        options: *const scanout_options,
        opened: *mut *mut scanout_player,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_open_camera(
        name: *const c_char,
        camera: *const scanout_camera,
        options: *const scanout_options,
        opened: *mut *mut scanout_player,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_cancel_open(player: *mut scanout_player) -> scanout_result;
    pub fn scanout_close(player: *mut scanout_player);
    pub fn scanout_play(player: *mut scanout_player) -> scanout_result;
    pub fn scanout_pause(player: *mut scanout_player) -> scanout_result;
    pub fn scanout_seek(player: *mut scanout_player, film_time: i64) -> i64;
    pub fn scanout_step(player: *mut scanout_player, forward: i32) -> scanout_result;
    pub fn scanout_set_rate(player: *mut scanout_player, rate: f64) -> scanout_result;
    pub fn scanout_set_volume(player: *mut scanout_player, volume: f64) -> scanout_result;
    pub fn scanout_position(player: *mut scanout_player) -> i64;
    pub fn scanout_duration(player: *mut scanout_player) -> i64;
    pub fn scanout_program_date(player: *mut scanout_player, film_time: i64) -> i64;
    pub fn scanout_is_playing(player: *mut scanout_player) -> i32;
    pub fn scanout_state(player: *mut scanout_player) -> u32;
    pub fn scanout_get_statistics(player: *mut scanout_player, statistics: *mut scanout_statistics) -> scanout_result;
}

//! Subtitles in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

use crate::player::scanout_player;
use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_subtitles {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_canvas {
    pub size: u32,
    pub width: u32,
    pub height: u32,
    pub film_x: i32,
    pub film_y: i32,
    pub film_width: u32,
    pub film_height: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_subtitles_info {
    pub size: u32,
    pub line_count: u32,
    pub from: i64,
    pub until: i64,
    pub serial: u64,
    pub text: *const c_char,
    pub pixels: *const c_void,
    pub pitch: u32,
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_subtitle_line {
    pub size: u32,
    pub is_image: u32,
    pub start: i64,
    pub end: i64,
    pub text: *const c_char,
    pub ass: *const c_char,
    pub style: *const c_char,
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
    pub canvas_width: u32,
    pub canvas_height: u32,
}

extern "C" {
    pub fn scanout_subtitles_at(
        player: *mut scanout_player,
        film_time: i64,
        canvas: *const scanout_canvas,
        timeout: i64,
        subtitles: *mut *mut scanout_subtitles,
    ) -> scanout_result;
    pub fn scanout_subtitles_describe(subtitles: *const scanout_subtitles, info: *mut scanout_subtitles_info) -> scanout_result;
    pub fn scanout_subtitles_get_line(subtitles: *const scanout_subtitles, index: u32, line: *mut scanout_subtitle_line) -> scanout_result;
    pub fn scanout_subtitles_release(subtitles: *mut scanout_subtitles);
}

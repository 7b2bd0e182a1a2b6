//! Frames at times in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::c_char;

use crate::exporter::scanout_frame;
use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_finder {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type scanout_selection = u32;
pub const SCANOUT_SELECT_ON_SCREEN: scanout_selection = 0;
pub const SCANOUT_SELECT_NEXT: scanout_selection = 1;
pub const SCANOUT_SELECT_NEAREST: scanout_selection = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_finder_options {
    pub size: u32,
    pub selection: u32,
    pub tolerance: i64,
    pub sandbox: u32,
    pub threads: u32,
    pub track: u32,
    pub budget: u32,
    pub maximum_width: u32,
    pub maximum_height: u32,
    pub is_upright: u32,
    pub reserved: u32,
    pub format: *const c_char,
}

extern "C" {
    pub fn scanout_finder_open(
        location: *const c_char,
        options: *const scanout_finder_options,
        opened: *mut *mut scanout_finder,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_finder_duration(finder: *mut scanout_finder) -> i64;
    pub fn scanout_finder_frame_at(
        finder: *mut scanout_finder,
        film_time: i64,
        frame: *mut *mut scanout_frame,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_finder_want(finder: *mut scanout_finder, film_times: *const i64, count: usize) -> scanout_result;
    pub fn scanout_finder_next(
        finder: *mut scanout_finder,
        index: *mut usize,
        frame: *mut *mut scanout_frame,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_finder_cancel(finder: *mut scanout_finder);
    pub fn scanout_finder_close(finder: *mut scanout_finder);
}

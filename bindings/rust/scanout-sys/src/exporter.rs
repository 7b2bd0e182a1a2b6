//! Frames in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

use crate::player::scanout_exporter;
use crate::result::scanout_result;

pub type scanout_policy = u32;
pub const SCANOUT_POLICY_DROP_OLDEST: scanout_policy = 0;
pub const SCANOUT_POLICY_WAIT: scanout_policy = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_exporter_options {
    pub size: u32,
    pub budget: u32,
    pub bound: u32,
    pub policy: u32,
    pub when_decoded: u32,
    pub copies: u32,
    pub row_alignment: u32,
    pub modifier_count: u32,
    pub formats: *const c_char,
    pub modifiers: *const u64,
    pub width: u32,
    pub height: u32,
    pub device: u64,
}

#[repr(C)]
pub struct scanout_frame {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type scanout_news_handler = Option<unsafe extern "C" fn(context: *mut c_void)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_exporter_statistics {
    pub size: u32,
    pub reserved: u32,
    pub offered: u64,
    pub delivered: u64,
    pub late: u64,
    pub over_budget: u64,
    pub flushed: u64,
    pub bytes_copied: u64,
}

extern "C" {
    pub fn scanout_exporter_new(options: *const scanout_exporter_options, exporter: *mut *mut scanout_exporter) -> scanout_result;
    pub fn scanout_exporter_close(exporter: *mut scanout_exporter);
    pub fn scanout_exporter_frame_for(exporter: *mut scanout_exporter, host_time: i64, frame: *mut *mut scanout_frame) -> scanout_result;
    pub fn scanout_exporter_wait(exporter: *mut scanout_exporter, timeout: i64, frame: *mut *mut scanout_frame) -> scanout_result;
    pub fn scanout_exporter_next_time(exporter: *mut scanout_exporter) -> i64;
    pub fn scanout_exporter_set_news_handler(exporter: *mut scanout_exporter, handler: scanout_news_handler, context: *mut c_void) -> scanout_result;
    pub fn scanout_exporter_get_statistics(exporter: *mut scanout_exporter, statistics: *mut scanout_exporter_statistics) -> scanout_result;
}

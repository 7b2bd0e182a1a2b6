//! Version and results in `scanout.h`.

use std::os::raw::{c_char, c_int};

pub const SCANOUT_ABI_VERSION: u32 = 0;

pub const SCANOUT_VERSION: u32 = 0x0000_0012;

pub const SCANOUT_NO_TIME: i64 = i64::MIN;

pub type scanout_result = c_int;
pub const SCANOUT_OK: scanout_result = 0;
pub const SCANOUT_NOTHING: scanout_result = 1;
pub const SCANOUT_END: scanout_result = 2;
pub const SCANOUT_ERROR_ARGUMENT: scanout_result = -1;
pub const SCANOUT_ERROR_OPEN: scanout_result = -2;
pub const SCANOUT_ERROR_DATA: scanout_result = -3;
pub const SCANOUT_ERROR_DEVICE: scanout_result = -4;
pub const SCANOUT_ERROR_INTERNAL: scanout_result = -5;
pub const SCANOUT_ERROR_CANCELLED: scanout_result = -6;

extern "C" {
    pub fn scanout_version() -> u32;
    pub fn scanout_error_string(result: scanout_result) -> *const c_char;
}

//! The log in `scanout.h`.

use std::os::raw::{c_char, c_void};

use crate::result::scanout_result;

pub type scanout_log_level = u32;
pub const SCANOUT_LOG_ERROR: scanout_log_level = 1;
pub const SCANOUT_LOG_WARNING: scanout_log_level = 2;
pub const SCANOUT_LOG_INFO: scanout_log_level = 3;
pub const SCANOUT_LOG_DEBUG: scanout_log_level = 4;

pub type scanout_log_handler = Option<unsafe extern "C" fn(context: *mut c_void, level: u32, text: *const c_char)>;

extern "C" {
    pub fn scanout_set_log_handler(level: u32, handler: scanout_log_handler, context: *mut c_void) -> scanout_result;
}

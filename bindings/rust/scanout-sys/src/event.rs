//! Events in `scanout.h`.

use std::os::raw::{c_char, c_int};

use crate::player::scanout_player;
use crate::result::scanout_result;

pub type scanout_state_value = u32;
pub const SCANOUT_STATE_IDLE: scanout_state_value = 0;
pub const SCANOUT_STATE_OPENING: scanout_state_value = 1;
pub const SCANOUT_STATE_PREPARING: scanout_state_value = 2;
pub const SCANOUT_STATE_PLAYING: scanout_state_value = 3;
pub const SCANOUT_STATE_PAUSED: scanout_state_value = 4;
pub const SCANOUT_STATE_WAITING: scanout_state_value = 5;
pub const SCANOUT_STATE_ENDED: scanout_state_value = 6;
pub const SCANOUT_STATE_FAILED: scanout_state_value = 7;

pub type scanout_event_kind = u32;
pub const SCANOUT_EVENT_ENDED: scanout_event_kind = 1;
pub const SCANOUT_EVENT_FAILED: scanout_event_kind = 2;
pub const SCANOUT_EVENT_NOTICE: scanout_event_kind = 3;
pub const SCANOUT_EVENT_DETAIL: scanout_event_kind = 4;
pub const SCANOUT_EVENT_CLOSE: scanout_event_kind = 5;
pub const SCANOUT_EVENT_KEY: scanout_event_kind = 6;
pub const SCANOUT_EVENT_SHOWN: scanout_event_kind = 7;
pub const SCANOUT_EVENT_SOUGHT: scanout_event_kind = 8;
pub const SCANOUT_EVENT_OPENED: scanout_event_kind = 9;
pub const SCANOUT_EVENT_STATE: scanout_event_kind = 10;
pub const SCANOUT_EVENT_SUBTITLES: scanout_event_kind = 11;
pub const SCANOUT_EVENT_CACHE: scanout_event_kind = 12;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_event {
    pub size: u32,
    pub kind: u32,
    pub result: i32,
    pub text: [c_char; 500],
    pub serial: u64,
    pub state: u32,
    pub percent: u32,
}

extern "C" {
    pub fn scanout_event_fd(player: *mut scanout_player) -> c_int;
    pub fn scanout_next_event(player: *mut scanout_player, timeout: i64, event: *mut scanout_event) -> scanout_result;
}

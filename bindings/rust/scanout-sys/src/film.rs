//! What is in the film in `scanout.h`.

use std::os::raw::c_char;

use crate::player::scanout_player;
use crate::result::scanout_result;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_film_info {
    pub size: u32,
    pub track_count: u32,
    pub chapter_count: u32,
    pub metadata_count: u32,
    pub duration: i64,
    pub container: *const c_char,
    pub title: *const c_char,
    pub is_seekable: u32,
    pub reserved: u32,
}

pub type scanout_track_kind = u32;
pub const SCANOUT_TRACK_OTHER: scanout_track_kind = 0;
pub const SCANOUT_TRACK_VIDEO: scanout_track_kind = 1;
pub const SCANOUT_TRACK_AUDIO: scanout_track_kind = 2;
pub const SCANOUT_TRACK_SUBTITLE: scanout_track_kind = 3;
pub const SCANOUT_TRACK_COVER: scanout_track_kind = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_track_info {
    pub size: u32,
    pub kind: u32,
    pub id: u32,
    pub number: u32,
    pub codec: *const c_char,
    pub language: *const c_char,
    pub title: *const c_char,
    pub duration: i64,
    pub bit_rate: i64,
    pub is_default: u8,
    pub is_decodable: u8,
    pub is_selected: u8,
    pub is_forced: u8,
    pub is_hearing_impaired: u8,
    pub reserved: [u8; 3],
    pub width: u32,
    pub height: u32,
    pub frame_rate: [u32; 2],
    pub pixel_aspect: [u32; 2],
    pub rotation: u32,
    pub sample_rate: u32,
    pub channel_count: u32,
    pub reserved2: u32,
    pub channel_layout: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_chapter {
    pub size: u32,
    pub reserved: u32,
    pub start: i64,
    pub end: i64,
    pub title: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_metadata {
    pub size: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub text: *const c_char,
}

extern "C" {
    pub fn scanout_get_film(player: *mut scanout_player, film: *mut scanout_film_info) -> scanout_result;
    pub fn scanout_get_track(player: *mut scanout_player, index: u32, track: *mut scanout_track_info) -> scanout_result;
    pub fn scanout_set_subtitle_track(player: *mut scanout_player, number: i32) -> scanout_result;
    pub fn scanout_get_chapter(player: *mut scanout_player, index: u32, chapter: *mut scanout_chapter) -> scanout_result;
    pub fn scanout_get_metadata(player: *mut scanout_player, index: u32, metadata: *mut scanout_metadata) -> scanout_result;
}

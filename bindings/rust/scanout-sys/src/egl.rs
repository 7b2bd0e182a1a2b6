//! Textures in OpenGL (ES) in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::c_char;

use crate::exporter::scanout_frame;
use crate::frame::SCANOUT_MAX_PLANES;
use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_egl_cache {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type scanout_texture_path = u32;
pub const SCANOUT_TEXTURE_PLANES: scanout_texture_path = 0;
pub const SCANOUT_TEXTURE_IMAGE: scanout_texture_path = 1;
pub const SCANOUT_TEXTURE_UPLOAD: scanout_texture_path = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_texture_options {
    pub size: u32,
    pub wants_image: u32,
    pub forbids_upload: u32,
    pub limit: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_texture {
    pub name: u32,
    pub width: u32,
    pub height: u32,
    pub bytes: u32,
    pub reserved: [u32; 4],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_texture_info {
    pub size: u32,
    pub path: u32,
    pub target: u32,
    pub count: u32,
    pub textures: [scanout_texture; SCANOUT_MAX_PLANES],
    pub crop: [f32; 4],
    pub has_matrix: u32,
    pub code_scale: f32,
    pub offset: [f32; 3],
    pub matrix: [f32; 9],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_texture_statistics {
    pub size: u32,
    pub reserved: u32,
    pub imported: u64,
    pub reused: u64,
    pub uploaded: u64,
    pub bytes_copied: u64,
    pub dropped: u64,
}

extern "C" {
    pub fn scanout_egl_cache_new(
        options: *const scanout_texture_options,
        cache: *mut *mut scanout_egl_cache,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_egl_cache_close(cache: *mut scanout_egl_cache);
    pub fn scanout_egl_cache_get(
        cache: *mut scanout_egl_cache,
        frame: *mut scanout_frame,
        info: *mut scanout_texture_info,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_egl_cache_release(cache: *mut scanout_egl_cache, frame: *mut scanout_frame);
    pub fn scanout_egl_cache_get_statistics(cache: *mut scanout_egl_cache, statistics: *mut scanout_texture_statistics) -> scanout_result;
}

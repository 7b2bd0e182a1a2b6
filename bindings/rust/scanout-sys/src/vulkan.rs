//! Images in Vulkan in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

use crate::egl::{scanout_texture_options, scanout_texture_statistics};
use crate::exporter::scanout_frame;
use crate::frame::SCANOUT_MAX_PLANES;
use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_vulkan_cache {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_vulkan_device {
    pub size: u32,
    pub queue_family: u32,
    pub instance: *mut c_void,
    pub physical_device: *mut c_void,
    pub device: *mut c_void,
    pub get_instance_proc_addr: Option<unsafe extern "C" fn()>,
    pub extensions: *const *const c_char,
    pub extension_count: u32,
    pub has_ycbcr_conversion: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_image {
    pub image: u64,
    pub view: u64,
    pub format: u32,
    pub width: u32,
    pub height: u32,
    pub bytes: u32,
    pub reserved: [u64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_image_info {
    pub size: u32,
    pub path: u32,
    pub count: u32,
    pub has_matrix: u32,
    pub images: [scanout_image; SCANOUT_MAX_PLANES],
    pub crop: [f32; 4],
    pub code_scale: f32,
    pub offset: [f32; 3],
    pub matrix: [f32; 9],
    pub filters_chroma: u32,
    pub ycbcr_conversion: u64,
}

extern "C" {
    pub fn scanout_vulkan_cache_new(
        device: *const scanout_vulkan_device,
        options: *const scanout_texture_options,
        cache: *mut *mut scanout_vulkan_cache,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_vulkan_cache_close(cache: *mut scanout_vulkan_cache);
    pub fn scanout_vulkan_cache_get(
        cache: *mut scanout_vulkan_cache,
        frame: *mut scanout_frame,
        info: *mut scanout_image_info,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_vulkan_cache_record_acquire(
        cache: *mut scanout_vulkan_cache,
        frame: *mut scanout_frame,
        commands: *mut c_void,
        layout: u32,
    ) -> scanout_result;
    pub fn scanout_vulkan_cache_record_release(
        cache: *mut scanout_vulkan_cache,
        frame: *mut scanout_frame,
        commands: *mut c_void,
        layout: u32,
    ) -> scanout_result;
    pub fn scanout_vulkan_cache_acquire_semaphore(cache: *mut scanout_vulkan_cache, frame: *mut scanout_frame) -> u64;
    pub fn scanout_vulkan_cache_release_semaphore(cache: *mut scanout_vulkan_cache) -> u64;
    pub fn scanout_vulkan_cache_release(cache: *mut scanout_vulkan_cache, frame: *mut scanout_frame, semaphore: u64, fence: u64);
    pub fn scanout_vulkan_cache_get_statistics(cache: *mut scanout_vulkan_cache, statistics: *mut scanout_texture_statistics) -> scanout_result;
}

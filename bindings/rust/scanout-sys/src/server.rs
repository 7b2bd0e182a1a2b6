//! Other processes in `scanout.h`.

use core::marker::{PhantomData, PhantomPinned};
use std::os::raw::c_char;

use crate::exporter::{scanout_exporter_options, scanout_frame};
use crate::player::scanout_exporter;
use crate::result::scanout_result;

#[repr(C)]
pub struct scanout_server {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_server_options {
    pub size: u32,
    pub client_limit: u32,
    pub client_budget: u32,
    pub sends_every_frame: u32,
    pub frames: *const scanout_exporter_options,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct scanout_server_statistics {
    pub size: u32,
    pub clients: u32,
    pub clients_served: u64,
    pub frames_sent: u64,
    pub frames_skipped: u64,
}

#[repr(C)]
pub struct scanout_remote {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

extern "C" {
    pub fn scanout_server_new(
        path: *const c_char,
        options: *const scanout_server_options,
        server: *mut *mut scanout_server,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_server_exporter(server: *mut scanout_server) -> *mut scanout_exporter;
    pub fn scanout_server_add(
        server: *mut scanout_server,
        name: *const c_char,
        frames: *const scanout_exporter_options,
        exporter: *mut *mut scanout_exporter,
    ) -> scanout_result;
    pub fn scanout_server_remove(server: *mut scanout_server, name: *const c_char) -> scanout_result;
    pub fn scanout_server_set_continues(server: *mut scanout_server, continues: i32) -> scanout_result;
    pub fn scanout_server_wait(server: *mut scanout_server, timeout: i64) -> scanout_result;
    pub fn scanout_server_get_statistics(server: *mut scanout_server, statistics: *mut scanout_server_statistics) -> scanout_result;
    pub fn scanout_server_close(server: *mut scanout_server);
    pub fn scanout_remote_open(path: *const c_char, remote: *mut *mut scanout_remote, message: *mut c_char, message_size: usize) -> scanout_result;
    pub fn scanout_remote_open_film(
        path: *const c_char,
        name: *const c_char,
        remote: *mut *mut scanout_remote,
        message: *mut c_char,
        message_size: usize,
    ) -> scanout_result;
    pub fn scanout_remote_get_films(path: *const c_char, names: *mut c_char, size: usize) -> scanout_result;
    pub fn scanout_remote_wait(remote: *mut scanout_remote, timeout: i64, frame: *mut *mut scanout_frame) -> scanout_result;
    pub fn scanout_remote_close(remote: *mut scanout_remote);
}

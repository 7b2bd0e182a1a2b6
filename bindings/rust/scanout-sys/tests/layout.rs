//! The crate against what programs in C were built with: `Tests/CInterface/layout.txt` and `symbols.txt`.

use scanout_sys::*;
use std::fmt::Write;
use std::mem::{size_of, MaybeUninit};
use std::ptr::addr_of;

macro_rules! values {
    ($text:ident: $($name:ident),* $(,)?) => { $(writeln!($text, "{} = {}", stringify!($name), $name as i64).unwrap();)* };
}

macro_rules! layout {
    ($text:ident: $($name:ident { $($member:ident),* $(,)? })*) => { $(
        writeln!($text, "{} {}", stringify!($name), size_of::<$name>()).unwrap();
        let value = MaybeUninit::<$name>::zeroed();
        let start = value.as_ptr();
        $(
            // Nothing is read: only the address of the member is taken.
            let place = unsafe { addr_of!((*start).$member) } as usize - start as usize;
            writeln!($text, "    {} {}", stringify!($member), place).unwrap();
        )*
    )* };
}

macro_rules! functions {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), $name as *const () as usize)),*] };
}

#[test]
fn sizes_offsets_and_values_are_those_of_c() {
    let mut text = String::new();
    values! { text:
        SCANOUT_ABI_VERSION, SCANOUT_OK, SCANOUT_NOTHING, SCANOUT_END, SCANOUT_ERROR_ARGUMENT, SCANOUT_ERROR_OPEN, SCANOUT_ERROR_DATA,
        SCANOUT_ERROR_DEVICE, SCANOUT_ERROR_INTERNAL, SCANOUT_ERROR_CANCELLED, SCANOUT_OUTPUT_NONE, SCANOUT_OUTPUT_UNTIMED,
        SCANOUT_OUTPUT_WINDOW, SCANOUT_OUTPUT_MONITOR, SCANOUT_DECODER_AUTO, SCANOUT_DECODER_HARDWARE, SCANOUT_DECODER_SOFTWARE,
        SCANOUT_SANDBOX_OFF, SCANOUT_SANDBOX_DECODER, SCANOUT_SANDBOX_REQUIRE, SCANOUT_SANDBOX_FULL, SCANOUT_RTSP_AUTO, SCANOUT_RTSP_TCP,
        SCANOUT_RTSP_UDP, SCANOUT_EVENT_ENDED,
        SCANOUT_EVENT_FAILED, SCANOUT_EVENT_NOTICE, SCANOUT_EVENT_DETAIL, SCANOUT_EVENT_CLOSE, SCANOUT_EVENT_KEY, SCANOUT_EVENT_SHOWN,
        SCANOUT_EVENT_SOUGHT, SCANOUT_EVENT_OPENED, SCANOUT_EVENT_STATE, SCANOUT_EVENT_SUBTITLES, SCANOUT_STATE_IDLE,
        SCANOUT_STATE_OPENING, SCANOUT_STATE_PREPARING,
        SCANOUT_STATE_PLAYING, SCANOUT_STATE_PAUSED, SCANOUT_STATE_WAITING, SCANOUT_STATE_ENDED, SCANOUT_STATE_FAILED,
        SCANOUT_POLICY_DROP_OLDEST, SCANOUT_POLICY_WAIT, SCANOUT_MAX_PLANES, SCANOUT_MEMORY_UNKNOWN, SCANOUT_MEMORY_MEMFD,
        SCANOUT_MEMORY_UDMABUF, SCANOUT_MEMORY_DMA_HEAP, SCANOUT_MEMORY_DEVICE, SCANOUT_MEMORY_GIVEN, SCANOUT_SOUND_EVERYTHING,
        SCANOUT_SOUND_AS_HEARD,
        SCANOUT_TRACK_OTHER, SCANOUT_TRACK_VIDEO, SCANOUT_TRACK_AUDIO, SCANOUT_TRACK_SUBTITLE, SCANOUT_TRACK_COVER, SCANOUT_TEXTURE_PLANES,
        SCANOUT_TEXTURE_IMAGE, SCANOUT_TEXTURE_UPLOAD, SCANOUT_SAMPLE_SYNC, SCANOUT_SAMPLE_DROPPABLE, SCANOUT_SAMPLE_DO_NOT_DISPLAY,
        SCANOUT_SAMPLE_DISPLAY_IMMEDIATELY, SCANOUT_SAMPLE_CORRUPT, SCANOUT_LOG_ERROR, SCANOUT_LOG_WARNING, SCANOUT_LOG_INFO,
        SCANOUT_LOG_DEBUG, SCANOUT_HDR10_PLUS, SCANOUT_DOLBY_VISION, SCANOUT_SELECT_ON_SCREEN, SCANOUT_SELECT_NEXT, SCANOUT_SELECT_NEAREST,
    }
    layout! { text:
        scanout_options {
            size, output, decoder, threads, starts_paused, is_silent, loops, exporter_count, exporters, start_time, play_duration, sandbox,
            opens_async, video_track, audio_track, subtitle_track, takes_subtitles, audio_languages, subtitle_languages, sound, render_node,
            network, subtitle_files, subtitle_delay, subtitle_file_count,
        }
        scanout_network {
            size, rtsp, timeout, stall_timeout, cache_ahead, cache_behind, bit_rate, latency, trusts_all_certificates, certificate_authorities,
            user_agent, referrer, header_fields, cookies_file, netrc_file, cache_folder, proxy,
        }
        scanout_camera { size, format, width, height, rate_numerator, rate_denominator, reconnects }
        scanout_stream { size, context, read, seek, byte_count, cancel }
        scanout_statistics {
            size, stalls, stalled, frames_decoded, frames_shown, frames_dropped, bytes_copied, bytes_fetched, bytes_ahead, time_ahead,
            bytes_per_second, percent_ahead,
        }
        scanout_film_info { size, track_count, chapter_count, metadata_count, duration, container, title, is_seekable }
        scanout_track_info {
            size, kind, id, number, codec, language, title, duration, bit_rate, is_default, is_decodable, is_selected, is_forced,
            is_hearing_impaired, width, height, frame_rate, pixel_aspect, rotation, sample_rate, channel_count, channel_layout,
        }
        scanout_chapter { size, start, end, title }
        scanout_metadata { size, name, text }
        scanout_event { size, kind, result, text, serial, state, percent }
        scanout_exporter_options {
            size, budget, bound, policy, when_decoded, copies, row_alignment, modifier_count, formats, modifiers, width, height, device,
        }
        scanout_exporter_statistics { size, offered, delivered, late, over_budget, flushed, bytes_copied }
        scanout_plane { fd, pitch, offset, visible_offset, width, height, visible_width, visible_height, bits, components, reserved }
        scanout_hdr { red, white, maximum_luminance, minimum_luminance, maximum_light, average_light, reserved }
        scanout_frame_info {
            size, fourcc, modifier, format, bit_depth, plane_count, planes, byte_count, coded_width, coded_height, visible_x, visible_y,
            visible_width, visible_height, pixel_aspect, rotation, is_mirrored, primaries, transfer, matrix, range, chroma_siting, has_hdr,
            is_dmabuf, is_new, is_copy, field_order, hdr, film_time, duration, host_time, sequence, identity, memory, serial, device,
        }
        scanout_queue_options { size, output, decoder, threads, exporter_count, sandbox, exporters, render_node }
        scanout_video_format {
            size, width, height, setup_size, codec, setup, pixel_aspect, rotation, reorder_depth, primaries, transfer, matrix, range,
        }
        scanout_sample { size, flags, bytes, byte_count, time, decode_time, duration, timescale }
        scanout_texture_options { size, wants_image, forbids_upload, limit }
        scanout_texture { name, width, height, bytes, reserved }
        scanout_texture_info { size, path, target, count, textures, crop, has_matrix, code_scale, offset, matrix }
        scanout_texture_statistics { size, imported, reused, uploaded, bytes_copied, dropped }
        scanout_vulkan_device {
            size, queue_family, instance, physical_device, device, get_instance_proc_addr, extensions, extension_count,
            has_ycbcr_conversion,
        }
        scanout_image { image, view, format, width, height, bytes, reserved }
        scanout_image_info { size, path, count, has_matrix, images, crop, code_scale, offset, matrix, filters_chroma, ycbcr_conversion }
        scanout_sound_options { size, delivery, sample_rate, channel_count, is_planar }
        scanout_sound_block { size, frame_count, sample_rate, channel_count, samples, film_time, serial, is_discontinuous }
        scanout_server_options { size, client_limit, client_budget, sends_every_frame, frames }
        scanout_server_statistics { size, clients, clients_served, frames_sent, frames_skipped }
        scanout_finder_options {
            size, selection, tolerance, sandbox, threads, track, budget, maximum_width, maximum_height, is_upright, format,
        }
        scanout_conversion_options {
            size, copies, video, audio, video_bit_rate, audio_bit_rate, byte_count, quality, passes, width, height, overwrites,
            is_fragmented, has_index_in_front, sandbox, start_time, duration,
        }
        scanout_conversion_progress { size, pass, pass_count, is_whole, time, duration, samples, bytes, bytes_copied }
        scanout_canvas { size, width, height, film_x, film_y, film_width, film_height }
        scanout_subtitles_info { size, line_count, from, until, serial, text, pixels, pitch, x, y, width, height }
        scanout_subtitle_line { size, is_image, start, end, text, ass, style, x, y, width, height, canvas_width, canvas_height }
    }
    assert_eq!(text, include_str!("../../../../Tests/CInterface/layout.txt"));
}

#[test]
fn every_function_is_declared_and_in_the_library() {
    let functions = functions![
        scanout_cancel_open,
        scanout_close,
        scanout_conversion_cancel,
        scanout_conversion_close,
        scanout_conversion_end,
        scanout_conversion_get_progress,
        scanout_conversion_new,
        scanout_conversion_run,
        scanout_duration,
        scanout_egl_cache_close,
        scanout_egl_cache_get,
        scanout_egl_cache_get_statistics,
        scanout_egl_cache_new,
        scanout_egl_cache_release,
        scanout_error_string,
        scanout_event_fd,
        scanout_exporter_close,
        scanout_exporter_frame_for,
        scanout_exporter_get_statistics,
        scanout_exporter_new,
        scanout_exporter_next_time,
        scanout_exporter_set_news_handler,
        scanout_exporter_wait,
        scanout_finder_cancel,
        scanout_finder_close,
        scanout_finder_duration,
        scanout_finder_frame_at,
        scanout_finder_next,
        scanout_finder_open,
        scanout_finder_want,
        scanout_frame_acquire_at,
        scanout_frame_acquire_fence,
        scanout_frame_describe,
        scanout_frame_dynamic_hdr,
        scanout_frame_map,
        scanout_frame_release,
        scanout_frame_release_after,
        scanout_frame_release_at,
        scanout_frame_unmap,
        scanout_get_chapter,
        scanout_get_film,
        scanout_get_metadata,
        scanout_get_statistics,
        scanout_get_track,
        scanout_is_playing,
        scanout_next_event,
        scanout_open,
        scanout_open_camera,
        scanout_open_fd,
        scanout_open_memory,
        scanout_open_stream,
        scanout_pause,
        scanout_play,
        scanout_position,
        scanout_program_date,
        scanout_queue_close,
        scanout_queue_end,
        scanout_queue_enqueue,
        scanout_queue_event_fd,
        scanout_queue_flush,
        scanout_queue_is_ready,
        scanout_queue_next_event,
        scanout_queue_open,
        scanout_queue_ready_fd,
        scanout_queue_set_format,
        scanout_queue_set_rate,
        scanout_queue_set_time,
        scanout_queue_time,
        scanout_remote_close,
        scanout_remote_get_films,
        scanout_remote_open,
        scanout_remote_open_film,
        scanout_remote_wait,
        scanout_seek,
        scanout_server_add,
        scanout_server_close,
        scanout_server_exporter,
        scanout_server_get_statistics,
        scanout_server_new,
        scanout_server_remove,
        scanout_server_set_continues,
        scanout_server_wait,
        scanout_set_log_handler,
        scanout_set_rate,
        scanout_set_subtitle_track,
        scanout_set_volume,
        scanout_sound_close,
        scanout_sound_new,
        scanout_sound_read,
        scanout_sound_wait,
        scanout_state,
        scanout_step,
        scanout_subtitles_at,
        scanout_subtitles_describe,
        scanout_subtitles_get_line,
        scanout_subtitles_release,
        scanout_timeline_close,
        scanout_timeline_fd,
        scanout_timeline_new,
        scanout_timeline_signal,
        scanout_version,
        scanout_vulkan_cache_acquire_semaphore,
        scanout_vulkan_cache_close,
        scanout_vulkan_cache_get,
        scanout_vulkan_cache_get_statistics,
        scanout_vulkan_cache_new,
        scanout_vulkan_cache_record_acquire,
        scanout_vulkan_cache_record_release,
        scanout_vulkan_cache_release,
        scanout_vulkan_cache_release_semaphore,
    ];
    let names: Vec<&str> = functions.iter().map(|function| function.0).collect();
    let exported: Vec<&str> = include_str!("../../../../Tests/CInterface/symbols.txt").lines().collect();
    assert_eq!(names, exported);
    assert!(functions.iter().all(|function| function.1 != 0));
}

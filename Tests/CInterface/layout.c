/* Prints the size of every struct of scanout.h and where its members lie: what programs that are already built depend on. */
#include <scanout.h>
#include <stdio.h>

#define STRUCT(type) printf("%s %zu\n", #type, sizeof(type))
#define MEMBER(type, member) printf("    %s %zu\n", #member, offsetof(type, member))
#define NUMBER(name) printf("%s = %d\n", #name, (int)(name))

int main(void)
{
    NUMBER(SCANOUT_ABI_VERSION);
    NUMBER(SCANOUT_OK);
    NUMBER(SCANOUT_NOTHING);
    NUMBER(SCANOUT_END);
    NUMBER(SCANOUT_ERROR_ARGUMENT);
    NUMBER(SCANOUT_ERROR_OPEN);
    NUMBER(SCANOUT_ERROR_DATA);
    NUMBER(SCANOUT_ERROR_DEVICE);
    NUMBER(SCANOUT_ERROR_INTERNAL);
    NUMBER(SCANOUT_ERROR_CANCELLED);
    NUMBER(SCANOUT_OUTPUT_NONE);
    NUMBER(SCANOUT_OUTPUT_UNTIMED);
    NUMBER(SCANOUT_OUTPUT_WINDOW);
    NUMBER(SCANOUT_OUTPUT_MONITOR);
    NUMBER(SCANOUT_DECODER_AUTO);
    NUMBER(SCANOUT_DECODER_HARDWARE);
    NUMBER(SCANOUT_DECODER_SOFTWARE);
    NUMBER(SCANOUT_SANDBOX_OFF);
    NUMBER(SCANOUT_SANDBOX_DECODER);
    NUMBER(SCANOUT_SANDBOX_REQUIRE);
    NUMBER(SCANOUT_SANDBOX_FULL);
    NUMBER(SCANOUT_EVENT_ENDED);
    NUMBER(SCANOUT_EVENT_FAILED);
    NUMBER(SCANOUT_EVENT_NOTICE);
    NUMBER(SCANOUT_EVENT_DETAIL);
    NUMBER(SCANOUT_EVENT_CLOSE);
    NUMBER(SCANOUT_EVENT_KEY);
    NUMBER(SCANOUT_EVENT_SHOWN);
    NUMBER(SCANOUT_EVENT_SOUGHT);
    NUMBER(SCANOUT_EVENT_OPENED);
    NUMBER(SCANOUT_EVENT_STATE);
    NUMBER(SCANOUT_STATE_IDLE);
    NUMBER(SCANOUT_STATE_OPENING);
    NUMBER(SCANOUT_STATE_PREPARING);
    NUMBER(SCANOUT_STATE_PLAYING);
    NUMBER(SCANOUT_STATE_PAUSED);
    NUMBER(SCANOUT_STATE_WAITING);
    NUMBER(SCANOUT_STATE_ENDED);
    NUMBER(SCANOUT_STATE_FAILED);
    NUMBER(SCANOUT_POLICY_DROP_OLDEST);
    NUMBER(SCANOUT_POLICY_WAIT);
    NUMBER(SCANOUT_MAX_PLANES);
    NUMBER(SCANOUT_SOUND_EVERYTHING);
    NUMBER(SCANOUT_SOUND_AS_HEARD);
    NUMBER(SCANOUT_TRACK_OTHER);
    NUMBER(SCANOUT_TRACK_VIDEO);
    NUMBER(SCANOUT_TRACK_AUDIO);
    NUMBER(SCANOUT_TRACK_SUBTITLE);
    NUMBER(SCANOUT_TRACK_COVER);
    NUMBER(SCANOUT_TEXTURE_PLANES);
    NUMBER(SCANOUT_TEXTURE_IMAGE);
    NUMBER(SCANOUT_TEXTURE_UPLOAD);
    NUMBER(SCANOUT_SAMPLE_SYNC);
    NUMBER(SCANOUT_SAMPLE_DROPPABLE);
    NUMBER(SCANOUT_SAMPLE_DO_NOT_DISPLAY);
    NUMBER(SCANOUT_SAMPLE_DISPLAY_IMMEDIATELY);
    NUMBER(SCANOUT_SAMPLE_CORRUPT);

    STRUCT(scanout_options);
    MEMBER(scanout_options, size);
    MEMBER(scanout_options, output);
    MEMBER(scanout_options, decoder);
    MEMBER(scanout_options, threads);
    MEMBER(scanout_options, starts_paused);
    MEMBER(scanout_options, is_silent);
    MEMBER(scanout_options, loops);
    MEMBER(scanout_options, exporter_count);
    MEMBER(scanout_options, exporters);
    MEMBER(scanout_options, start_time);
    MEMBER(scanout_options, play_duration);
    MEMBER(scanout_options, sandbox);
    MEMBER(scanout_options, opens_async);
    MEMBER(scanout_options, video_track);
    MEMBER(scanout_options, audio_track);
    MEMBER(scanout_options, subtitle_track);
    MEMBER(scanout_options, audio_languages);
    MEMBER(scanout_options, subtitle_languages);
    MEMBER(scanout_options, sound);

    STRUCT(scanout_stream);
    MEMBER(scanout_stream, size);
    MEMBER(scanout_stream, context);
    MEMBER(scanout_stream, read);
    MEMBER(scanout_stream, seek);
    MEMBER(scanout_stream, byte_count);
    MEMBER(scanout_stream, cancel);

    STRUCT(scanout_statistics);
    MEMBER(scanout_statistics, size);
    MEMBER(scanout_statistics, stalls);
    MEMBER(scanout_statistics, stalled);
    MEMBER(scanout_statistics, frames_decoded);
    MEMBER(scanout_statistics, frames_shown);
    MEMBER(scanout_statistics, frames_dropped);
    MEMBER(scanout_statistics, bytes_copied);

    STRUCT(scanout_film_info);
    MEMBER(scanout_film_info, size);
    MEMBER(scanout_film_info, track_count);
    MEMBER(scanout_film_info, chapter_count);
    MEMBER(scanout_film_info, metadata_count);
    MEMBER(scanout_film_info, duration);
    MEMBER(scanout_film_info, container);
    MEMBER(scanout_film_info, title);
    MEMBER(scanout_film_info, is_seekable);

    STRUCT(scanout_track_info);
    MEMBER(scanout_track_info, size);
    MEMBER(scanout_track_info, kind);
    MEMBER(scanout_track_info, id);
    MEMBER(scanout_track_info, number);
    MEMBER(scanout_track_info, codec);
    MEMBER(scanout_track_info, language);
    MEMBER(scanout_track_info, title);
    MEMBER(scanout_track_info, duration);
    MEMBER(scanout_track_info, bit_rate);
    MEMBER(scanout_track_info, is_default);
    MEMBER(scanout_track_info, is_decodable);
    MEMBER(scanout_track_info, is_selected);
    MEMBER(scanout_track_info, is_forced);
    MEMBER(scanout_track_info, is_hearing_impaired);
    MEMBER(scanout_track_info, width);
    MEMBER(scanout_track_info, height);
    MEMBER(scanout_track_info, frame_rate);
    MEMBER(scanout_track_info, pixel_aspect);
    MEMBER(scanout_track_info, rotation);
    MEMBER(scanout_track_info, sample_rate);
    MEMBER(scanout_track_info, channel_count);
    MEMBER(scanout_track_info, channel_layout);

    STRUCT(scanout_chapter);
    MEMBER(scanout_chapter, size);
    MEMBER(scanout_chapter, start);
    MEMBER(scanout_chapter, end);
    MEMBER(scanout_chapter, title);

    STRUCT(scanout_metadata);
    MEMBER(scanout_metadata, size);
    MEMBER(scanout_metadata, name);
    MEMBER(scanout_metadata, text);

    STRUCT(scanout_event);
    MEMBER(scanout_event, size);
    MEMBER(scanout_event, kind);
    MEMBER(scanout_event, result);
    MEMBER(scanout_event, text);
    MEMBER(scanout_event, serial);
    MEMBER(scanout_event, state);

    STRUCT(scanout_exporter_options);
    MEMBER(scanout_exporter_options, size);
    MEMBER(scanout_exporter_options, budget);
    MEMBER(scanout_exporter_options, bound);
    MEMBER(scanout_exporter_options, policy);
    MEMBER(scanout_exporter_options, when_decoded);
    MEMBER(scanout_exporter_options, copies);

    STRUCT(scanout_exporter_statistics);
    MEMBER(scanout_exporter_statistics, size);
    MEMBER(scanout_exporter_statistics, offered);
    MEMBER(scanout_exporter_statistics, delivered);
    MEMBER(scanout_exporter_statistics, late);
    MEMBER(scanout_exporter_statistics, over_budget);
    MEMBER(scanout_exporter_statistics, flushed);
    MEMBER(scanout_exporter_statistics, bytes_copied);

    STRUCT(scanout_plane);
    MEMBER(scanout_plane, fd);
    MEMBER(scanout_plane, pitch);
    MEMBER(scanout_plane, offset);
    MEMBER(scanout_plane, visible_offset);
    MEMBER(scanout_plane, width);
    MEMBER(scanout_plane, height);
    MEMBER(scanout_plane, visible_width);
    MEMBER(scanout_plane, visible_height);
    MEMBER(scanout_plane, bits);
    MEMBER(scanout_plane, components);

    STRUCT(scanout_hdr);
    MEMBER(scanout_hdr, red);
    MEMBER(scanout_hdr, white);
    MEMBER(scanout_hdr, maximum_luminance);
    MEMBER(scanout_hdr, minimum_luminance);
    MEMBER(scanout_hdr, maximum_light);
    MEMBER(scanout_hdr, average_light);

    STRUCT(scanout_frame_info);
    MEMBER(scanout_frame_info, size);
    MEMBER(scanout_frame_info, fourcc);
    MEMBER(scanout_frame_info, modifier);
    MEMBER(scanout_frame_info, format);
    MEMBER(scanout_frame_info, bit_depth);
    MEMBER(scanout_frame_info, plane_count);
    MEMBER(scanout_frame_info, planes);
    MEMBER(scanout_frame_info, byte_count);
    MEMBER(scanout_frame_info, coded_width);
    MEMBER(scanout_frame_info, coded_height);
    MEMBER(scanout_frame_info, visible_x);
    MEMBER(scanout_frame_info, visible_y);
    MEMBER(scanout_frame_info, visible_width);
    MEMBER(scanout_frame_info, visible_height);
    MEMBER(scanout_frame_info, pixel_aspect);
    MEMBER(scanout_frame_info, rotation);
    MEMBER(scanout_frame_info, is_mirrored);
    MEMBER(scanout_frame_info, primaries);
    MEMBER(scanout_frame_info, transfer);
    MEMBER(scanout_frame_info, matrix);
    MEMBER(scanout_frame_info, range);
    MEMBER(scanout_frame_info, chroma_siting);
    MEMBER(scanout_frame_info, has_hdr);
    MEMBER(scanout_frame_info, is_dmabuf);
    MEMBER(scanout_frame_info, is_new);
    MEMBER(scanout_frame_info, is_copy);
    MEMBER(scanout_frame_info, field_order);
    MEMBER(scanout_frame_info, hdr);
    MEMBER(scanout_frame_info, film_time);
    MEMBER(scanout_frame_info, duration);
    MEMBER(scanout_frame_info, host_time);
    MEMBER(scanout_frame_info, sequence);
    MEMBER(scanout_frame_info, identity);
    MEMBER(scanout_frame_info, serial);

    STRUCT(scanout_queue_options);
    MEMBER(scanout_queue_options, size);
    MEMBER(scanout_queue_options, output);
    MEMBER(scanout_queue_options, decoder);
    MEMBER(scanout_queue_options, threads);
    MEMBER(scanout_queue_options, exporter_count);
    MEMBER(scanout_queue_options, sandbox);
    MEMBER(scanout_queue_options, exporters);

    STRUCT(scanout_video_format);
    MEMBER(scanout_video_format, size);
    MEMBER(scanout_video_format, width);
    MEMBER(scanout_video_format, height);
    MEMBER(scanout_video_format, setup_size);
    MEMBER(scanout_video_format, codec);
    MEMBER(scanout_video_format, setup);
    MEMBER(scanout_video_format, pixel_aspect);
    MEMBER(scanout_video_format, rotation);
    MEMBER(scanout_video_format, reorder_depth);
    MEMBER(scanout_video_format, primaries);
    MEMBER(scanout_video_format, transfer);
    MEMBER(scanout_video_format, matrix);
    MEMBER(scanout_video_format, range);

    STRUCT(scanout_sample);
    MEMBER(scanout_sample, size);
    MEMBER(scanout_sample, flags);
    MEMBER(scanout_sample, bytes);
    MEMBER(scanout_sample, byte_count);
    MEMBER(scanout_sample, time);
    MEMBER(scanout_sample, decode_time);
    MEMBER(scanout_sample, duration);
    MEMBER(scanout_sample, timescale);

    STRUCT(scanout_texture_options);
    MEMBER(scanout_texture_options, size);
    MEMBER(scanout_texture_options, wants_image);
    MEMBER(scanout_texture_options, forbids_upload);
    MEMBER(scanout_texture_options, limit);

    STRUCT(scanout_texture);
    MEMBER(scanout_texture, name);
    MEMBER(scanout_texture, width);
    MEMBER(scanout_texture, height);
    MEMBER(scanout_texture, bytes);

    STRUCT(scanout_texture_info);
    MEMBER(scanout_texture_info, size);
    MEMBER(scanout_texture_info, path);
    MEMBER(scanout_texture_info, target);
    MEMBER(scanout_texture_info, count);
    MEMBER(scanout_texture_info, textures);
    MEMBER(scanout_texture_info, crop);
    MEMBER(scanout_texture_info, has_matrix);
    MEMBER(scanout_texture_info, code_scale);
    MEMBER(scanout_texture_info, offset);
    MEMBER(scanout_texture_info, matrix);

    STRUCT(scanout_texture_statistics);
    MEMBER(scanout_texture_statistics, size);
    MEMBER(scanout_texture_statistics, imported);
    MEMBER(scanout_texture_statistics, reused);
    MEMBER(scanout_texture_statistics, uploaded);
    MEMBER(scanout_texture_statistics, bytes_copied);
    MEMBER(scanout_texture_statistics, dropped);

    STRUCT(scanout_vulkan_device);
    MEMBER(scanout_vulkan_device, size);
    MEMBER(scanout_vulkan_device, queue_family);
    MEMBER(scanout_vulkan_device, instance);
    MEMBER(scanout_vulkan_device, physical_device);
    MEMBER(scanout_vulkan_device, device);
    MEMBER(scanout_vulkan_device, get_instance_proc_addr);
    MEMBER(scanout_vulkan_device, extensions);
    MEMBER(scanout_vulkan_device, extension_count);
    MEMBER(scanout_vulkan_device, has_ycbcr_conversion);

    STRUCT(scanout_image);
    MEMBER(scanout_image, image);
    MEMBER(scanout_image, view);
    MEMBER(scanout_image, format);
    MEMBER(scanout_image, width);
    MEMBER(scanout_image, height);
    MEMBER(scanout_image, bytes);

    STRUCT(scanout_image_info);
    MEMBER(scanout_image_info, size);
    MEMBER(scanout_image_info, path);
    MEMBER(scanout_image_info, count);
    MEMBER(scanout_image_info, has_matrix);
    MEMBER(scanout_image_info, images);
    MEMBER(scanout_image_info, crop);
    MEMBER(scanout_image_info, code_scale);
    MEMBER(scanout_image_info, offset);
    MEMBER(scanout_image_info, matrix);
    MEMBER(scanout_image_info, filters_chroma);
    MEMBER(scanout_image_info, ycbcr_conversion);
    STRUCT(scanout_sound_options);
    MEMBER(scanout_sound_options, size);
    MEMBER(scanout_sound_options, delivery);
    MEMBER(scanout_sound_options, sample_rate);
    MEMBER(scanout_sound_options, channel_count);
    MEMBER(scanout_sound_options, is_planar);
    STRUCT(scanout_sound_block);
    MEMBER(scanout_sound_block, size);
    MEMBER(scanout_sound_block, frame_count);
    MEMBER(scanout_sound_block, sample_rate);
    MEMBER(scanout_sound_block, channel_count);
    MEMBER(scanout_sound_block, samples);
    MEMBER(scanout_sound_block, film_time);
    MEMBER(scanout_sound_block, serial);
    MEMBER(scanout_sound_block, is_discontinuous);
    return 0;
}

/* Prints the size of every struct of player.h and where its members lie: what programs that are already built depend on. */
#include <player.h>
#include <stdio.h>

#define STRUCT(type) printf("%s %zu\n", #type, sizeof(type))
#define MEMBER(type, member) printf("    %s %zu\n", #member, offsetof(type, member))
#define NUMBER(name) printf("%s = %d\n", #name, (int)(name))

int main(void)
{
    NUMBER(PLAYER_ABI_VERSION);
    NUMBER(PLAYER_OK);
    NUMBER(PLAYER_NOTHING);
    NUMBER(PLAYER_END);
    NUMBER(PLAYER_ERROR_ARGUMENT);
    NUMBER(PLAYER_ERROR_OPEN);
    NUMBER(PLAYER_ERROR_DATA);
    NUMBER(PLAYER_ERROR_DEVICE);
    NUMBER(PLAYER_ERROR_INTERNAL);
    NUMBER(PLAYER_OUTPUT_NONE);
    NUMBER(PLAYER_OUTPUT_UNTIMED);
    NUMBER(PLAYER_OUTPUT_WINDOW);
    NUMBER(PLAYER_OUTPUT_MONITOR);
    NUMBER(PLAYER_DECODER_AUTO);
    NUMBER(PLAYER_DECODER_HARDWARE);
    NUMBER(PLAYER_DECODER_SOFTWARE);
    NUMBER(PLAYER_SANDBOX_OFF);
    NUMBER(PLAYER_SANDBOX_DECODER);
    NUMBER(PLAYER_SANDBOX_REQUIRE);
    NUMBER(PLAYER_SANDBOX_FULL);
    NUMBER(PLAYER_EVENT_ENDED);
    NUMBER(PLAYER_EVENT_FAILED);
    NUMBER(PLAYER_EVENT_NOTICE);
    NUMBER(PLAYER_EVENT_DETAIL);
    NUMBER(PLAYER_EVENT_CLOSE);
    NUMBER(PLAYER_EVENT_KEY);
    NUMBER(PLAYER_EVENT_SHOWN);
    NUMBER(PLAYER_POLICY_DROP_OLDEST);
    NUMBER(PLAYER_POLICY_WAIT);
    NUMBER(PLAYER_MAX_PLANES);
    NUMBER(PLAYER_TEXTURE_PLANES);
    NUMBER(PLAYER_TEXTURE_IMAGE);
    NUMBER(PLAYER_TEXTURE_UPLOAD);
    NUMBER(PLAYER_SAMPLE_SYNC);
    NUMBER(PLAYER_SAMPLE_DROPPABLE);
    NUMBER(PLAYER_SAMPLE_DO_NOT_DISPLAY);
    NUMBER(PLAYER_SAMPLE_DISPLAY_IMMEDIATELY);
    NUMBER(PLAYER_SAMPLE_CORRUPT);

    STRUCT(player_options);
    MEMBER(player_options, size);
    MEMBER(player_options, output);
    MEMBER(player_options, decoder);
    MEMBER(player_options, threads);
    MEMBER(player_options, starts_paused);
    MEMBER(player_options, is_silent);
    MEMBER(player_options, loops);
    MEMBER(player_options, exporter_count);
    MEMBER(player_options, exporters);
    MEMBER(player_options, start_time);
    MEMBER(player_options, play_duration);
    MEMBER(player_options, sandbox);

    STRUCT(player_event);
    MEMBER(player_event, size);
    MEMBER(player_event, kind);
    MEMBER(player_event, result);
    MEMBER(player_event, text);

    STRUCT(player_exporter_options);
    MEMBER(player_exporter_options, size);
    MEMBER(player_exporter_options, budget);
    MEMBER(player_exporter_options, bound);
    MEMBER(player_exporter_options, policy);
    MEMBER(player_exporter_options, when_decoded);
    MEMBER(player_exporter_options, copies);

    STRUCT(player_exporter_statistics);
    MEMBER(player_exporter_statistics, size);
    MEMBER(player_exporter_statistics, offered);
    MEMBER(player_exporter_statistics, delivered);
    MEMBER(player_exporter_statistics, late);
    MEMBER(player_exporter_statistics, over_budget);
    MEMBER(player_exporter_statistics, flushed);
    MEMBER(player_exporter_statistics, bytes_copied);

    STRUCT(player_plane);
    MEMBER(player_plane, fd);
    MEMBER(player_plane, pitch);
    MEMBER(player_plane, offset);
    MEMBER(player_plane, visible_offset);
    MEMBER(player_plane, width);
    MEMBER(player_plane, height);
    MEMBER(player_plane, visible_width);
    MEMBER(player_plane, visible_height);
    MEMBER(player_plane, bits);
    MEMBER(player_plane, components);

    STRUCT(player_hdr);
    MEMBER(player_hdr, red);
    MEMBER(player_hdr, white);
    MEMBER(player_hdr, maximum_luminance);
    MEMBER(player_hdr, minimum_luminance);
    MEMBER(player_hdr, maximum_light);
    MEMBER(player_hdr, average_light);

    STRUCT(player_frame_info);
    MEMBER(player_frame_info, size);
    MEMBER(player_frame_info, fourcc);
    MEMBER(player_frame_info, modifier);
    MEMBER(player_frame_info, format);
    MEMBER(player_frame_info, bit_depth);
    MEMBER(player_frame_info, plane_count);
    MEMBER(player_frame_info, planes);
    MEMBER(player_frame_info, byte_count);
    MEMBER(player_frame_info, coded_width);
    MEMBER(player_frame_info, coded_height);
    MEMBER(player_frame_info, visible_x);
    MEMBER(player_frame_info, visible_y);
    MEMBER(player_frame_info, visible_width);
    MEMBER(player_frame_info, visible_height);
    MEMBER(player_frame_info, pixel_aspect);
    MEMBER(player_frame_info, rotation);
    MEMBER(player_frame_info, is_mirrored);
    MEMBER(player_frame_info, primaries);
    MEMBER(player_frame_info, transfer);
    MEMBER(player_frame_info, matrix);
    MEMBER(player_frame_info, range);
    MEMBER(player_frame_info, chroma_siting);
    MEMBER(player_frame_info, has_hdr);
    MEMBER(player_frame_info, is_dmabuf);
    MEMBER(player_frame_info, is_new);
    MEMBER(player_frame_info, is_copy);
    MEMBER(player_frame_info, hdr);
    MEMBER(player_frame_info, film_time);
    MEMBER(player_frame_info, duration);
    MEMBER(player_frame_info, host_time);
    MEMBER(player_frame_info, sequence);
    MEMBER(player_frame_info, identity);

    STRUCT(player_queue_options);
    MEMBER(player_queue_options, size);
    MEMBER(player_queue_options, output);
    MEMBER(player_queue_options, decoder);
    MEMBER(player_queue_options, threads);
    MEMBER(player_queue_options, exporter_count);
    MEMBER(player_queue_options, sandbox);
    MEMBER(player_queue_options, exporters);

    STRUCT(player_video_format);
    MEMBER(player_video_format, size);
    MEMBER(player_video_format, width);
    MEMBER(player_video_format, height);
    MEMBER(player_video_format, setup_size);
    MEMBER(player_video_format, codec);
    MEMBER(player_video_format, setup);
    MEMBER(player_video_format, pixel_aspect);
    MEMBER(player_video_format, rotation);
    MEMBER(player_video_format, reorder_depth);
    MEMBER(player_video_format, primaries);
    MEMBER(player_video_format, transfer);
    MEMBER(player_video_format, matrix);
    MEMBER(player_video_format, range);

    STRUCT(player_sample);
    MEMBER(player_sample, size);
    MEMBER(player_sample, flags);
    MEMBER(player_sample, bytes);
    MEMBER(player_sample, byte_count);
    MEMBER(player_sample, time);
    MEMBER(player_sample, decode_time);
    MEMBER(player_sample, duration);
    MEMBER(player_sample, timescale);

    STRUCT(player_texture_options);
    MEMBER(player_texture_options, size);
    MEMBER(player_texture_options, wants_image);
    MEMBER(player_texture_options, forbids_upload);
    MEMBER(player_texture_options, limit);

    STRUCT(player_texture);
    MEMBER(player_texture, name);
    MEMBER(player_texture, width);
    MEMBER(player_texture, height);
    MEMBER(player_texture, bytes);

    STRUCT(player_texture_info);
    MEMBER(player_texture_info, size);
    MEMBER(player_texture_info, path);
    MEMBER(player_texture_info, target);
    MEMBER(player_texture_info, count);
    MEMBER(player_texture_info, textures);
    MEMBER(player_texture_info, crop);
    MEMBER(player_texture_info, has_matrix);
    MEMBER(player_texture_info, code_scale);
    MEMBER(player_texture_info, offset);
    MEMBER(player_texture_info, matrix);

    STRUCT(player_texture_statistics);
    MEMBER(player_texture_statistics, size);
    MEMBER(player_texture_statistics, imported);
    MEMBER(player_texture_statistics, reused);
    MEMBER(player_texture_statistics, uploaded);
    MEMBER(player_texture_statistics, bytes_copied);
    MEMBER(player_texture_statistics, dropped);

    STRUCT(player_vulkan_device);
    MEMBER(player_vulkan_device, size);
    MEMBER(player_vulkan_device, queue_family);
    MEMBER(player_vulkan_device, instance);
    MEMBER(player_vulkan_device, physical_device);
    MEMBER(player_vulkan_device, device);
    MEMBER(player_vulkan_device, get_instance_proc_addr);
    MEMBER(player_vulkan_device, extensions);
    MEMBER(player_vulkan_device, extension_count);
    MEMBER(player_vulkan_device, has_ycbcr_conversion);

    STRUCT(player_image);
    MEMBER(player_image, image);
    MEMBER(player_image, view);
    MEMBER(player_image, format);
    MEMBER(player_image, width);
    MEMBER(player_image, height);
    MEMBER(player_image, bytes);

    STRUCT(player_image_info);
    MEMBER(player_image_info, size);
    MEMBER(player_image_info, path);
    MEMBER(player_image_info, count);
    MEMBER(player_image_info, has_matrix);
    MEMBER(player_image_info, images);
    MEMBER(player_image_info, crop);
    MEMBER(player_image_info, code_scale);
    MEMBER(player_image_info, offset);
    MEMBER(player_image_info, matrix);
    MEMBER(player_image_info, filters_chroma);
    MEMBER(player_image_info, ycbcr_conversion);
    return 0;
}

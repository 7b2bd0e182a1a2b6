// HDR10+ (SMPTE ST 2094-40) as its SEI message has it. libavutil before 58.29 only takes the message apart; this puts it together again.
#ifndef CAV_HDR10PLUS_H
#define CAV_HDR10PLUS_H

#include <libavutil/frame.h>
#include <libavutil/hdr_dynamic_metadata.h>
#include <stdint.h>

struct cav_bits { uint8_t *bytes; int room, count; };

static inline void cav_put(struct cav_bits *bits, int width, unsigned value) {
    for (int bit = width - 1; bit >= 0; bit--, bits->count++) {
        if (bits->count / 8 >= bits->room) continue;
        if (bits->count % 8 == 0) bits->bytes[bits->count / 8] = 0;
        bits->bytes[bits->count / 8] |= (uint8_t)(((value >> bit) & 1) << (7 - bits->count % 8));
    }
}

// A fraction in the units of the message, which is the denominator that libavutil gives it.
static inline void cav_put_ratio(struct cav_bits *bits, int width, AVRational value, int denominator) {
    cav_put(bits, width, value.den ? (unsigned)((int64_t)value.num * denominator / value.den) : 0);
}

static inline void cav_put_peaks(struct cav_bits *bits, int rows, int columns, const AVRational peaks[25][25]) {
    cav_put(bits, 5, (unsigned)rows);
    cav_put(bits, 5, (unsigned)columns);
    for (int row = 0; row < rows && row < 25; row++)
        for (int column = 0; column < columns && column < 25; column++) cav_put_ratio(bits, 4, peaks[row][column], 15);
}

/// The frame's HDR10+ as the payload of ITU-T T.35, from the country's code on. Returns its bytes, of which `room` have been written at most; 0: none.
static inline int cav_frame_hdr10plus(const AVFrame *frame, uint8_t *bytes, int room) {
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_DYNAMIC_HDR_PLUS);
    if (!side) return 0;
    const AVDynamicHDRPlus *hdr = (const AVDynamicHDRPlus *)(const void *)side->data;
    int windows = hdr->num_windows > 3 ? 3 : hdr->num_windows;
    struct cav_bits bits = {bytes, room, 0};
    // The United States, Samsung, ST 2094-40 and its only application.
    cav_put(&bits, 8, 0xB5);
    cav_put(&bits, 16, 0x003C);
    cav_put(&bits, 16, 0x0001);
    cav_put(&bits, 8, 4);
    cav_put(&bits, 8, hdr->application_version);
    cav_put(&bits, 2, (unsigned)windows);
    for (int i = 1; i < windows; i++) {
        const AVHDRPlusColorTransformParams *window = &hdr->params[i];
        cav_put_ratio(&bits, 16, window->window_upper_left_corner_x, 1);
        cav_put_ratio(&bits, 16, window->window_upper_left_corner_y, 1);
        cav_put_ratio(&bits, 16, window->window_lower_right_corner_x, 1);
        cav_put_ratio(&bits, 16, window->window_lower_right_corner_y, 1);
        cav_put(&bits, 16, window->center_of_ellipse_x);
        cav_put(&bits, 16, window->center_of_ellipse_y);
        cav_put(&bits, 8, window->rotation_angle);
        cav_put(&bits, 16, window->semimajor_axis_internal_ellipse);
        cav_put(&bits, 16, window->semimajor_axis_external_ellipse);
        cav_put(&bits, 16, window->semiminor_axis_external_ellipse);
        cav_put(&bits, 1, window->overlap_process_option);
    }
    cav_put_ratio(&bits, 27, hdr->targeted_system_display_maximum_luminance, 1);
    cav_put(&bits, 1, hdr->targeted_system_display_actual_peak_luminance_flag);
    if (hdr->targeted_system_display_actual_peak_luminance_flag)
        cav_put_peaks(&bits, hdr->num_rows_targeted_system_display_actual_peak_luminance,
            hdr->num_cols_targeted_system_display_actual_peak_luminance, hdr->targeted_system_display_actual_peak_luminance);
    for (int i = 0; i < windows; i++) {
        const AVHDRPlusColorTransformParams *window = &hdr->params[i];
        for (int c = 0; c < 3; c++) cav_put_ratio(&bits, 17, window->maxscl[c], 100000);
        cav_put_ratio(&bits, 17, window->average_maxrgb, 100000);
        cav_put(&bits, 4, window->num_distribution_maxrgb_percentiles);
        for (int p = 0; p < window->num_distribution_maxrgb_percentiles && p < 15; p++) {
            cav_put(&bits, 7, window->distribution_maxrgb[p].percentage);
            cav_put_ratio(&bits, 17, window->distribution_maxrgb[p].percentile, 100000);
        }
        cav_put_ratio(&bits, 10, window->fraction_bright_pixels, 1000);
    }
    cav_put(&bits, 1, hdr->mastering_display_actual_peak_luminance_flag);
    if (hdr->mastering_display_actual_peak_luminance_flag)
        cav_put_peaks(&bits, hdr->num_rows_mastering_display_actual_peak_luminance, hdr->num_cols_mastering_display_actual_peak_luminance,
            hdr->mastering_display_actual_peak_luminance);
    for (int i = 0; i < windows; i++) {
        const AVHDRPlusColorTransformParams *window = &hdr->params[i];
        cav_put(&bits, 1, window->tone_mapping_flag);
        if (window->tone_mapping_flag) {
            cav_put_ratio(&bits, 12, window->knee_point_x, 4095);
            cav_put_ratio(&bits, 12, window->knee_point_y, 4095);
            cav_put(&bits, 4, window->num_bezier_curve_anchors);
            for (int a = 0; a < window->num_bezier_curve_anchors && a < 15; a++)
                cav_put_ratio(&bits, 10, window->bezier_curve_anchors[a], 1023);
        }
        cav_put(&bits, 1, window->color_saturation_mapping_flag);
        if (window->color_saturation_mapping_flag) cav_put_ratio(&bits, 6, window->color_saturation_weight, 8);
    }
    return (bits.count + 7) / 8;
}

/// The frame's Dolby Vision RPU, as its NAL or OBU has it, lent until the frame is; NULL: none.
static inline const uint8_t *cav_frame_dolby_vision(const AVFrame *frame, int *count) {
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_DOVI_RPU_BUFFER);
    *count = side ? (int)side->size : 0;
    return side ? side->data : NULL;
}

#endif

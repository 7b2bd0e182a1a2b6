// Door to libswscale and libavutil's description of pixel formats (FFmpeg 5.1 to 8), apart from CAV: whoever only converts frames does not
// load libavcodec. Pixel formats are AVPixelFormat's numbers. Holds what Swift's importer drops; no policy.
#ifndef CSWSCALE_SHIM_H
#define CSWSCALE_SHIM_H

#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/// The number of the pixel format with this name, -1 when this libavutil does not know it.
static inline int csws_format(const char *name) { return av_get_pix_fmt(name); }
/// The name of a pixel format; NULL for a number that means nothing.
static inline const char *csws_format_name(int format) { return av_get_pix_fmt_name((enum AVPixelFormat)format); }
static inline int csws_can_read(int format) { return sws_isSupportedInput((enum AVPixelFormat)format); }
static inline int csws_can_write(int format) { return sws_isSupportedOutput((enum AVPixelFormat)format) && format != AV_PIX_FMT_PAL8; }

/// The one of `count` formats that keeps most of what `source` holds (av_find_best_pix_fmt_of_2 applied in turn), -1 when there is none.
static inline int csws_nearest(const int *formats, int count, int source) {
    enum AVPixelFormat best = AV_PIX_FMT_NONE;
    for (int i = 0; i < count; i++) {
        int loss = 0;
        best = av_find_best_pix_fmt_of_2(best, (enum AVPixelFormat)formats[i], (enum AVPixelFormat)source, 0, &loss);
    }
    return best;
}

/// Where one component of a pixel format lies: its plane, the bytes from one sample to the next, the offset of the first sample in bytes, the
/// unused bits below each value, and the bits of each value. 0 when the format has no such component or cannot be described in this way.
static inline int csws_component(int format, int index, int *plane, int *step, int *offset, int *shift, int *depth) {
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get((enum AVPixelFormat)format);
    const uint64_t other = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;
    if (!descriptor || index >= descriptor->nb_components || (descriptor->flags & other)) return 0;
    *plane = descriptor->comp[index].plane;
    *step = descriptor->comp[index].step;
    *offset = descriptor->comp[index].offset;
    *shift = descriptor->comp[index].shift;
    *depth = descriptor->comp[index].depth;
    return 1;
}

// SwsContext is an incomplete type before FFmpeg 8 and a complete one since, which Swift imports differently: hence void.

/// A scaler that changes the format only, as exactly as libswscale can; `old` is reused where it fits and freed where not.
static inline void *csws_exact(void *old, int width, int height, int from, int to) {
    return sws_getCachedContext((struct SwsContext *)old, width, height, (enum AVPixelFormat)from, width, height, (enum AVPixelFormat)to,
                                SWS_POINT | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, NULL, NULL, NULL);
}
/// A scaler for display: `matrix` is H.273's number, `full` the source's range. The target is full range.
static inline void *csws_display(void *old, int width, int height, int from, int to_width, int to_height, int to, int matrix, int full) {
    struct SwsContext *context = sws_getCachedContext((struct SwsContext *)old, width, height, (enum AVPixelFormat)from,
                                                      to_width, to_height, (enum AVPixelFormat)to, SWS_BILINEAR, NULL, NULL, NULL);
    if (context) {
        const int *coefficients = sws_getCoefficients(matrix);
        sws_setColorspaceDetails(context, coefficients, full, coefficients, 1, 0, 1 << 16, 1 << 16);
    }
    return context;
}
static inline void csws_free(void *scaler) { sws_freeContext((struct SwsContext *)scaler); }
/// The number of rows written.
static inline int csws_scale(void *scaler, uint8_t *const source[4], const int source_pitches[4], int rows, uint8_t *const target[4],
                             const int target_pitches[4]) {
    return sws_scale((struct SwsContext *)scaler, (const uint8_t *const *)source, source_pitches, 0, rows, target, target_pitches);
}
/// av_image_copy: rows of the same format from one place to another; pitches may be negative.
static inline void csws_copy(int format, int width, int height, uint8_t *const source[4], const int source_pitches[4],
                             uint8_t *const target[4], const int target_pitches[4]) {
    uint8_t *planes[4] = {target[0], target[1], target[2], target[3]};
    const uint8_t *sources[4] = {source[0], source[1], source[2], source[3]};
    av_image_copy(planes, target_pitches, sources, source_pitches, (enum AVPixelFormat)format, width, height);
}

#endif

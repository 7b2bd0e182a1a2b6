// Door to FFmpeg's libraries (5.1 to 8) but libavformat. Holds what Swift's importer drops; no policy.
#ifndef CAV_SHIM_H
#define CAV_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavutil/adler32.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/channel_layout.h>
#include <libavutil/cpu.h>
#include <libavutil/crc.h>
#include <libavutil/display.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/sha.h>
#include <libswresample/swresample.h>
#include <string.h>

#include "hdr10plus.h"

// Function-like and typed macros are invisible to Swift.
static const int64_t cav_nopts_value = AV_NOPTS_VALUE;
static const int cav_error_eof = AVERROR_EOF;
static const int cav_error_again = AVERROR(EAGAIN);
static const int cav_error_exit = AVERROR_EXIT;
static const int cav_error_invalid_data = AVERROR_INVALIDDATA;
static const int cav_error_protocol_not_found = AVERROR_PROTOCOL_NOT_FOUND;
static const int cav_error_http_bad_request = AVERROR_HTTP_BAD_REQUEST;
static const int cav_error_http_unauthorized = AVERROR_HTTP_UNAUTHORIZED;
static const int cav_error_http_forbidden = AVERROR_HTTP_FORBIDDEN;
static const int cav_error_http_not_found = AVERROR_HTTP_NOT_FOUND;
static const int cav_error_http_other = AVERROR_HTTP_OTHER_4XX;
static const int cav_error_http_server = AVERROR_HTTP_SERVER_ERROR;
static inline int cav_error(int posix) { return AVERROR(posix); }
static inline int cav_error_posix(int error) { return AVUNERROR(error); }
static inline AVRational cav_time_base_q(void) { return AV_TIME_BASE_Q; }

// libavcodec 5.1 to 8: what moved between versions.

/// Says that get_buffer2 may be called from libavcodec's own threads (always so since 6.0).
static inline void cav_set_thread_safe_callbacks(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
    context->thread_safe_callbacks = 1;
_Pragma("GCC diagnostic pop")
#else
    (void)context;
#endif
}

// A number given with a packet comes back with the frame that is made of it.

/// To be called before the decoder is opened.
static inline void cav_context_keep_numbers(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
    (void)context;
#else
    context->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
#endif
}

/// For the packet that is sent next; from 0.
static inline void cav_packet_set_number(AVCodecContext *context, AVPacket *packet, int64_t number) {
#if LIBAVCODEC_VERSION_MAJOR < 60
    (void)packet;
    context->reordered_opaque = number;
#else
    (void)context;
    packet->opaque = (void *)(intptr_t)(number + 1);
#endif
}

/// -1 when the decoder did not keep it.
static inline int64_t cav_frame_number(const AVFrame *frame) {
#if LIBAVCODEC_VERSION_MAJOR < 60
    return frame->reordered_opaque == AV_NOPTS_VALUE ? -1 : frame->reordered_opaque;
#else
    return (int64_t)(intptr_t)frame->opaque - 1;
#endif
}

/// The frame's duration in the packets' time base; 0 when unknown.
static inline int64_t cav_frame_duration(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    return frame->duration;
#else
    return frame->pkt_duration;
#endif
}

static inline int cav_frame_is_key(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_KEY) != 0;
#else
    return frame->key_frame;
#endif
}

/// 0: progressive; 1: two fields, the lower one first; 2: two fields, the upper one first.
static inline int cav_frame_fields(const AVFrame *frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    return (frame->flags & AV_FRAME_FLAG_INTERLACED) == 0 ? 0 : (frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0 ? 2 : 1;
#else
    return !frame->interlaced_frame ? 0 : frame->top_field_first ? 2 : 1;
#endif
}

/// The frame was made in spite of errors.
static inline int cav_frame_is_damaged(const AVFrame *frame) {
    return (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0;
}

/// Whether an encoder takes frames of a format: 1 or 0, -1 when it does not say. The list in AVCodec is deprecated since 7.1.
static inline int cav_encoder_takes(const AVCodec *codec, enum AVPixelFormat format) {
    const enum AVPixelFormat *formats = NULL;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, (const void **)&formats, NULL);
#else
    formats = codec->pix_fmts;
#endif
    if (!formats) return -1;
    for (; *formats != AV_PIX_FMT_NONE; formats++) if (*formats == format) return 1;
    return 0;
}

// C arrays arrive in Swift as tuples; these index them.

static inline void cav_frame_set_plane(AVFrame *frame, int plane, uint8_t *data, int linesize) {
    frame->data[plane] = data;
    frame->linesize[plane] = linesize;
}
static inline void cav_frame_use_own_planes(AVFrame *frame) { frame->extended_data = frame->data; }
static inline uint8_t *cav_frame_plane(const AVFrame *frame, int plane) { return frame->data[plane]; }
static inline int cav_frame_linesize(const AVFrame *frame, int plane) { return frame->linesize[plane]; }

/// avcodec_align_dimensions2; gives the widest alignment that any plane's rows need, in bytes.
static inline int cav_align_dimensions(AVCodecContext *context, int *width, int *height) {
    int align[AV_NUM_DATA_POINTERS] = {0}, widest = 1;
    avcodec_align_dimensions2(context, width, height, align);
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++) if (align[i] > widest) widest = align[i];
    return widest;
}

/// av_image_copy_to_buffer: a frame's pixels without padding, plane after plane.
static inline int cav_image_copy_to_buffer(uint8_t *buffer, int size, const AVFrame *frame) {
    return av_image_copy_to_buffer(buffer, size, (const uint8_t *const *)frame->data, frame->linesize, frame->format, frame->width, frame->height, 1);
}

/// The matrix of a display, nine 32-bit numbers in a name that Swift can index, turns the frame inside out.
static inline int cav_display_is_mirrored(const uint8_t *matrix) {
    const int32_t *m = (const int32_t *)matrix;
    return (double)m[0] * m[4] - (double)m[1] * m[3] < 0;
}
/// libavutil's angle; of a matrix that mirrors, the angle by which it turns before it exchanges left and right.
static inline double cav_display_rotation(const uint8_t *matrix) {
    int32_t m[9];
    memcpy(m, matrix, sizeof m);
    if (cav_display_is_mirrored(matrix)) av_display_matrix_flip(m, 1, 0);
    return av_display_rotation_get(m);
}

// Hardware decoding and encoding over VA-API.

/// An AVHWDeviceContext over an open VADisplay; NULL on failure. The display must outlive it.
static inline AVBufferRef *cav_va_device_new(void *display) {
    AVBufferRef *reference = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_VAAPI);
    if (!reference) return NULL;
    AVHWDeviceContext *device = (AVHWDeviceContext *)reference->data;
    *(void **)device->hwctx = display; // AVVAAPIDeviceContext begins with the display; its header would ask for libva's
    if (av_hwdevice_ctx_init(reference) < 0) {
        av_buffer_unref(&reference);
        return NULL;
    }
    return reference;
}

/// A frame's VASurfaceID, as AV_PIX_FMT_VAAPI has it.
static inline void cav_frame_set_va_surface(AVFrame *frame, uint32_t surface) { frame->data[3] = (uint8_t *)(uintptr_t)surface; }
static inline const AVHWFramesContext *cav_frames_context(const AVBufferRef *reference) { return (const AVHWFramesContext *)reference->data; }
/// The frames context's frames are made elsewhere: it must not make any beforehand.
static inline void cav_frames_context_no_pool(AVBufferRef *reference) { ((AVHWFramesContext *)reference->data)->initial_pool_size = 0; }
/// An AVHWFramesContext for surfaces that are made elsewhere and given to an encoder; NULL on failure.
static inline AVBufferRef *cav_va_frames_new(AVBufferRef *device, enum AVPixelFormat format, int width, int height) {
    AVBufferRef *reference = av_hwframe_ctx_alloc(device);
    if (!reference) return NULL;
    AVHWFramesContext *frames = (AVHWFramesContext *)reference->data;
    frames->format = AV_PIX_FMT_VAAPI;
    frames->sw_format = format;
    frames->width = width;
    frames->height = height;
    frames->initial_pool_size = 0;
    if (av_hwframe_ctx_init(reference) < 0) av_buffer_unref(&reference);
    return reference;
}

/// HDR10 metadata beside a frame, where encoders of devices look for it: x and y of red, green, blue and white in units of 0.00002, luminances in
/// units of 0.0001 cd/m2, light levels in cd/m2. False without memory.
static inline int cav_frame_set_hdr(AVFrame *frame, const uint16_t points[8], uint32_t brightest, uint32_t darkest, unsigned content,
                                    unsigned average) {
    AVMasteringDisplayMetadata *display = av_mastering_display_metadata_create_side_data(frame);
    AVContentLightMetadata *light = av_content_light_metadata_create_side_data(frame);
    if (!display || !light) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) display->display_primaries[i][j] = av_make_q(points[2 * i + j], 50000);
    for (int j = 0; j < 2; j++) display->white_point[j] = av_make_q(points[6 + j], 50000);
    display->max_luminance = av_make_q((int)brightest, 10000);
    display->min_luminance = av_make_q((int)darkest, 10000);
    display->has_primaries = display->has_luminance = 1;
    light->MaxCLL = content;
    light->MaxFALL = average;
    return 1;
}

static inline int cav_is_hardware_format(enum AVPixelFormat format) {
    const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
    return descriptor && (descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0;
}

#endif

// Door to libavformat (FFmpeg 5.1 to 8), apart from the others: a program that only decodes does not load it and what it needs.
#ifndef CAVFORMAT_SHIM_H
#define CAVFORMAT_SHIM_H

#include "../CAV/shim.h"
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <string.h>

/// Side data of a whole stream; it moved from the stream to its codec parameters in 6.1.
static inline const uint8_t *cav_stream_side_data(const AVStream *stream, enum AVPacketSideDataType type, size_t *size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    const AVPacketSideData *data =
        av_packet_side_data_get(stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
    *size = data ? data->size : 0;
    return data ? data->data : NULL;
#else
    return av_stream_get_side_data(stream, type, size);
#endif
}

/// Makes libavformat attach a stream's side data to its first packet; since 6.1 it lies where decoders look for it.
static inline void cav_inject_stream_side_data(AVFormatContext *context) {
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(60, 31, 102)
    av_format_inject_global_side_data(context);
#else
    (void)context;
#endif
}

/// Gives a stream side data of its own, a copy; negative when there is no memory.
static inline int cav_stream_add_side_data(AVStream *stream, enum AVPacketSideDataType type, const void *data, size_t size) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102)
    AVPacketSideData *side = av_packet_side_data_new(
        &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type, size, 0);
    if (!side) return AVERROR(ENOMEM);
    memcpy(side->data, data, size);
#else
    uint8_t *side = av_stream_new_side_data(stream, type, size);
    if (!side) return AVERROR(ENOMEM);
    memcpy(side, data, size);
#endif
    return 0;
}

/// avio_alloc_context for writing; the bytes became const in 7.0.
static inline AVIOContext *cav_output_new(
    unsigned char *buffer, int size, void *opaque, int (*write)(void *, const uint8_t *, int), int64_t (*seek)(void *, int64_t, int)) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    return avio_alloc_context(buffer, size, 1, opaque, NULL, write, seek);
#else
    return avio_alloc_context(buffer, size, 1, opaque, NULL, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

#endif

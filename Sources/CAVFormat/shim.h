// Door to libavformat (FFmpeg 5.1 to 8), apart from the others: a program that only decodes does not load it and what it needs.
#ifndef CAVFORMAT_SHIM_H
#define CAVFORMAT_SHIM_H

#include "../CAV/shim.h"
#include <libavformat/avformat.h>

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

#endif

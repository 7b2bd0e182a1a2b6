// Door to FFmpeg's libraries (5.1 to 8). Holds what Swift's importer drops; no policy.
#ifndef CAV_SHIM_H
#define CAV_SHIM_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/channel_layout.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/md5.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Function-like and typed macros are invisible to Swift.
static const int64_t cav_nopts_value = AV_NOPTS_VALUE;
static const int cav_error_eof = AVERROR_EOF;
static const int cav_error_again = AVERROR(EAGAIN);
static const int cav_error_exit = AVERROR_EXIT;
static const int cav_error_invalid_data = AVERROR_INVALIDDATA;
static inline int cav_error(int posix) { return AVERROR(posix); }
static inline int cav_error_posix(int error) { return AVUNERROR(error); }
static inline AVRational cav_time_base_q(void) { return AV_TIME_BASE_Q; }

#endif

// libavfilter's bwdif for Swift. The library is loaded when a film needs it: it brings some sixty others along, which a program that shows
// progressive films must not wait for.
#ifndef CDEINTERLACE_H
#define CDEINTERLACE_H

#include <libavutil/frame.h>
#include <stddef.h>

/// A graph: frames in, bwdif with a frame for each field, frames out.
typedef struct CDFilter CDFilter;

/// Makes a graph for frames of one size and pixel format, or returns NULL and writes a reason.
/// everything: also frames that are not marked as interlaced.
CDFilter *cd_open(int width, int height, int format, int everything, char *reason, size_t capacity);
void cd_close(CDFilter *filter);
/// Takes a reference to a frame, whose pts counts frames in units of 2; NULL ends the stream. Below 0: failed.
int cd_send(CDFilter *filter, AVFrame *frame);
/// 1: the frame is the next one, whose pts counts in units of 1/2 of those sent; 0: there is none now.
int cd_receive(CDFilter *filter, AVFrame *frame);

/// A frame that refers to memory of another owner; release(owner) is called when nobody reads it any more. NULL without memory.
AVFrame *cd_borrow(void *base, size_t count, void *owner, void (*release)(void *owner, uint8_t *base));
void cd_describe(AVFrame *frame, int width, int height, int format, int64_t pts, int isInterlaced, int isTopFirst);
static inline void cd_set_plane(AVFrame *frame, int plane, void *address, int pitch) {
    frame->data[plane] = (uint8_t *)address;
    frame->linesize[plane] = pitch;
}
static inline void *cd_plane(const AVFrame *frame, int plane) { return frame->data[plane]; }
static inline int cd_pitch(const AVFrame *frame, int plane) { return frame->linesize[plane]; }

#endif

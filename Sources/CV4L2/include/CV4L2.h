// V4L2's ioctls, one a function, without its unions: single- and multi-planar devices look the same. No policy.
//
// Each function returns 0, or -1 with errno, unless it says otherwise. The kernel's documentation is that of linux/videodev2.h.
#ifndef CV4L2_H
#define CV4L2_H

#include <stddef.h>
#include <stdint.h>

enum { CV4L2_PLANES = 4 };

/// Kinds of memory of buffers (enum v4l2_memory).
enum { CV4L2_MMAP = 1, CV4L2_DMABUF = 4 };
/// Fields of a frame (enum v4l2_field).
enum {
    CV4L2_FIELD_ANY = 0,
    CV4L2_FIELD_NONE = 1,
    CV4L2_FIELD_TOP = 2,
    CV4L2_FIELD_BOTTOM = 3,
    CV4L2_FIELD_INTERLACED = 4,
    CV4L2_FIELD_SEQ_TB = 5,
    CV4L2_FIELD_SEQ_BT = 6,
    CV4L2_FIELD_ALTERNATE = 7,
    CV4L2_FIELD_INTERLACED_TB = 8,
    CV4L2_FIELD_INTERLACED_BT = 9,
};
/// Who may change a device (enum v4l2_priority): with the highest, nobody else.
enum { CV4L2_PRIORITY_INTERACTIVE = 2, CV4L2_PRIORITY_RECORD = 3 };
/// What a description of a format says (V4L2_FMT_FLAG_…).
enum { CV4L2_FORMAT_COMPRESSED = 1, CV4L2_FORMAT_EMULATED = 2 };
/// What a dequeued buffer says (V4L2_BUF_FLAG_…).
enum { CV4L2_BUFFER_ERROR = 0x40, CV4L2_BUFFER_LAST = 0x100000, CV4L2_CLOCK_MASK = 0xe000, CV4L2_CLOCK_MONOTONIC = 0x2000 };
/// What a queue of buffers can do (V4L2_BUF_CAP_…).
enum { CV4L2_SUPPORTS_MMAP = 1, CV4L2_SUPPORTS_DMABUF = 4 };
/// Kinds of controls (enum v4l2_ctrl_type).
enum {
    CV4L2_INTEGER = 1,
    CV4L2_BOOLEAN = 2,
    CV4L2_MENU = 3,
    CV4L2_BUTTON = 4,
    CV4L2_INTEGER64 = 5,
    CV4L2_CLASS = 6,
    CV4L2_STRING = 7,
    CV4L2_BITMASK = 8,
    CV4L2_INTEGER_MENU = 9,
};
/// What a control says of itself (V4L2_CTRL_FLAG_…).
enum { CV4L2_CONTROL_DISABLED = 1, CV4L2_CONTROL_READ_ONLY = 4, CV4L2_CONTROL_INACTIVE = 0x10, CV4L2_CONTROL_WRITE_ONLY = 0x40 };

typedef struct {
    char driver[16], card[32], bus[32];
    /// Whether the node captures video, does so with the multi-planar interface, and streams buffers.
    int captures, is_multiplanar, streams;
} cv4l2_identity;

typedef struct {
    uint32_t fourcc, flags;
    char name[32];
} cv4l2_format_name;

/// A size, or sizes from the smallest to the largest by steps; both are equal where the size is fixed.
typedef struct {
    uint32_t min_width, min_height, max_width, max_height, step_width, step_height;
    int is_fixed;
} cv4l2_sizes;

/// A time between two frames in seconds, or a range of them.
typedef struct {
    uint32_t min_numerator, min_denominator, max_numerator, max_denominator;
    int is_fixed;
} cv4l2_intervals;

typedef struct {
    uint32_t width, height, fourcc, field;
    uint32_t colorspace, ycbcr, quantization, transfer;
    /// Pieces of memory for one frame, not planes of the pixel format.
    uint32_t plane_count;
    uint32_t pitch[CV4L2_PLANES], bytes[CV4L2_PLANES];
} cv4l2_format;

/// The frame that is captured before any scaling, and the width of its pixels over their height.
typedef struct {
    uint32_t width, height, numerator, denominator;
} cv4l2_aspect;

typedef struct {
    uint32_t id, type, flags;
    char name[32];
    int64_t minimum, maximum, fallback;
    uint64_t step;
} cv4l2_control;

/// One piece of a buffer's memory: where the data begin and end in it, its length, and where mmap(2) finds it.
typedef struct {
    uint32_t offset, used, length, map_offset;
} cv4l2_piece;

typedef struct {
    uint32_t index, flags, field, sequence;
    /// In nanoseconds, of the clock that the flags name.
    int64_t time;
    cv4l2_piece pieces[CV4L2_PLANES];
} cv4l2_buffer;

/// open(2) for reading and writing, without waiting; a new fd, or -1 with errno.
int cv4l2_open(const char *path);
/// The name of the group that a file belongs to, in `name`; -1 without one.
int cv4l2_group(const char *path, char *name, size_t capacity);
/// VIDIOC_QUERYCAP.
int cv4l2_query(int fd, cv4l2_identity *identity);
/// VIDIOC_ENUM_FMT; -1 with EINVAL behind the last.
int cv4l2_format_at(int fd, int is_multiplanar, uint32_t index, cv4l2_format_name *format);
/// VIDIOC_ENUM_FRAMESIZES; -1 with EINVAL behind the last.
int cv4l2_sizes_at(int fd, uint32_t fourcc, uint32_t index, cv4l2_sizes *sizes);
/// VIDIOC_ENUM_FRAMEINTERVALS; -1 with EINVAL behind the last.
int cv4l2_intervals_at(int fd, uint32_t fourcc, uint32_t width, uint32_t height, uint32_t index, cv4l2_intervals *intervals);
/// VIDIOC_QUERY_EXT_CTRL: the next control behind `id`, without those that hold more than one value; -1 with EINVAL behind the last.
int cv4l2_control_after(int fd, uint32_t id, cv4l2_control *control);
/// VIDIOC_QUERYMENU: the name of an entry, or its number where the menu is one of numbers; -1 with EINVAL for an entry that is left out.
int cv4l2_menu_entry(int fd, uint32_t id, uint32_t index, char name[32], int64_t *number);
/// VIDIOC_G_EXT_CTRLS of one control with a number. `is_wide` is for those of 64 bits.
int cv4l2_get_control(int fd, uint32_t id, int is_wide, int64_t *value);
/// VIDIOC_S_EXT_CTRLS of one control with a number.
int cv4l2_set_control(int fd, uint32_t id, int is_wide, int64_t value);
/// VIDIOC_G_PRIORITY: the highest that anybody has (CV4L2_PRIORITY_…).
int cv4l2_get_priority(int fd, int *priority);
/// VIDIOC_S_PRIORITY, until the descriptor is closed.
int cv4l2_set_priority(int fd, int priority);
/// VIDIOC_G_FMT.
int cv4l2_get_format(int fd, int is_multiplanar, cv4l2_format *format);
/// VIDIOC_S_FMT; `format` becomes what the driver has set.
int cv4l2_set_format(int fd, int is_multiplanar, cv4l2_format *format);
/// VIDIOC_G_PARM: seconds between two frames.
int cv4l2_get_interval(int fd, int is_multiplanar, uint32_t *numerator, uint32_t *denominator);
/// VIDIOC_S_PARM; the fraction becomes what the driver has set.
int cv4l2_set_interval(int fd, int is_multiplanar, uint32_t *numerator, uint32_t *denominator);
/// VIDIOC_G_STD: whether the analog standard has 525 lines, as NTSC has; 0 where there is no standard.
int cv4l2_has_525_lines(int fd);
/// VIDIOC_G_STD and VIDIOC_G_DV_TIMINGS: whether what comes in at the input has a size of its own.
int cv4l2_has_signal(int fd);
/// VIDIOC_CROPCAP: the shape of the pixels that are captured.
int cv4l2_pixel_aspect(int fd, int is_multiplanar, cv4l2_aspect *aspect);
/// VIDIOC_REQBUFS; `count` becomes what the driver gives, `capabilities` (may be NULL) what its queue can do.
int cv4l2_request(int fd, int is_multiplanar, int memory, uint32_t *count, uint32_t *capabilities);
/// A buffer's piece of memory; zeros where it has none with this number.
cv4l2_piece cv4l2_piece_at(cv4l2_buffer buffer, uint32_t index);
/// VIDIOC_QUERYBUF.
int cv4l2_query_buffer(int fd, int is_multiplanar, int memory, uint32_t index, cv4l2_buffer *buffer);
/// VIDIOC_EXPBUF: a DMA-BUF of the driver's buffer, for reading and writing; a new fd, or -1 with errno.
int cv4l2_export(int fd, int is_multiplanar, uint32_t index);
/// VIDIOC_QBUF; `dmabuf` and `length` count where the memory is CV4L2_DMABUF, which is in one piece.
int cv4l2_queue(int fd, int is_multiplanar, int memory, uint32_t index, int dmabuf, uint32_t length);
/// VIDIOC_DQBUF; -1 with EAGAIN while no buffer is full.
int cv4l2_dequeue(int fd, int is_multiplanar, int memory, cv4l2_buffer *buffer);
/// VIDIOC_STREAMON and VIDIOC_STREAMOFF.
int cv4l2_stream(int fd, int is_multiplanar, int is_on);

#endif

#define _GNU_SOURCE
#include "CV4L2.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

// The header repeats the kernel's numbers, so that a program in Swift sees them without its unions.
#define SAME(ours, kernels) _Static_assert((int)(ours) == (int)(kernels), #kernels)
SAME(CV4L2_MMAP, V4L2_MEMORY_MMAP);
SAME(CV4L2_DMABUF, V4L2_MEMORY_DMABUF);
SAME(CV4L2_FIELD_NONE, V4L2_FIELD_NONE);
SAME(CV4L2_FIELD_INTERLACED, V4L2_FIELD_INTERLACED);
SAME(CV4L2_FIELD_SEQ_BT, V4L2_FIELD_SEQ_BT);
SAME(CV4L2_FIELD_ALTERNATE, V4L2_FIELD_ALTERNATE);
SAME(CV4L2_FIELD_INTERLACED_BT, V4L2_FIELD_INTERLACED_BT);
SAME(CV4L2_FORMAT_COMPRESSED, V4L2_FMT_FLAG_COMPRESSED);
SAME(CV4L2_FORMAT_EMULATED, V4L2_FMT_FLAG_EMULATED);
SAME(CV4L2_BUFFER_ERROR, V4L2_BUF_FLAG_ERROR);
SAME(CV4L2_BUFFER_LAST, V4L2_BUF_FLAG_LAST);
SAME(CV4L2_CLOCK_MASK, V4L2_BUF_FLAG_TIMESTAMP_MASK);
SAME(CV4L2_CLOCK_MONOTONIC, V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC);
SAME(CV4L2_SUPPORTS_MMAP, V4L2_BUF_CAP_SUPPORTS_MMAP);
SAME(CV4L2_SUPPORTS_DMABUF, V4L2_BUF_CAP_SUPPORTS_DMABUF);
SAME(CV4L2_INTEGER, V4L2_CTRL_TYPE_INTEGER);
SAME(CV4L2_CLASS, V4L2_CTRL_TYPE_CTRL_CLASS);
SAME(CV4L2_INTEGER_MENU, V4L2_CTRL_TYPE_INTEGER_MENU);
SAME(CV4L2_CONTROL_DISABLED, V4L2_CTRL_FLAG_DISABLED);
SAME(CV4L2_CONTROL_READ_ONLY, V4L2_CTRL_FLAG_READ_ONLY);
SAME(CV4L2_CONTROL_INACTIVE, V4L2_CTRL_FLAG_INACTIVE);
SAME(CV4L2_CONTROL_WRITE_ONLY, V4L2_CTRL_FLAG_WRITE_ONLY);

// A signal does not end a call.
static int call(int fd, unsigned long request, void *argument) {
    int result;
    do result = ioctl(fd, request, argument);
    while (result == -1 && errno == EINTR);
    return result;
}

static uint32_t kind(int is_multiplanar) { return is_multiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE; }

// Copies a text of the kernel's, which always ends with a zero here.
static void text(char *target, size_t capacity, const void *source, size_t length) {
    size_t count = strnlen(source, length < capacity ? length : capacity - 1);
    if (count >= capacity) count = capacity - 1;
    memcpy(target, source, count);
    target[count] = 0;
}

int cv4l2_open(const char *path) { return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC); }

int cv4l2_group(const char *path, char *name, size_t capacity) {
    struct stat status;
    struct group group, *found = NULL;
    char buffer[4096];
    if (stat(path, &status) == -1) return -1;
    if (getgrgid_r(status.st_gid, &group, buffer, sizeof buffer, &found) != 0 || !found) return -1;
    text(name, capacity, found->gr_name, strlen(found->gr_name));
    return 0;
}

int cv4l2_query(int fd, cv4l2_identity *identity) {
    struct v4l2_capability found = {0};
    if (call(fd, VIDIOC_QUERYCAP, &found) == -1) return -1;
    uint32_t able = found.capabilities & V4L2_CAP_DEVICE_CAPS ? found.device_caps : found.capabilities;
    text(identity->driver, sizeof identity->driver, found.driver, sizeof found.driver);
    text(identity->card, sizeof identity->card, found.card, sizeof found.card);
    text(identity->bus, sizeof identity->bus, found.bus_info, sizeof found.bus_info);
    identity->is_multiplanar = !(able & V4L2_CAP_VIDEO_CAPTURE) && (able & V4L2_CAP_VIDEO_CAPTURE_MPLANE);
    identity->captures = (able & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) != 0;
    identity->streams = (able & V4L2_CAP_STREAMING) != 0;
    return 0;
}

int cv4l2_format_at(int fd, int is_multiplanar, uint32_t index, cv4l2_format_name *format) {
    struct v4l2_fmtdesc found = {.index = index, .type = kind(is_multiplanar)};
    if (call(fd, VIDIOC_ENUM_FMT, &found) == -1) return -1;
    format->fourcc = found.pixelformat;
    format->flags = found.flags;
    text(format->name, sizeof format->name, found.description, sizeof found.description);
    return 0;
}

int cv4l2_sizes_at(int fd, uint32_t fourcc, uint32_t index, cv4l2_sizes *sizes) {
    struct v4l2_frmsizeenum found = {.index = index, .pixel_format = fourcc};
    if (call(fd, VIDIOC_ENUM_FRAMESIZES, &found) == -1) return -1;
    sizes->is_fixed = found.type == V4L2_FRMSIZE_TYPE_DISCRETE;
    if (sizes->is_fixed) {
        sizes->min_width = sizes->max_width = found.discrete.width;
        sizes->min_height = sizes->max_height = found.discrete.height;
        sizes->step_width = sizes->step_height = 1;
    } else {
        sizes->min_width = found.stepwise.min_width;
        sizes->max_width = found.stepwise.max_width;
        sizes->min_height = found.stepwise.min_height;
        sizes->max_height = found.stepwise.max_height;
        sizes->step_width = found.stepwise.step_width;
        sizes->step_height = found.stepwise.step_height;
    }
    return 0;
}

int cv4l2_intervals_at(int fd, uint32_t fourcc, uint32_t width, uint32_t height, uint32_t index, cv4l2_intervals *intervals) {
    struct v4l2_frmivalenum found = {.index = index, .pixel_format = fourcc, .width = width, .height = height};
    if (call(fd, VIDIOC_ENUM_FRAMEINTERVALS, &found) == -1) return -1;
    intervals->is_fixed = found.type == V4L2_FRMIVAL_TYPE_DISCRETE;
    struct v4l2_fract shortest = intervals->is_fixed ? found.discrete : found.stepwise.min;
    struct v4l2_fract longest = intervals->is_fixed ? found.discrete : found.stepwise.max;
    intervals->min_numerator = shortest.numerator;
    intervals->min_denominator = shortest.denominator;
    intervals->max_numerator = longest.numerator;
    intervals->max_denominator = longest.denominator;
    return 0;
}

int cv4l2_control_after(int fd, uint32_t id, cv4l2_control *control) {
    struct v4l2_query_ext_ctrl found = {.id = id | V4L2_CTRL_FLAG_NEXT_CTRL};
    if (call(fd, VIDIOC_QUERY_EXT_CTRL, &found) == -1) return -1;
    control->id = found.id;
    control->type = found.type;
    control->flags = found.flags;
    text(control->name, sizeof control->name, found.name, sizeof found.name);
    control->minimum = found.minimum;
    control->maximum = found.maximum;
    control->fallback = found.default_value;
    control->step = found.step;
    return 0;
}

int cv4l2_menu_entry(int fd, uint32_t id, uint32_t index, char name[32], int64_t *number) {
    struct v4l2_querymenu found = {.id = id, .index = index};
    if (call(fd, VIDIOC_QUERYMENU, &found) == -1) return -1;
    // A name and a number share their memory; the caller knows which it is.
    text(name, 32, found.name, sizeof found.name);
    memcpy(number, found.name, sizeof *number);
    return 0;
}

static int exchange(int fd, unsigned long request, uint32_t id, int is_wide, int64_t *value) {
    struct v4l2_ext_control control = {.id = id};
    struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &control};
    if (is_wide) control.value64 = *value;
    else control.value = (int32_t)*value;
    if (call(fd, request, &controls) == -1) return -1;
    *value = is_wide ? control.value64 : control.value;
    return 0;
}

int cv4l2_get_control(int fd, uint32_t id, int is_wide, int64_t *value) { return exchange(fd, VIDIOC_G_EXT_CTRLS, id, is_wide, value); }

int cv4l2_set_control(int fd, uint32_t id, int is_wide, int64_t value) { return exchange(fd, VIDIOC_S_EXT_CTRLS, id, is_wide, &value); }

int cv4l2_get_priority(int fd, int *priority) {
    enum v4l2_priority found;
    if (call(fd, VIDIOC_G_PRIORITY, &found) == -1) return -1;
    *priority = (int)found;
    return 0;
}

int cv4l2_set_priority(int fd, int priority) {
    enum v4l2_priority wanted = (enum v4l2_priority)priority;
    return call(fd, VIDIOC_S_PRIORITY, &wanted);
}

static void take_format(const struct v4l2_format *found, cv4l2_format *format) {
    memset(format, 0, sizeof *format);
    if (found->type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE) {
        const struct v4l2_pix_format_mplane *pixels = &found->fmt.pix_mp;
        format->width = pixels->width;
        format->height = pixels->height;
        format->fourcc = pixels->pixelformat;
        format->field = pixels->field;
        format->colorspace = pixels->colorspace;
        format->ycbcr = pixels->ycbcr_enc;
        format->quantization = pixels->quantization;
        format->transfer = pixels->xfer_func;
        format->plane_count = pixels->num_planes;
        for (uint32_t i = 0; i < pixels->num_planes && i < CV4L2_PLANES; i++) {
            format->pitch[i] = pixels->plane_fmt[i].bytesperline;
            format->bytes[i] = pixels->plane_fmt[i].sizeimage;
        }
    } else {
        const struct v4l2_pix_format *pixels = &found->fmt.pix;
        format->width = pixels->width;
        format->height = pixels->height;
        format->fourcc = pixels->pixelformat;
        format->field = pixels->field;
        format->colorspace = pixels->colorspace;
        // Without the mark the members behind `priv` hold nothing.
        int is_extended = pixels->priv == V4L2_PIX_FMT_PRIV_MAGIC;
        format->ycbcr = is_extended ? pixels->ycbcr_enc : 0;
        format->quantization = is_extended ? pixels->quantization : 0;
        format->transfer = is_extended ? pixels->xfer_func : 0;
        format->plane_count = 1;
        format->pitch[0] = pixels->bytesperline;
        format->bytes[0] = pixels->sizeimage;
    }
}

int cv4l2_get_format(int fd, int is_multiplanar, cv4l2_format *format) {
    struct v4l2_format found = {.type = kind(is_multiplanar)};
    if (call(fd, VIDIOC_G_FMT, &found) == -1) return -1;
    take_format(&found, format);
    return 0;
}

int cv4l2_set_format(int fd, int is_multiplanar, cv4l2_format *format) {
    struct v4l2_format wanted = {.type = kind(is_multiplanar)};
    if (is_multiplanar) {
        wanted.fmt.pix_mp.width = format->width;
        wanted.fmt.pix_mp.height = format->height;
        wanted.fmt.pix_mp.pixelformat = format->fourcc;
        wanted.fmt.pix_mp.field = format->field;
        wanted.fmt.pix_mp.num_planes = (uint8_t)(format->plane_count > 0 ? format->plane_count : 1);
        for (int i = 0; i < CV4L2_PLANES; i++) wanted.fmt.pix_mp.plane_fmt[i].bytesperline = format->pitch[i];
    } else {
        wanted.fmt.pix.width = format->width;
        wanted.fmt.pix.height = format->height;
        wanted.fmt.pix.pixelformat = format->fourcc;
        wanted.fmt.pix.field = format->field;
        wanted.fmt.pix.bytesperline = format->pitch[0];
        wanted.fmt.pix.priv = V4L2_PIX_FMT_PRIV_MAGIC;
    }
    if (call(fd, VIDIOC_S_FMT, &wanted) == -1) return -1;
    take_format(&wanted, format);
    return 0;
}

static int parameters(int fd, int is_multiplanar, unsigned long request, uint32_t *numerator, uint32_t *denominator) {
    struct v4l2_streamparm found = {.type = kind(is_multiplanar)};
    found.parm.capture.timeperframe.numerator = *numerator;
    found.parm.capture.timeperframe.denominator = *denominator;
    if (call(fd, request, &found) == -1) return -1;
    *numerator = found.parm.capture.timeperframe.numerator;
    *denominator = found.parm.capture.timeperframe.denominator;
    return 0;
}

int cv4l2_get_interval(int fd, int is_multiplanar, uint32_t *numerator, uint32_t *denominator) {
    return parameters(fd, is_multiplanar, VIDIOC_G_PARM, numerator, denominator);
}

int cv4l2_set_interval(int fd, int is_multiplanar, uint32_t *numerator, uint32_t *denominator) {
    return parameters(fd, is_multiplanar, VIDIOC_S_PARM, numerator, denominator);
}

int cv4l2_has_525_lines(int fd) {
    v4l2_std_id standard = 0;
    return call(fd, VIDIOC_G_STD, &standard) == 0 && (standard & V4L2_STD_525_60) != 0;
}

int cv4l2_has_signal(int fd) {
    v4l2_std_id standard = 0;
    struct v4l2_dv_timings timings = {0};
    return call(fd, VIDIOC_G_STD, &standard) == 0 || call(fd, VIDIOC_G_DV_TIMINGS, &timings) == 0;
}

int cv4l2_pixel_aspect(int fd, int is_multiplanar, cv4l2_aspect *aspect) {
    struct v4l2_cropcap found = {.type = kind(is_multiplanar)};
    if (call(fd, VIDIOC_CROPCAP, &found) == -1) return -1;
    aspect->width = found.defrect.width;
    aspect->height = found.defrect.height;
    // The kernel's ratio is that of the height to the width.
    aspect->numerator = found.pixelaspect.denominator;
    aspect->denominator = found.pixelaspect.numerator;
    return 0;
}

int cv4l2_request(int fd, int is_multiplanar, int memory, uint32_t *count, uint32_t *capabilities) {
    struct v4l2_requestbuffers wanted = {.count = *count, .type = kind(is_multiplanar), .memory = (uint32_t)memory};
    if (call(fd, VIDIOC_REQBUFS, &wanted) == -1) return -1;
    *count = wanted.count;
    if (capabilities) *capabilities = wanted.capabilities;
    return 0;
}

// A buffer for one call, with room for the planes of the multi-planar interface.
static struct v4l2_buffer prepared(int is_multiplanar, int memory, uint32_t index, struct v4l2_plane *planes) {
    struct v4l2_buffer buffer = {.index = index, .type = kind(is_multiplanar), .memory = (uint32_t)memory};
    if (is_multiplanar) {
        memset(planes, 0, sizeof *planes * VIDEO_MAX_PLANES);
        buffer.m.planes = planes;
        buffer.length = VIDEO_MAX_PLANES;
    }
    return buffer;
}

static void take_buffer(const struct v4l2_buffer *found, int is_multiplanar, cv4l2_buffer *buffer) {
    memset(buffer, 0, sizeof *buffer);
    buffer->index = found->index;
    buffer->flags = found->flags;
    buffer->field = found->field;
    buffer->sequence = found->sequence;
    // Without a sign: a driver's nonsense wraps around instead of being undefined.
    buffer->time = (int64_t)((uint64_t)found->timestamp.tv_sec * 1000000000 + (uint64_t)found->timestamp.tv_usec * 1000);
    if (is_multiplanar) {
        // The kernel has set the length to the number of pieces.
        for (uint32_t i = 0; i < found->length && i < CV4L2_PLANES; i++) {
            const struct v4l2_plane *plane = &found->m.planes[i];
            buffer->pieces[i] = (cv4l2_piece){
                .offset = plane->data_offset, .used = plane->bytesused, .length = plane->length, .map_offset = plane->m.mem_offset};
        }
    } else {
        buffer->pieces[0] = (cv4l2_piece){.used = found->bytesused, .length = found->length, .map_offset = found->m.offset};
    }
}

cv4l2_piece cv4l2_piece_at(cv4l2_buffer buffer, uint32_t index) {
    return index < CV4L2_PLANES ? buffer.pieces[index] : (cv4l2_piece){0};
}

int cv4l2_query_buffer(int fd, int is_multiplanar, int memory, uint32_t index, cv4l2_buffer *buffer) {
    struct v4l2_plane planes[VIDEO_MAX_PLANES];
    struct v4l2_buffer found = prepared(is_multiplanar, memory, index, planes);
    if (call(fd, VIDIOC_QUERYBUF, &found) == -1) return -1;
    take_buffer(&found, is_multiplanar, buffer);
    return 0;
}

int cv4l2_export(int fd, int is_multiplanar, uint32_t index) {
    struct v4l2_exportbuffer wanted = {.type = kind(is_multiplanar), .index = index, .flags = O_RDWR | O_CLOEXEC};
    return call(fd, VIDIOC_EXPBUF, &wanted) == -1 ? -1 : wanted.fd;
}

int cv4l2_queue(int fd, int is_multiplanar, int memory, uint32_t index, int dmabuf, uint32_t length) {
    struct v4l2_plane planes[VIDEO_MAX_PLANES];
    struct v4l2_buffer buffer = prepared(is_multiplanar, memory, index, planes);
    if (memory == V4L2_MEMORY_DMABUF) {
        if (is_multiplanar) {
            buffer.length = 1;
            planes[0].m.fd = dmabuf;
            planes[0].length = length;
        } else {
            buffer.m.fd = dmabuf;
            buffer.length = length;
        }
    }
    return call(fd, VIDIOC_QBUF, &buffer);
}

int cv4l2_dequeue(int fd, int is_multiplanar, int memory, cv4l2_buffer *buffer) {
    struct v4l2_plane planes[VIDEO_MAX_PLANES];
    struct v4l2_buffer found = prepared(is_multiplanar, memory, 0, planes);
    if (call(fd, VIDIOC_DQBUF, &found) == -1) return -1;
    take_buffer(&found, is_multiplanar, buffer);
    return 0;
}

int cv4l2_stream(int fd, int is_multiplanar, int is_on) {
    int type = (int)kind(is_multiplanar);
    return call(fd, is_on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type);
}

// Images and buffers: how an application reads a surface, and how it hands parameters over.
#include "driver.h"
#include <stdlib.h>
#include <string.h>

Buffer *buffer_new(VABufferType type, unsigned size, unsigned count, const void *data) {
    Buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer || !(buffer->data = calloc(count ? count : 1, size ? size : 1))) {
        free(buffer);
        return NULL;
    }
    buffer->type = type;
    buffer->element_size = size;
    buffer->count = count;
    buffer->segment.buf = buffer->data;
    if (data) memcpy(buffer->data, data, (size_t)size * count);
    return buffer;
}

void buffer_free(Buffer *buffer) {
    encode_free(buffer->encode);
    if (!buffer->is_lent) free(buffer->data);
    free(buffer);
}

static VAStatus create_buffer(VADriverContextP ctx, VAContextID context, VABufferType type, unsigned size, unsigned count, void *data,
                              VABufferID *id) {
    (void)context;
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    Buffer *buffer = buffer_new(type, size, count, data);
    if (!buffer) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    *id = driver_add(driver, buffer, kind_buffer);
    pthread_mutex_unlock(&driver->lock);
    return VA_STATUS_SUCCESS;
}

static VAStatus set_count(VADriverContextP ctx, VABufferID id, unsigned count) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    Buffer *buffer = driver_object(driver, id, kind_buffer);
    const bool fits = buffer && count <= buffer->count;
    if (fits) buffer->count = count;
    pthread_mutex_unlock(&driver->lock);
    return !buffer ? VA_STATUS_ERROR_INVALID_BUFFER : fits ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_PARAMETER;
}

static VAStatus map_buffer(VADriverContextP ctx, VABufferID id, void **address) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    Buffer *buffer = driver_object(driver, id, kind_buffer);
    VAStatus status = buffer ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
    if (buffer && buffer->type == VAEncCodedBufferType) {
        status = driver->is_gone ? VA_STATUS_ERROR_OPERATION_FAILED : encode_finish(driver, buffer);
        *address = &buffer->segment;
    } else if (buffer) {
        *address = buffer->data;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

/// Waits for what is encoded into the buffer.
static VAStatus sync_buffer(VADriverContextP ctx, VABufferID id, uint64_t timeout) {
    (void)timeout;
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Buffer *buffer = driver_object(driver, id, kind_buffer);
    VAStatus status = buffer ? encode_finish(driver, buffer) : VA_STATUS_ERROR_INVALID_BUFFER;
    pthread_mutex_unlock(&driver->lock);
    return status;
}

static VAStatus unmap_buffer(VADriverContextP ctx, VABufferID id) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    const bool is_known = driver_object(driver, id, kind_buffer) != NULL;
    pthread_mutex_unlock(&driver->lock);
    return is_known ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

static void remove_buffer(Driver *driver, VABufferID id, Buffer *buffer) {
    driver_remove(driver, id);
    buffer_free(buffer);
}

static VAStatus destroy_buffer(VADriverContextP ctx, VABufferID id) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    Buffer *buffer = driver_object(driver, id, kind_buffer);
    if (buffer) remove_buffer(driver, id, buffer);
    pthread_mutex_unlock(&driver->lock);
    return buffer ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

static const VAImageFormat formats[] = {
    {.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12},
    {.fourcc = VA_FOURCC_P010, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 24},
};

static VAStatus query_formats(VADriverContextP ctx, VAImageFormat *list, int *count) {
    (void)ctx;
    memcpy(list, formats, sizeof formats);
    *count = sizeof formats / sizeof *formats;
    return VA_STATUS_SUCCESS;
}

/// An image like the surface `shape`, over its memory where `lends`. The lock is held.
static void add_image(Driver *driver, Image *image, Buffer *buffer, const Surface *shape, VAImage *result) {
    VAImage *va = &image->image;
    surface_layout(shape, va->offsets, va->pitches);
    va->format = formats[shape->fourcc == VA_FOURCC_P010];
    va->width = (uint16_t)shape->width;
    va->height = (uint16_t)shape->height;
    va->data_size = (uint32_t)shape->byte_count;
    va->num_planes = 2;
    buffer->type = VAImageBufferType;
    buffer->element_size = va->data_size;
    buffer->count = 1;
    va->buf = driver_add(driver, buffer, kind_buffer);
    va->image_id = driver_add(driver, image, kind_image);
    *result = *va;
}

static VAStatus create_image(VADriverContextP ctx, VAImageFormat *format, int width, int height, VAImage *result) {
    Driver *driver = DRIVER(ctx);
    if (format->fourcc != VA_FOURCC_NV12 && format->fourcc != VA_FOURCC_P010) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
    if (width <= 0 || height <= 0 || width > 8192 || height > 8192) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
    Driver none = {.udmabuf = -1};
    Surface *shape = surface_new(&none, format->fourcc, (uint32_t)width, (uint32_t)height);
    Image *image = calloc(1, sizeof *image);
    Buffer *buffer = calloc(1, sizeof *buffer);
    if (!shape || !image || !buffer || !(buffer->data = calloc(1, shape->byte_count))) {
        if (shape) surface_free(shape);
        free(image);
        free(buffer);
        return VA_STATUS_ERROR_ALLOCATION_FAILED;
    }
    pthread_mutex_lock(&driver->lock);
    add_image(driver, image, buffer, shape, result);
    pthread_mutex_unlock(&driver->lock);
    surface_free(shape);
    return VA_STATUS_SUCCESS;
}

static VAStatus derive_image(VADriverContextP ctx, VASurfaceID id, VAImage *result) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    Image *image = calloc(1, sizeof *image);
    Buffer *buffer = calloc(1, sizeof *buffer);
    pthread_mutex_lock(&driver->lock);
    Surface *surface = driver_object(driver, id, kind_surface);
    const bool works = surface && image && buffer;
    if (works) {
        buffer->data = surface->base;
        buffer->is_lent = true;
        add_image(driver, image, buffer, surface, result);
    }
    pthread_mutex_unlock(&driver->lock);
    if (works) return VA_STATUS_SUCCESS;
    free(image);
    free(buffer);
    return surface ? VA_STATUS_ERROR_ALLOCATION_FAILED : VA_STATUS_ERROR_INVALID_SURFACE;
}

static VAStatus destroy_image(VADriverContextP ctx, VAImageID id) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    Image *image = driver_object(driver, id, kind_image);
    if (image) {
        Buffer *buffer = driver_object(driver, image->image.buf, kind_buffer);
        if (buffer) remove_buffer(driver, image->image.buf, buffer);
        driver_remove(driver, id);
        free(image);
    }
    pthread_mutex_unlock(&driver->lock);
    return image ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_IMAGE;
}

/// Copies a part of a picture between a surface and an image; both begin at the same place in the picture.
static VAStatus copy(VADriverContextP ctx, VASurfaceID surface_id, VAImageID image_id, uint32_t width, uint32_t height, bool reads) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Surface *surface = driver_object(driver, surface_id, kind_surface);
    Image *image = driver_object(driver, image_id, kind_image);
    Buffer *buffer = image ? driver_object(driver, image->image.buf, kind_buffer) : NULL;
    VAStatus status = !surface ? VA_STATUS_ERROR_INVALID_SURFACE : !buffer ? VA_STATUS_ERROR_INVALID_IMAGE : VA_STATUS_SUCCESS;
    if (!status && (image->image.format.fourcc != surface->fourcc || width > image->image.width || height > image->image.height ||
                    width > surface->width || height > surface->height))
        status = VA_STATUS_ERROR_INVALID_PARAMETER;
    if (!status) {
        uint32_t offsets[2], pitches[2];
        surface_layout(surface, offsets, pitches);
        surface_access(surface, true);
        const size_t row = (surface->fourcc == VA_FOURCC_P010 ? 4 : 2) * (size_t)((width + 1) / 2);
        for (unsigned plane = 0; plane < 2; plane++) {
            for (uint32_t y = 0; y < (plane ? (height + 1) / 2 : height); y++) {
                uint8_t *ours = surface->base + offsets[plane] + (size_t)y * pitches[plane];
                uint8_t *theirs = buffer->data + image->image.offsets[plane] + (size_t)y * image->image.pitches[plane];
                if (reads) memcpy(theirs, ours, row); else memcpy(ours, theirs, row);
            }
        }
        surface_access(surface, false);
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

static VAStatus get_image(VADriverContextP ctx, VASurfaceID surface, int x, int y, unsigned width, unsigned height, VAImageID image) {
    return x || y ? VA_STATUS_ERROR_INVALID_PARAMETER : copy(ctx, surface, image, width, height, true);
}

static VAStatus put_image(VADriverContextP ctx, VASurfaceID surface, VAImageID image, int sx, int sy, unsigned sw, unsigned sh, int dx, int dy,
                          unsigned dw, unsigned dh) {
    if (sx || sy || dx || dy || sw != dw || sh != dh) return VA_STATUS_ERROR_INVALID_PARAMETER;
    return copy(ctx, surface, image, sw, sh, false);
}

void table_images(struct VADriverVTable *table) {
    table->vaCreateBuffer = create_buffer;
    table->vaBufferSetNumElements = set_count;
    table->vaMapBuffer = map_buffer;
    table->vaUnmapBuffer = unmap_buffer;
    table->vaDestroyBuffer = destroy_buffer;
    table->vaQueryImageFormats = query_formats;
#if VA_CHECK_VERSION(1, 9, 0)
    table->vaSyncBuffer = sync_buffer;
#endif
    table->vaCreateImage = create_image;
    table->vaDeriveImage = derive_image;
    table->vaDestroyImage = destroy_image;
    table->vaGetImage = get_image;
    table->vaPutImage = put_image;
}

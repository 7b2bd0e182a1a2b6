// Surfaces: NV12 or P010 in a memfd, as a DMA-BUF where the kernel has udmabuf.
#define _GNU_SOURCE
#include "driver.h"
#include <errno.h>
#include <fcntl.h>
#include <libavutil/adler32.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <va/va_drmcommon.h>

#define FOURCC(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/// I915_FORMAT_MOD_X_TILED.
static const uint64_t modifier_tiled = 0x0100000000000001;

Surface *surface_new(Driver *driver, uint32_t fourcc, uint32_t width, uint32_t height) {
    Surface *surface = calloc(1, sizeof *surface);
    if (!surface) return NULL;
    surface->fourcc = fourcc;
    surface->width = width;
    surface->height = height;
    // Rows of 256 bytes and a chroma plane at a multiple of 32 rows: what hardware asks for, and what software does not expect.
    const uint32_t pitch = (width * (fourcc == VA_FOURCC_P010 ? 2 : 1) + 255) & ~255u, rows = (height + 31) & ~31u;
    surface->pitches[0] = surface->pitches[1] = pitch;
    surface->offsets[1] = pitch * rows;
    surface->byte_count = ((size_t)pitch * rows * 3 / 2 + 4095) & ~(size_t)4095;
    surface->base = MAP_FAILED;
    surface->fd = memfd_create("va-surface", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (surface->fd < 0 || ftruncate(surface->fd, (off_t)surface->byte_count) < 0 || fcntl(surface->fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
        goto failed;
    surface->base = mmap(NULL, surface->byte_count, PROT_READ | PROT_WRITE, MAP_SHARED, surface->fd, 0);
    if (surface->base == MAP_FAILED) goto failed;
    if (driver->udmabuf >= 0) {
        struct udmabuf_create request = {.memfd = (uint32_t)surface->fd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = surface->byte_count};
        int fd = ioctl(driver->udmabuf, UDMABUF_CREATE, &request);
        // A confined process may not: its surfaces stay what they are.
        if (fd < 0 && errno != EPERM) goto failed;
        if (fd >= 0) {
            close(surface->fd);
            surface->fd = fd;
            surface->is_dmabuf = true;
        }
    }
    return surface;
failed:
    surface_free(surface);
    return NULL;
}

void surface_free(Surface *surface) {
    if (surface->base != MAP_FAILED) munmap(surface->base, surface->byte_count);
    if (surface->fd >= 0) close(surface->fd);
    decoder_release(surface->decoder);
    free(surface);
}

void surface_layout(const Surface *surface, uint32_t offsets[2], uint32_t pitches[2]) {
    memcpy(offsets, surface->offsets, sizeof surface->offsets);
    memcpy(pitches, surface->pitches, sizeof surface->pitches);
}

void surface_access(const Surface *surface, bool begins) {
    if (!surface->is_dmabuf) return;
    struct dma_buf_sync sync = {(begins ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END) | (surface->is_imported ? DMA_BUF_SYNC_READ : DMA_BUF_SYNC_RW)};
    ioctl(surface->fd, DMA_BUF_IOCTL_SYNC, &sync);
}

static uint32_t smaller(uint32_t a, int b) { return b < 0 || a < (uint32_t)b ? a : (uint32_t)b; }

static void interleave8(uint8_t *to, const uint8_t *u, const uint8_t *v, uint32_t count) {
    for (uint32_t x = 0; x < count; x++) {
        to[2 * x] = u[x];
        to[2 * x + 1] = v[x];
    }
}

static void interleave16(uint16_t *to, const uint16_t *u, const uint16_t *v, uint32_t count) {
    for (uint32_t x = 0; x < count; x++) {
        to[2 * x] = (uint16_t)(u[x] << 6);
        to[2 * x + 1] = (uint16_t)(v[x] << 6);
    }
}

bool surface_store(Surface *surface, const AVFrame *picture) {
    if (surface->is_imported) return false;
    const bool wide = surface->fourcc == VA_FOURCC_P010, gray = picture->format == AV_PIX_FMT_GRAY8;
    if (wide ? picture->format != AV_PIX_FMT_YUV420P10LE
             : picture->format != AV_PIX_FMT_YUV420P && picture->format != AV_PIX_FMT_YUVJ420P && !gray)
        return false;
    const uint32_t width = smaller(surface->width, picture->width), height = smaller(surface->height, picture->height);
    surface_access(surface, true);
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *from = picture->data[0] + (ptrdiff_t)y * picture->linesize[0];
        uint8_t *to = surface->base + surface->offsets[0] + (size_t)y * surface->pitches[0];
        if (wide)
            for (uint32_t x = 0; x < width; x++) ((uint16_t *)to)[x] = (uint16_t)(((const uint16_t *)from)[x] << 6);
        else
            memcpy(to, from, width);
    }
    for (uint32_t y = 0; y < (height + 1) / 2; y++) {
        uint8_t *to = surface->base + surface->offsets[1] + (size_t)y * surface->pitches[1];
        const uint32_t count = (width + 1) / 2;
        if (gray) {
            memset(to, 128, 2 * count);
            continue;
        }
        const uint8_t *u = picture->data[1] + (ptrdiff_t)y * picture->linesize[1], *v = picture->data[2] + (ptrdiff_t)y * picture->linesize[2];
        if (wide)
            interleave16((uint16_t *)to, (const uint16_t *)u, (const uint16_t *)v, count);
        else
            interleave8(to, u, v, count);
    }
    surface_access(surface, false);
    return true;
}

Surface *surface_import(Driver *driver, const VADRMPRIMESurfaceDescriptor *from, uint32_t width, uint32_t height) {
    const bool is_split = from->num_layers == 2;
    if (driver->cannot_import || from->num_objects != 1 || (from->fourcc != VA_FOURCC_NV12 && from->fourcc != VA_FOURCC_P010)) return NULL;
    if (!is_split && (from->num_layers != 1 || from->layers[0].num_planes != 2)) return NULL;
    const uint64_t modifier = from->objects[0].drm_format_modifier;
    if (modifier && !(driver->is_tiled && modifier == modifier_tiled)) return NULL;
    if (width > from->width || height > from->height) return NULL;
    Surface *surface = calloc(1, sizeof *surface);
    if (!surface) return NULL;
    surface->fourcc = from->fourcc;
    surface->width = width;
    surface->height = height;
    surface->is_imported = true;
    surface->base = MAP_FAILED;
    surface->fd = fcntl(from->objects[0].fd, F_DUPFD_CLOEXEC, 0);
    const off_t size = surface->fd < 0 ? -1 : lseek(surface->fd, 0, SEEK_END);
    if (size <= 0) goto failed;
    surface->byte_count = (size_t)size;
    const size_t row = (from->fourcc == VA_FOURCC_P010 ? 4 : 2) * (size_t)((width + 1) / 2);
    for (unsigned plane = 0; plane < 2; plane++) {
        const unsigned layer = is_split ? plane : 0, index = is_split ? 0 : plane, rows = plane ? (height + 1) / 2 : height;
        surface->offsets[plane] = from->layers[layer].offset[index];
        surface->pitches[plane] = from->layers[layer].pitch[index];
        if (surface->pitches[plane] < row || surface->offsets[plane] + (size_t)surface->pitches[plane] * (rows - 1) + row > surface->byte_count)
            goto failed;
    }
    surface->base = mmap(NULL, surface->byte_count, PROT_READ, MAP_SHARED, surface->fd, 0);
    if (surface->base == MAP_FAILED) goto failed;
    struct dma_buf_sync sync = {DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
    surface->is_dmabuf = ioctl(surface->fd, DMA_BUF_IOCTL_SYNC, &sync) == 0;
    surface_access(surface, false);
    return surface;
failed:
    surface_free(surface);
    return NULL;
}

uint32_t surface_checksum(const Surface *surface) {
    surface_access(surface, true);
    uint32_t sum = (uint32_t)av_adler32_update(1, surface->base, surface->byte_count);
    surface_access(surface, false);
    return sum;
}

// ---- libva's functions ----

static VAStatus create_surfaces2(VADriverContextP ctx, unsigned format, unsigned width, unsigned height, VASurfaceID *ids, unsigned count,
                                 VASurfaceAttrib *attributes, unsigned attribute_count) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    if (!width || !height || width > 8192 || height > 8192) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
    const VADRMPRIMESurfaceDescriptor *foreign = NULL;
    bool is_foreign = false;
    uint32_t fourcc = format == VA_RT_FORMAT_YUV420_10 ? VA_FOURCC_P010 : VA_FOURCC_NV12;
    for (unsigned i = 0; i < attribute_count; i++) {
        if (attributes[i].type == VASurfaceAttribPixelFormat) fourcc = (uint32_t)attributes[i].value.value.i;
        if (attributes[i].type == VASurfaceAttribMemoryType) {
            is_foreign = attributes[i].value.value.i == (int)VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2;
            if (!is_foreign && attributes[i].value.value.i != (int)VA_SURFACE_ATTRIB_MEM_TYPE_VA) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
        }
        if (attributes[i].type == VASurfaceAttribExternalBufferDescriptor) foreign = attributes[i].value.value.p;
    }
    if (is_foreign && (!foreign || count != 1)) return VA_STATUS_ERROR_INVALID_PARAMETER;
    if (fourcc != VA_FOURCC_NV12 && fourcc != VA_FOURCC_P010) return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
    pthread_mutex_lock(&driver->lock);
    VAStatus status = VA_STATUS_SUCCESS;
    unsigned made = 0;
    while (made < count) {
        Surface *surface = driver->surfaces >= driver->most_surfaces ? NULL
            : is_foreign ? surface_import(driver, foreign, width, height) : surface_new(driver, fourcc, width, height);
        if (!surface) {
            status = VA_STATUS_ERROR_ALLOCATION_FAILED;
            break;
        }
        driver->surfaces++;
        ids[made++] = driver_add(driver, surface, kind_surface);
    }
    while (status && made > 0) {
        Surface *surface = driver_object(driver, ids[--made], kind_surface);
        driver_remove(driver, ids[made]);
        surface_free(surface);
        driver->surfaces--;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

static VAStatus create_surfaces(VADriverContextP ctx, int width, int height, int format, int count, VASurfaceID *ids) {
    return create_surfaces2(ctx, (unsigned)format, (unsigned)width, (unsigned)height, ids, (unsigned)count, NULL, 0);
}

static VAStatus destroy_surfaces(VADriverContextP ctx, VASurfaceID *ids, int count) {
    Driver *driver = DRIVER(ctx);
    VAStatus status = VA_STATUS_SUCCESS;
    pthread_mutex_lock(&driver->lock);
    for (int i = 0; i < count; i++) {
        Surface *surface = driver_object(driver, ids[i], kind_surface);
        if (!surface) {
            status = VA_STATUS_ERROR_INVALID_SURFACE;
            continue;
        }
        driver_remove(driver, ids[i]);
        surface_free(surface);
        driver->surfaces--;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

static VAStatus export_surface(VADriverContextP ctx, VASurfaceID id, uint32_t type, uint32_t flags, void *result) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    if (type != VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    pthread_mutex_lock(&driver->lock);
    Surface *surface = driver_object(driver, id, kind_surface);
    int fd = surface ? fcntl(surface->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd >= 0) {
        VADRMPRIMESurfaceDescriptor *out = result;
        const bool wide = surface->fourcc == VA_FOURCC_P010;
        uint32_t offsets[2], pitches[2];
        surface_layout(surface, offsets, pitches);
        memset(out, 0, sizeof *out);
        out->fourcc = surface->fourcc;
        out->width = surface->width;
        out->height = surface->height;
        out->num_objects = 1;
        out->objects[0].fd = fd;
        out->objects[0].size = (uint32_t)surface->byte_count;
        out->objects[0].drm_format_modifier = driver->is_tiled ? modifier_tiled : 0;
        const bool separate = !(flags & VA_EXPORT_SURFACE_COMPOSED_LAYERS);
        out->num_layers = separate ? 2 : 1;
        for (unsigned plane = 0; plane < 2; plane++) {
            const unsigned layer = separate ? plane : 0, index = separate ? 0 : plane;
            out->layers[layer].drm_format = !separate ? surface->fourcc
                : plane == 0 ? (wide ? FOURCC('R', '1', '6', ' ') : FOURCC('R', '8', ' ', ' '))
                             : (wide ? FOURCC('G', 'R', '3', '2') : FOURCC('G', 'R', '8', '8'));
            out->layers[layer].num_planes = index + 1;
            out->layers[layer].offset[index] = offsets[plane];
            out->layers[layer].pitch[index] = pitches[plane];
        }
    }
    pthread_mutex_unlock(&driver->lock);
    return !surface ? VA_STATUS_ERROR_INVALID_SURFACE : fd < 0 ? VA_STATUS_ERROR_OPERATION_FAILED : VA_STATUS_SUCCESS;
}

static VAStatus query_attributes(VADriverContextP ctx, VAConfigID id, VASurfaceAttrib *list, unsigned *count) {
    Driver *driver = DRIVER(ctx);
    Config *config = driver_object(driver, id, kind_config);
    if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
    const int fourcc = config->profile == VAProfileVP9Profile2 ? (int)VA_FOURCC_P010 : (int)VA_FOURCC_NV12;
    const struct {
        VASurfaceAttribType type;
        uint32_t flags;
        int value;
    } all[] = {
        {VASurfaceAttribPixelFormat, VA_SURFACE_ATTRIB_GETTABLE | VA_SURFACE_ATTRIB_SETTABLE, fourcc},
        {VASurfaceAttribMinWidth, VA_SURFACE_ATTRIB_GETTABLE, 1},
        {VASurfaceAttribMinHeight, VA_SURFACE_ATTRIB_GETTABLE, 1},
        {VASurfaceAttribMaxWidth, VA_SURFACE_ATTRIB_GETTABLE, 8192},
        {VASurfaceAttribMaxHeight, VA_SURFACE_ATTRIB_GETTABLE, 8192},
        {VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_GETTABLE | VA_SURFACE_ATTRIB_SETTABLE,
         VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2},
    };
    const unsigned total = sizeof all / sizeof *all;
    for (unsigned i = 0; list && i < total && i < *count; i++) {
        list[i].type = all[i].type;
        list[i].flags = all[i].flags;
        list[i].value.type = VAGenericValueTypeInteger;
        list[i].value.value.i = all[i].value;
    }
    const bool short_list = list && *count < total;
    *count = total;
    return short_list ? VA_STATUS_ERROR_MAX_NUM_EXCEEDED : VA_STATUS_SUCCESS;
}

void table_surfaces(struct VADriverVTable *table) {
    table->vaCreateSurfaces = create_surfaces;
    table->vaCreateSurfaces2 = create_surfaces2;
    table->vaDestroySurfaces = destroy_surfaces;
    table->vaQuerySurfaceAttributes = query_attributes;
    table->vaExportSurfaceHandle = export_surface;
}

// Door to libva. Holds what Swift's importer drops; no policy.
#ifndef CVA_SHIM_H
#define CVA_SHIM_H

#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>
#include <va/va_str.h>

static const VASurfaceID cva_invalid_surface = VA_INVALID_SURFACE;
static const uint32_t cva_rt_yuv420 = VA_RT_FORMAT_YUV420, cva_rt_yuv420_10 = VA_RT_FORMAT_YUV420_10;
static const uint32_t cva_attribute_unsupported = VA_ATTRIB_NOT_SUPPORTED, cva_packed_sequence_headers = VA_ENC_PACKED_HEADER_SEQUENCE;
static const uint32_t cva_fourcc_nv12 = VA_FOURCC_NV12, cva_fourcc_p010 = VA_FOURCC_P010;

/// vaSetErrorCallback and vaSetInfoCallback without callbacks: libva then prints nothing.
static inline void cva_silence(VADisplay display) {
    vaSetErrorCallback(display, NULL, NULL);
    vaSetInfoCallback(display, NULL, NULL);
}

/// vaCreateSurfaces for one surface of a pixel format that a decoder writes and others read.
static inline VAStatus cva_create_surface(VADisplay display, uint32_t rt_format, uint32_t fourcc, unsigned width, unsigned height, VASurfaceID *id) {
    VASurfaceAttrib format = {
        .type = VASurfaceAttribPixelFormat, .flags = VA_SURFACE_ATTRIB_SETTABLE,
        .value = {.type = VAGenericValueTypeInteger, .value = {.i = (int)fourcc}}};
    return vaCreateSurfaces(display, rt_format, width, height, id, 1, &format, 1);
}

/// A surface over one piece of memory that somebody else has made (DRM PRIME 2), with the two planes of NV12 or P010 in it.
static inline VAStatus cva_import_surface(VADisplay display, uint32_t rt_format, uint32_t fourcc, unsigned width, unsigned height, int fd,
                                          uint32_t size, uint64_t modifier, const uint32_t offsets[2], const uint32_t pitches[2],
                                          VASurfaceID *id) {
    VADRMPRIMESurfaceDescriptor memory = {
        .fourcc = fourcc, .width = width, .height = height, .num_objects = 1,
        .objects = {{.fd = fd, .size = size, .drm_format_modifier = modifier}}, .num_layers = 1,
        .layers = {{.drm_format = fourcc, .num_planes = 2, .offset = {offsets[0], offsets[1]}, .pitch = {pitches[0], pitches[1]}}}};
    VASurfaceAttrib attributes[] = {
        {.type = VASurfaceAttribMemoryType, .flags = VA_SURFACE_ATTRIB_SETTABLE,
         .value = {.type = VAGenericValueTypeInteger, .value = {.i = (int)VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2}}},
        {.type = VASurfaceAttribExternalBufferDescriptor, .flags = VA_SURFACE_ATTRIB_SETTABLE,
         .value = {.type = VAGenericValueTypePointer, .value = {.p = &memory}}},
        {.type = VASurfaceAttribPixelFormat, .flags = VA_SURFACE_ATTRIB_SETTABLE,
         .value = {.type = VAGenericValueTypeInteger, .value = {.i = (int)fourcc}}}};
    return vaCreateSurfaces(display, rt_format, width, height, id, 1, attributes, 3);
}

/// vaSyncSurface2 in nanoseconds; where the driver has no such function, vaSyncSurface, which waits for ever.
static inline VAStatus cva_sync(VADisplay display, VASurfaceID id, uint64_t timeout) {
#if VA_CHECK_VERSION(1, 9, 0)
    VAStatus status = vaSyncSurface2(display, id, timeout);
    if (status != VA_STATUS_ERROR_UNIMPLEMENTED) return status;
#endif
    return vaSyncSurface(display, id);
}

/// A surface as vaExportSurfaceHandle gives it, one layer a plane. The arrays of libva's own structure do not reach Swift.
typedef struct {
    uint32_t fourcc, objects, layers;
    int fds[4];
    uint32_t sizes[4];
    uint64_t modifiers[4];
    uint32_t formats[4], object[4], offsets[4], pitches[4];
} cva_export;

static inline VAStatus cva_export_surface(VADisplay display, VASurfaceID id, cva_export *out) {
    VADRMPRIMESurfaceDescriptor va;
    VAStatus status = vaExportSurfaceHandle(
        display, id, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2, VA_EXPORT_SURFACE_READ_WRITE | VA_EXPORT_SURFACE_SEPARATE_LAYERS, &va);
    if (status != VA_STATUS_SUCCESS) return status;
    out->fourcc = va.fourcc;
    out->objects = va.num_objects;
    out->layers = va.num_layers;
    for (unsigned i = 0; i < 4; i++) {
        out->fds[i] = i < va.num_objects ? va.objects[i].fd : -1;
        out->sizes[i] = i < va.num_objects ? va.objects[i].size : 0;
        out->modifiers[i] = i < va.num_objects ? va.objects[i].drm_format_modifier : 0;
        out->formats[i] = i < va.num_layers ? va.layers[i].drm_format : 0;
        out->object[i] = i < va.num_layers ? va.layers[i].object_index[0] : 0;
        out->offsets[i] = i < va.num_layers ? va.layers[i].offset[0] : 0;
        out->pitches[i] = i < va.num_layers ? va.layers[i].pitch[0] : 0;
    }
    return status;
}

/// Copies a surface's pixels through an image of libva's, row by row, to where `offsets` and `pitches` say.
static inline VAStatus cva_read(VADisplay display, VASurfaceID id, uint32_t fourcc, unsigned width, unsigned height, uint8_t *target,
                                const uint32_t offsets[2], const uint32_t pitches[2]) {
    VAImageFormat format = {.fourcc = fourcc, .byte_order = VA_LSB_FIRST, .bits_per_pixel = fourcc == VA_FOURCC_P010 ? 24 : 12};
    VAImage image;
    VAStatus status = vaCreateImage(display, &format, (int)width, (int)height, &image);
    if (status != VA_STATUS_SUCCESS) return status;
    status = vaGetImage(display, id, 0, 0, width, height, image.image_id);
    void *address = NULL;
    if (status == VA_STATUS_SUCCESS) status = vaMapBuffer(display, image.buf, &address);
    if (status == VA_STATUS_SUCCESS) {
        const unsigned sample = fourcc == VA_FOURCC_P010 ? 2 : 1;
        for (unsigned plane = 0; plane < 2; plane++) {
            const unsigned rows = plane ? (height + 1) / 2 : height, bytes = (plane ? (width + 1) / 2 * 2 : width) * sample;
            for (unsigned y = 0; y < rows; y++)
                __builtin_memcpy(target + offsets[plane] + (size_t)y * pitches[plane],
                                 (const uint8_t *)address + image.offsets[plane] + (size_t)y * image.pitches[plane], bytes);
        }
        vaUnmapBuffer(display, image.buf);
    }
    vaDestroyImage(display, image.image_id);
    return status;
}

/// One row of chroma out of two planes: 8 bits, or 10 in the lower bits of 16, which P010 has in the upper ones.
static inline void cva_interleave(uint8_t *target, const uint8_t *u, const uint8_t *v, unsigned count, int is_deep) {
    for (unsigned x = 0; x < count; x++) {
        if (is_deep) {
            ((uint16_t *)target)[2 * x] = (uint16_t)(((const uint16_t *)u)[x] << 6);
            ((uint16_t *)target)[2 * x + 1] = (uint16_t)(((const uint16_t *)v)[x] << 6);
        } else {
            target[2 * x] = u[x];
            target[2 * x + 1] = v[x];
        }
    }
}

/// Copies pixels into a surface through an image of libva's: of two planes as they are, of three with the chroma put together.
static inline VAStatus cva_write(VADisplay display, VASurfaceID id, uint32_t fourcc, unsigned width, unsigned height,
                                 const uint8_t *const planes[3], const uint32_t pitches[3], unsigned plane_count) {
    const int is_deep = fourcc == VA_FOURCC_P010;
    VAImageFormat format = {.fourcc = fourcc, .byte_order = VA_LSB_FIRST, .bits_per_pixel = is_deep ? 24 : 12};
    VAImage image;
    VAStatus status = vaCreateImage(display, &format, (int)width, (int)height, &image);
    if (status != VA_STATUS_SUCCESS) return status;
    void *address = NULL;
    status = vaMapBuffer(display, image.buf, &address);
    if (status == VA_STATUS_SUCCESS) {
        uint8_t *base = address;
        const unsigned sample = is_deep ? 2 : 1, chroma = (width + 1) / 2;
        for (unsigned y = 0; y < height; y++) {
            uint8_t *row = base + image.offsets[0] + (size_t)y * image.pitches[0];
            const uint8_t *from = planes[0] + (size_t)y * pitches[0];
            if (is_deep && plane_count == 3)
                for (unsigned x = 0; x < width; x++) ((uint16_t *)row)[x] = (uint16_t)(((const uint16_t *)from)[x] << 6);
            else
                __builtin_memcpy(row, from, (size_t)width * sample);
        }
        for (unsigned y = 0; y < (height + 1) / 2; y++) {
            uint8_t *row = base + image.offsets[1] + (size_t)y * image.pitches[1];
            if (plane_count == 3)
                cva_interleave(row, planes[1] + (size_t)y * pitches[1], planes[2] + (size_t)y * pitches[2], chroma, is_deep);
            else
                __builtin_memcpy(row, planes[1] + (size_t)y * pitches[1], (size_t)chroma * 2 * sample);
        }
        vaUnmapBuffer(display, image.buf);
        status = vaPutImage(display, id, image.image_id, 0, 0, width, height, 0, 0, width, height);
    }
    vaDestroyImage(display, image.image_id);
    return status;
}

#endif

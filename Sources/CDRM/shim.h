// Door to libdrm (KMS, PRIME) and libudev (hot-plug).
#ifndef CDRM_SHIM_H
#define CDRM_SHIM_H
#include <drm_fourcc.h>
#include <libudev.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

// Function-like and cast macros are not imported; the flags of calls are imported with another sign than the calls take.
enum { cdrm_flip_event = DRM_MODE_PAGE_FLIP_EVENT, cdrm_nonblocking = DRM_MODE_ATOMIC_NONBLOCK,
       cdrm_test_only = DRM_MODE_ATOMIC_TEST_ONLY, cdrm_allow_modeset = DRM_MODE_ATOMIC_ALLOW_MODESET };

/// The layout of an IN_FORMATS blob, whose arrays lie at offsets from its start: for each format the modifiers that a plane takes.
typedef void (*cdrm_format_found)(void *context, uint32_t format, uint64_t modifier);
static inline void cdrm_each_format(const void *blob, uint32_t length, cdrm_format_found found, void *context) {
    const struct drm_format_modifier_blob *head = (const struct drm_format_modifier_blob *)blob;
    if (length < sizeof *head || head->formats_offset > length || (length - head->formats_offset) / 4 < head->count_formats ||
        head->modifiers_offset > length || (length - head->modifiers_offset) / sizeof(struct drm_format_modifier) < head->count_modifiers) return;
    const uint32_t *formats = (const uint32_t *)((const char *)blob + head->formats_offset);
    const struct drm_format_modifier *modifiers = (const struct drm_format_modifier *)((const char *)blob + head->modifiers_offset);
    for (uint32_t m = 0; m < head->count_modifiers; m++)
        for (uint32_t bit = 0; bit < 64; bit++)
            if ((modifiers[m].formats >> bit & 1) && modifiers[m].offset + bit < head->count_formats)
                found(context, formats[modifiers[m].offset + bit], modifiers[m].modifier);
}

/// A framebuffer over one GEM object, whose planes lie at `offsets`; 0, or a negative errno.
static inline int cdrm_add_framebuffer(int fd, uint32_t width, uint32_t height, uint32_t format, uint32_t handle, int planes,
                                       const uint32_t *pitches, const uint32_t *offsets, uint64_t modifier, int has_modifiers, uint32_t *id) {
    uint32_t handles[4] = {0}, pitch[4] = {0}, offset[4] = {0};
    uint64_t modifiers[4] = {0};
    for (int i = 0; i < planes && i < 4; i++) handles[i] = handle, pitch[i] = pitches[i], offset[i] = offsets[i], modifiers[i] = modifier;
    if (has_modifiers)
        return drmModeAddFB2WithModifiers(fd, width, height, format, handles, pitch, offset, modifiers, id, DRM_MODE_FB_MODIFIERS);
    return drmModeAddFB2(fd, width, height, format, handles, pitch, offset, id, 0);
}

/// Puts the CRTC and its console's framebuffer back as `drmModeGetCrtc` found them.
static inline int cdrm_restore(int fd, drmModeCrtc *saved, uint32_t connector) {
    return drmModeSetCrtc(fd, saved->crtc_id, saved->buffer_id, saved->x, saved->y, &connector, 1, &saved->mode);
}
#endif

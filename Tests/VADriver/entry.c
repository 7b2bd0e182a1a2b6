// Where libva enters: the table of functions, the objects behind its numbers, and the switches.
#define _GNU_SOURCE
#include "driver.h"
#include "include/player_va_driver.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *driver_object(Driver *driver, unsigned id, Kind kind) {
    if (!id || id > driver->count) return NULL;
    Object *object = driver->objects[id - 1];
    return object && object->kind == kind ? object : NULL;
}

unsigned driver_add(Driver *driver, void *added, Kind kind) {
    Object *object = added;
    object->kind = kind;
    unsigned index = 0;
    while (index < driver->count && driver->objects[index]) index++;
    if (index == driver->count) {
        driver->objects = realloc(driver->objects, ++driver->count * sizeof *driver->objects);
        if (!driver->objects) abort();
    }
    driver->objects[index] = object;
    return index + 1;
}

void driver_remove(Driver *driver, unsigned id) { driver->objects[id - 1] = NULL; }

bool driver_list_has(const char *list, uint64_t number) {
    while (list && *list) {
        char *end;
        uint64_t first = strtoull(list, &end, 10), last = first;
        if (*end == '-') last = strtoull(end + 1, &end, 10);
        if (number >= first && number <= last && first) return true;
        if (end == list) return false;
        list = *end == ',' ? end + 1 : end;
    }
    return false;
}

static VAStatus terminate(VADriverContextP ctx) {
    Driver *driver = DRIVER(ctx);
    // What an application left behind goes with the display; libva's rules allow that.
    for (unsigned id = 1; id <= driver->count; id++) {
        Object *object = driver->objects[id - 1];
        if (!object) continue;
        switch (object->kind) {
        case kind_context: ctx->vtable->vaDestroyContext(ctx, id); break;
        case kind_surface: ctx->vtable->vaDestroySurfaces(ctx, &id, 1); break;
        case kind_buffer: ctx->vtable->vaDestroyBuffer(ctx, id); break;
        case kind_image: ctx->vtable->vaDestroyImage(ctx, id); break;
        case kind_config: ctx->vtable->vaDestroyConfig(ctx, id); break;
        }
    }
    if (driver->udmabuf >= 0) close(driver->udmabuf);
    thread_end(driver);
    pthread_mutex_destroy(&driver->lock);
    free(driver->objects);
    free(driver);
    ctx->pDriverData = NULL;
    return VA_STATUS_SUCCESS;
}

// What decoding and encoding have no part in. libva wants every place filled.

static VAStatus unsupported(void) { return VA_STATUS_ERROR_UNIMPLEMENTED; }

static VAStatus no_subpictures(VADriverContextP ctx, VAImageFormat *list, unsigned *flags, unsigned *count) {
    (void)ctx, (void)list, (void)flags;
    *count = 0;
    return VA_STATUS_SUCCESS;
}

static VAStatus no_attributes(VADriverContextP ctx, VADisplayAttribute *list, int *count) {
    (void)ctx, (void)list;
    *count = 0;
    return VA_STATUS_SUCCESS;
}

void table_unsupported(struct VADriverVTable *table) {
    table->vaPutSurface = (void *)unsupported;
    table->vaSetImagePalette = (void *)unsupported;
    table->vaQuerySubpictureFormats = no_subpictures;
    table->vaCreateSubpicture = (void *)unsupported;
    table->vaDestroySubpicture = (void *)unsupported;
    table->vaSetSubpictureImage = (void *)unsupported;
    table->vaSetSubpictureChromakey = (void *)unsupported;
    table->vaSetSubpictureGlobalAlpha = (void *)unsupported;
    table->vaAssociateSubpicture = (void *)unsupported;
    table->vaDeassociateSubpicture = (void *)unsupported;
    table->vaQueryDisplayAttributes = no_attributes;
    table->vaGetDisplayAttributes = (void *)unsupported;
    table->vaSetDisplayAttributes = (void *)unsupported;
}

static uint64_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((visibility("default"))) int __vaDriverInit_1_0(void *context) {
    VADriverContextP ctx = context;
    Driver *driver = calloc(1, sizeof *driver);
    if (!driver) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    pthread_mutex_init(&driver->lock, NULL);
    driver->fail = getenv("PLAYER_VA_FAIL");
    driver->hang = number("PLAYER_VA_HANG");
    driver->gone = number("PLAYER_VA_GONE");
    driver->failing_contexts = (unsigned)number("PLAYER_VA_FAIL_CONTEXTS");
    driver->fail_encodes = getenv("PLAYER_VA_FAIL_ENCODES");
    driver->most_encoders = number("PLAYER_VA_ENCODERS") ? (unsigned)number("PLAYER_VA_ENCODERS") : 1024;
    driver->rates = number("PLAYER_VA_RATES") ? (uint32_t)number("PLAYER_VA_RATES") : VA_RC_CQP | VA_RC_CBR | VA_RC_VBR;
    driver->encodes_main = number("PLAYER_VA_MAIN") != 0;
    driver->cannot_encode = number("PLAYER_VA_NO_ENCODING") != 0;
    driver->cannot_import = number("PLAYER_VA_NO_IMPORT") != 0;
    driver->checks = number("PLAYER_VA_CHECK") != 0;
    driver->is_tiled = number("PLAYER_VA_TILED") != 0;
    driver->most_surfaces = number("PLAYER_VA_SURFACES") ? (unsigned)number("PLAYER_VA_SURFACES") : 1024;
    if (number("PLAYER_VA_THREAD")) thread_begin(driver);
    driver->udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    snprintf(driver->vendor, sizeof driver->vendor, "Player software driver, libavcodec %u", avcodec_version() >> 16);
    ctx->pDriverData = driver;
    ctx->version_major = 1;
    ctx->version_minor = 0;
    ctx->max_profiles = 16;
    ctx->max_entrypoints = 2;
    ctx->max_attributes = 16;
    ctx->max_image_formats = 2;
    ctx->max_subpic_formats = 1;
    ctx->max_display_attributes = 1;
    ctx->str_vendor = driver->vendor;
    ctx->vtable->vaTerminate = terminate;
    table_unsupported(ctx->vtable);
    table_images(ctx->vtable);
    table_surfaces(ctx->vtable);
    table_pictures(ctx->vtable);
    return VA_STATUS_SUCCESS;
}

/// Only when preloaded: libva asks this of libdrm before it accepts a descriptor as a display. 2 is a render node.
__attribute__((visibility("default"))) int drmGetNodeTypeFromFd(int fd) { return fd >= 0 ? 2 : -1; }

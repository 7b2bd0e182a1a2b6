// Configurations, contexts and pictures: what is decoded here; what is encoded goes to encode.c.
#include "driver.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    VAProfile profile;
    enum AVCodecID codec;
    bool (*stream)(Driver *, Context *, Bits *);
    size_t picture, matrix, slice;
} profiles[] = {
#define H264 AV_CODEC_ID_H264, h264_stream, sizeof(VAPictureParameterBufferH264), sizeof(VAIQMatrixBufferH264), sizeof(VASliceParameterBufferH264)
#define MPEG2 AV_CODEC_ID_MPEG2VIDEO, mpeg2_stream, sizeof(VAPictureParameterBufferMPEG2), sizeof(VAIQMatrixBufferMPEG2), sizeof(VASliceParameterBufferMPEG2)
#define VP8 AV_CODEC_ID_VP8, vp8_stream, sizeof(VAPictureParameterBufferVP8), sizeof(VAIQMatrixBufferVP8), sizeof(VASliceParameterBufferVP8)
#define VP9 AV_CODEC_ID_VP9, vp9_stream, sizeof(VADecPictureParameterBufferVP9), 0, sizeof(VASliceParameterBufferVP9)
    {VAProfileMPEG2Simple, MPEG2}, {VAProfileMPEG2Main, MPEG2}, {VAProfileH264ConstrainedBaseline, H264}, {VAProfileH264Main, H264},
    {VAProfileH264High, H264},     {VAProfileVP8Version0_3, VP8}, {VAProfileVP9Profile0, VP9},           {VAProfileVP9Profile2, VP9},
};
enum { profile_count = sizeof profiles / sizeof *profiles };

static int profile_index(VAProfile profile) {
    for (int i = 0; i < profile_count; i++)
        if (profiles[i].profile == profile) return i;
    return -1;
}

static VAStatus query_profiles(VADriverContextP ctx, VAProfile *list, int *count) {
    (void)ctx;
    for (int i = 0; i < profile_count; i++) list[i] = profiles[i].profile;
    *count = profile_count;
    return VA_STATUS_SUCCESS;
}

static VAStatus query_entrypoints(VADriverContextP ctx, VAProfile profile, VAEntrypoint *list, int *count) {
    if (profile_index(profile) < 0) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
    list[0] = VAEntrypointVLD;
    list[1] = VAEntrypointEncSlice;
    *count = encodes_profile(DRIVER(ctx), profile) ? 2 : 1;
    return VA_STATUS_SUCCESS;
}

static VAStatus get_attributes(VADriverContextP ctx, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *list, int count) {
    if (profile_index(profile) < 0) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
    if (entrypoint == VAEntrypointEncSlice && encodes_profile(DRIVER(ctx), profile)) return encode_attributes(DRIVER(ctx), profile, list, count);
    if (entrypoint != VAEntrypointVLD) return VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
    for (int i = 0; i < count; i++) {
        switch (list[i].type) {
        case VAConfigAttribRTFormat: list[i].value = profile == VAProfileVP9Profile2 ? VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420; break;
        case VAConfigAttribMaxPictureWidth:
        case VAConfigAttribMaxPictureHeight: list[i].value = 8192; break;
        default: list[i].value = VA_ATTRIB_NOT_SUPPORTED;
        }
    }
    return VA_STATUS_SUCCESS;
}

static VAStatus create_config(VADriverContextP ctx, VAProfile profile, VAEntrypoint entrypoint, VAConfigAttrib *list, int count, VAConfigID *id) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    if (profile_index(profile) < 0) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
    const bool encodes = entrypoint == VAEntrypointEncSlice && encodes_profile(driver, profile);
    if (entrypoint != VAEntrypointVLD && !encodes) return VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
    VAStatus status = encodes ? encode_check(driver, list, count) : VA_STATUS_SUCCESS;
    if (status) return status;
    Config *config = calloc(1, sizeof *config);
    if (!config) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    config->profile = profile;
    config->entrypoint = entrypoint;
    pthread_mutex_lock(&driver->lock);
    *id = driver_add(driver, config, kind_config);
    pthread_mutex_unlock(&driver->lock);
    return VA_STATUS_SUCCESS;
}

static VAStatus destroy_config(VADriverContextP ctx, VAConfigID id) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    Config *config = driver_object(driver, id, kind_config);
    if (config) driver_remove(driver, id);
    free(config);
    pthread_mutex_unlock(&driver->lock);
    return config ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONFIG;
}

static VAStatus query_config(VADriverContextP ctx, VAConfigID id, VAProfile *profile, VAEntrypoint *entrypoint, VAConfigAttrib *list, int *count) {
    Config *config = driver_object(DRIVER(ctx), id, kind_config);
    if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
    *profile = config->profile;
    *entrypoint = config->entrypoint;
    list[0].type = VAConfigAttribRTFormat;
    *count = 1;
    return get_attributes(ctx, config->profile, config->entrypoint, list, 1);
}

static VAStatus create_context(VADriverContextP ctx, VAConfigID config_id, int width, int height, int flag, VASurfaceID *targets, int count,
                               VAContextID *id) {
    (void)width, (void)height, (void)flag, (void)targets, (void)count;
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    if (thread_can_open(driver)) {
        pthread_mutex_unlock(&driver->lock);
        return VA_STATUS_ERROR_OPERATION_FAILED;
    }
    VAStatus status = VA_STATUS_ERROR_ALLOCATION_FAILED;
    Config *config = driver_object(driver, config_id, kind_config);
    Context *context = calloc(1, sizeof *context);
    if (config && context && config->entrypoint == VAEntrypointEncSlice) {
        context->profile = config->profile;
        context->target = VA_INVALID_SURFACE;
        if (driver->encoders >= driver->most_encoders) {
            status = VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
        } else if ((context->encode = encode_new())) {
            driver->encoders++;
            *id = driver_add(driver, context, kind_context);
            context = NULL;
            status = VA_STATUS_SUCCESS;
        }
        free(context);
        pthread_mutex_unlock(&driver->lock);
        return status;
    }
    driver->contexts++;
    if (config && context && !(driver->failing_contexts && driver->contexts >= driver->failing_contexts)) {
        const int index = profile_index(config->profile);
        context->profile = config->profile;
        context->codec = profiles[index].codec;
        context->slice_size = (unsigned)profiles[index].slice;
        context->target = VA_INVALID_SURFACE;
        context->decoder = decoder_open(context->codec);
        if (context->decoder) {
            *id = driver_add(driver, context, kind_context);
            context = NULL;
            status = VA_STATUS_SUCCESS;
        }
    }
    free(context);
    pthread_mutex_unlock(&driver->lock);
    return config ? status : VA_STATUS_ERROR_INVALID_CONFIG;
}

static void forget(Context *context) {
    for (unsigned i = 0; i < context->count; i++) {
        free(context->slices[i].parameters);
        free(context->slices[i].data);
    }
    context->count = 0;
    free(context->picture);
    free(context->matrix);
    free(context->slice_parameters);
    context->picture = context->matrix = context->slice_parameters = NULL;
    context->target = VA_INVALID_SURFACE;
}

static VAStatus destroy_context(VADriverContextP ctx, VAContextID id) {
    Driver *driver = DRIVER(ctx);
    pthread_mutex_lock(&driver->lock);
    Context *context = driver_object(driver, id, kind_context);
    if (context) {
        driver_remove(driver, id);
        forget(context);
        free(context->slices);
        decoder_release(context->decoder);
        if (context->encode) driver->encoders--;
        encode_free(context->encode);
    }
    free(context);
    pthread_mutex_unlock(&driver->lock);
    return context ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONTEXT;
}

static VAStatus begin_picture(VADriverContextP ctx, VAContextID id, VASurfaceID target) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Context *context = driver_object(driver, id, kind_context);
    Surface *surface = driver_object(driver, target, kind_surface);
    if (context && surface) {
        forget(context);
        context->target = target;
        if (context->encode) encode_begin(context->encode, target);
    }
    pthread_mutex_unlock(&driver->lock);
    return !context ? VA_STATUS_ERROR_INVALID_CONTEXT : !surface ? VA_STATUS_ERROR_INVALID_SURFACE : VA_STATUS_SUCCESS;
}

static uint8_t *duplicate(const void *data, size_t size, size_t at_least) {
    uint8_t *copy = calloc(1, size > at_least ? size : at_least);
    if (!copy) abort();
    memcpy(copy, data, size);
    return copy;
}

/// Slice data follows its parameters; each element of these describes a part of it.
static void add_slices(Context *context, const Buffer *data) {
    const size_t total = (size_t)data->element_size * data->count;
    for (unsigned i = 0; context->slice_parameters && i < context->slice_count; i++) {
        const VASliceParameterBufferBase *slice = (const void *)(context->slice_parameters + (size_t)i * context->slice_size);
        if (slice->slice_data_offset > total || slice->slice_data_size > total - slice->slice_data_offset) continue;
        if (context->count == context->capacity) {
            context->capacity = context->capacity ? 2 * context->capacity : 16;
            context->slices = realloc(context->slices, context->capacity * sizeof *context->slices);
            if (!context->slices) abort();
        }
        context->slices[context->count++] = (Slice){
            duplicate(slice, context->slice_size, 0), duplicate(data->data + slice->slice_data_offset, slice->slice_data_size, 16),
            slice->slice_data_size};
    }
    free(context->slice_parameters);
    context->slice_parameters = NULL;
}

static VAStatus render_picture(VADriverContextP ctx, VAContextID id, VABufferID *ids, int count) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Context *context = driver_object(driver, id, kind_context);
    VAStatus status = !context || context->target == VA_INVALID_SURFACE ? VA_STATUS_ERROR_INVALID_CONTEXT : VA_STATUS_SUCCESS;
    for (int i = 0; !status && i < count; i++) {
        Buffer *buffer = driver_object(driver, ids[i], kind_buffer);
        if (!buffer) {
            status = VA_STATUS_ERROR_INVALID_BUFFER;
            break;
        }
        if (context->encode) {
            status = encode_take(context->encode, buffer);
            continue;
        }
        const int index = profile_index(context->profile);
        const size_t size = (size_t)buffer->element_size * buffer->count;
        switch (buffer->type) {
        case VAPictureParameterBufferType:
            free(context->picture);
            context->picture = duplicate(buffer->data, size, profiles[index].picture);
            break;
        case VAIQMatrixBufferType:
            free(context->matrix);
            context->matrix = duplicate(buffer->data, size, profiles[index].matrix);
            break;
        case VASliceParameterBufferType:
            if (buffer->element_size < context->slice_size) {
                status = VA_STATUS_ERROR_INVALID_BUFFER;
                break;
            }
            free(context->slice_parameters);
            context->slice_parameters = duplicate(buffer->data, size, 0);
            context->slice_count = buffer->count;
            break;
        case VASliceDataBufferType: add_slices(context, buffer); break;
        default: break; // probability tables: VP8's frame has them too
        }
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

bool context_follow(Driver *driver, Context *context, const VASurfaceID *references, unsigned count) {
    Decoder *maker = NULL;
    for (unsigned i = 0; i < count; i++) {
        Surface *surface = driver_object(driver, references[i], kind_surface);
        if (!surface) continue;
        // One reference a picture, in turn: a full check costs more than decoding.
        const bool checks = driver->checks && i == driver->pictures % count;
        if (checks && surface->has_checksum && references[i] != context->target && surface_checksum(surface) != surface->checksum)
            return false;
        if (surface->decoder && surface->decoder->codec->codec_id == context->codec) maker = surface->decoder;
    }
    if (!count) {
        avcodec_flush_buffers(context->decoder->codec);
        bits_clear(&context->decoder->sequence);
        for (unsigned i = 0; i < 256; i++) bits_clear(&context->decoder->sets[i]);
    } else if (maker && maker != context->decoder) { // the context was made anew within the stream, for another size
        decoder_release(context->decoder);
        context->decoder = maker;
        maker->users++;
    }
    return true;
}

static VAStatus decode(Driver *driver, Context *context, Surface *surface) {
    const int index = profile_index(context->profile);
    if (!context->picture) return VA_STATUS_ERROR_INVALID_PARAMETER;
    Bits stream = {0};
    bool works = profiles[index].stream(driver, context, &stream) && decoder_run(context->decoder, &stream) &&
                 surface_store(surface, context->decoder->picture);
    bits_free(&stream);
    if (surface->decoder != context->decoder) {
        decoder_release(surface->decoder);
        surface->decoder = context->decoder;
        context->decoder->users++;
    }
    context->decoder->target = context->target;
    surface->has_checksum = driver->checks;
    if (driver->checks) surface->checksum = surface_checksum(surface);
    return works ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_DECODING_ERROR;
}

static VAStatus end_picture(VADriverContextP ctx, VAContextID id) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Context *context = driver_object(driver, id, kind_context);
    Surface *surface = context ? driver_object(driver, context->target, kind_surface) : NULL;
    VAStatus status = !context ? VA_STATUS_ERROR_INVALID_CONTEXT : !surface ? VA_STATUS_ERROR_INVALID_SURFACE : VA_STATUS_SUCCESS;
    if (!status && context->encode) {
        status = encode_end(driver, context->encode);
        context->target = VA_INVALID_SURFACE;
    } else if (!status) {
        surface->picture = ++driver->pictures;
        if (driver->gone && driver->pictures >= driver->gone) driver->is_gone = true;
        if (driver->is_gone || driver_list_has(driver->fail, driver->pictures)) {
            status = driver->is_gone ? VA_STATUS_ERROR_OPERATION_FAILED : VA_STATUS_ERROR_DECODING_ERROR;
        } else {
            status = decode(driver, context, surface);
        }
        surface->failed = status != VA_STATUS_SUCCESS;
        forget(context);
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

/// Pictures are decoded when vaEndPicture returns, unless one is to hang, and encoded now.
static VAStatus sync_surface2(VADriverContextP ctx, VASurfaceID id, uint64_t timeout) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Surface *surface = driver_object(driver, id, kind_surface);
    const bool hangs = surface && driver->hang && surface->picture == driver->hang;
    VAStatus status = !surface ? VA_STATUS_ERROR_INVALID_SURFACE : surface->failed ? VA_STATUS_ERROR_DECODING_ERROR : VA_STATUS_SUCCESS;
    if (!status && !hangs) status = encode_finish_source(driver, id);
    pthread_mutex_unlock(&driver->lock);
    if (!hangs) return status;
    if (timeout == VA_TIMEOUT_INFINITE)
        while (1) pause();
    usleep((useconds_t)(timeout / 1000));
    return VA_STATUS_ERROR_TIMEDOUT;
}

static VAStatus sync_surface(VADriverContextP ctx, VASurfaceID id) { return sync_surface2(ctx, id, VA_TIMEOUT_INFINITE); }

static VAStatus query_status(VADriverContextP ctx, VASurfaceID id, VASurfaceStatus *result) {
    Driver *driver = DRIVER(ctx);
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    pthread_mutex_lock(&driver->lock);
    Surface *surface = driver_object(driver, id, kind_surface);
    if (surface) *result = driver->hang && surface->picture == driver->hang ? VASurfaceRendering : VASurfaceReady;
    pthread_mutex_unlock(&driver->lock);
    return surface ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_SURFACE;
}

void table_pictures(struct VADriverVTable *table) {
    table->vaQueryConfigProfiles = query_profiles;
    table->vaQueryConfigEntrypoints = query_entrypoints;
    table->vaGetConfigAttributes = get_attributes;
    table->vaCreateConfig = create_config;
    table->vaDestroyConfig = destroy_config;
    table->vaQueryConfigAttributes = query_config;
    table->vaCreateContext = create_context;
    table->vaDestroyContext = destroy_context;
    table->vaBeginPicture = begin_picture;
    table->vaRenderPicture = render_picture;
    table->vaEndPicture = end_picture;
    table->vaSyncSurface = sync_surface;
    table->vaSyncSurface2 = sync_surface2;
    table->vaQuerySurfaceStatus = query_status;
}

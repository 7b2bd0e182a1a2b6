// Encoding H.264: the application's packed headers, and each macroblock as it is (I_PCM), so that what is decoded again is the source.
#include "driver.h"
#include <stdlib.h>
#include <string.h>

bool encodes_profile(const Driver *driver, VAProfile profile) {
    if (driver->cannot_encode) return false;
    return profile == VAProfileH264ConstrainedBaseline || (driver->encodes_main && profile == VAProfileH264Main);
}

VAStatus encode_attributes(const Driver *driver, VAProfile profile, VAConfigAttrib *list, int count) {
    for (int i = 0; i < count; i++) {
        switch (list[i].type) {
        case VAConfigAttribRTFormat: list[i].value = VA_RT_FORMAT_YUV420; break;
        case VAConfigAttribRateControl: list[i].value = driver->rates; break;
        case VAConfigAttribEncPackedHeaders:
            list[i].value = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE | VA_ENC_PACKED_HEADER_SLICE | VA_ENC_PACKED_HEADER_MISC;
            break;
        // One reference in front; in Main one behind, too.
        case VAConfigAttribEncMaxRefFrames: list[i].value = profile == VAProfileH264Main ? 1 | 1 << 16 : 1; break;
        case VAConfigAttribEncMaxSlices: list[i].value = 1; break;
        case VAConfigAttribMaxPictureWidth:
        case VAConfigAttribMaxPictureHeight: list[i].value = 4096; break;
        default: list[i].value = VA_ATTRIB_NOT_SUPPORTED;
        }
    }
    return VA_STATUS_SUCCESS;
}

VAStatus encode_check(const Driver *driver, const VAConfigAttrib *list, int count) {
    for (int i = 0; i < count; i++) {
        if (list[i].type == VAConfigAttribRTFormat && !(list[i].value & VA_RT_FORMAT_YUV420)) return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
        if (list[i].type == VAConfigAttribRateControl && !(list[i].value & driver->rates)) return VA_STATUS_ERROR_ATTR_NOT_SUPPORTED;
    }
    return VA_STATUS_SUCCESS;
}

Encode *encode_new(void) {
    Encode *encode = calloc(1, sizeof *encode);
    if (encode) encode->source = encode->reconstruction = VA_INVALID_SURFACE;
    return encode;
}

/// Forgets everything but the memory of the lists.
static void clear(Encode *encode) {
    for (unsigned i = 0; i < encode->count; i++) bits_free(&encode->slices[i].header);
    free(encode->slices);
    bits_free(&encode->head);
    bits_free(&encode->slice_header);
    memset(encode, 0, sizeof *encode);
}

void encode_free(Encode *encode) {
    if (!encode) return;
    clear(encode);
    free(encode);
}

void encode_begin(Encode *encode, VASurfaceID source) {
    clear(encode);
    encode->source = source;
}

// ---- What the application says ----

/// Takes a packed slice header: start code, the byte of the NAL unit, and bits with bytes against emulation.
static bool take_slice_header(Encode *encode, const uint8_t *data, size_t size, uint32_t bits) {
    size_t start = 0;
    while (start + 4 < size && !(data[start] == 0 && data[start + 1] == 0 && data[start + 2] == 1)) start++;
    if (start + 4 >= size || bits > size * 8 || bits <= (start + 4) * 8) return false;
    bits_clear(&encode->slice_header);
    encode->slice_nal = data[start + 3];
    unsigned zeros = 0;
    for (size_t i = start + 4; i * 8 < bits; i++) {
        if (zeros >= 2 && data[i] == 3) {
            zeros = 0;
            continue;
        }
        const unsigned count = bits - i * 8 < 8 ? (unsigned)(bits - i * 8) : 8;
        bits_put(&encode->slice_header, count, data[i] >> (8 - count));
        zeros = data[i] ? 0 : zeros + 1;
    }
    return true;
}

static bool take_slices(Encode *encode, const Buffer *buffer) {
    if (buffer->element_size < sizeof(VAEncSliceParameterBufferH264) || !encode->slice_nal) return false;
    for (unsigned i = 0; i < buffer->count; i++) {
        const VAEncSliceParameterBufferH264 *slice = (const void *)(buffer->data + (size_t)i * buffer->element_size);
        if (encode->count == encode->capacity) {
            encode->capacity = encode->capacity ? 2 * encode->capacity : 4;
            encode->slices = realloc(encode->slices, encode->capacity * sizeof *encode->slices);
            if (!encode->slices) abort();
        }
        encode->slices[encode->count++] = (EncodedSlice){
            encode->slice_header, encode->slice_nal, slice->slice_type, slice->macroblock_address, slice->num_macroblocks};
        encode->slice_header = (Bits){0};
        encode->slice_nal = 0;
    }
    return true;
}

VAStatus encode_take(Encode *encode, const Buffer *buffer) {
    const size_t size = (size_t)buffer->element_size * buffer->count;
    bool works = true;
    switch (buffer->type) {
    case VAEncSequenceParameterBufferType: works = size >= sizeof(VAEncSequenceParameterBufferH264); break;
    case VAEncPictureParameterBufferType: {
        const VAEncPictureParameterBufferH264 *picture = (const void *)buffer->data;
        works = size >= sizeof *picture;
        if (!works) break;
        encode->target = picture->coded_buf;
        encode->reconstruction = picture->CurrPic.picture_id;
        encode->uses_cabac = picture->pic_fields.bits.entropy_coding_mode_flag;
        encode->is_described = true;
        break;
    }
    case VAEncPackedHeaderParameterBufferType: {
        const VAEncPackedHeaderParameterBuffer *header = (const void *)buffer->data;
        works = size >= sizeof *header && header->has_emulation_bytes;
        if (!works) break;
        encode->packed_type = header->type;
        encode->packed_bits = header->bit_length;
        break;
    }
    case VAEncPackedHeaderDataBufferType:
        if (encode->packed_type == VAEncPackedHeaderSlice) {
            works = take_slice_header(encode, buffer->data, size, encode->packed_bits);
        } else {
            works = encode->packed_type && encode->packed_bits % 8 == 0 && encode->packed_bits / 8 <= size;
            if (works) bits_bytes(&encode->head, buffer->data, encode->packed_bits / 8);
        }
        encode->packed_type = 0;
        break;
    case VAEncSliceParameterBufferType: works = take_slices(encode, buffer); break;
    default: break; // rates and the like: I_PCM has one size only
    }
    return works ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER;
}

VAStatus encode_end(Driver *driver, Encode *encode) {
    const uint64_t number = ++driver->encodes;
    const Surface *source = driver_object(driver, encode->source, kind_surface);
    Buffer *target = driver_object(driver, encode->target, kind_buffer);
    if (driver->gone && ++driver->pictures >= driver->gone) driver->is_gone = true;
    if (driver->is_gone) return VA_STATUS_ERROR_OPERATION_FAILED;
    if (driver_list_has(driver->fail_encodes, number)) return VA_STATUS_ERROR_ENCODING_ERROR;
    if (!source || encode->reconstruction == encode->source || !driver_object(driver, encode->reconstruction, kind_surface))
        return VA_STATUS_ERROR_INVALID_SURFACE;
    if (!target || target->type != VAEncCodedBufferType) return VA_STATUS_ERROR_INVALID_BUFFER;
    if (!encode->is_described || !encode->count || encode->uses_cabac) return VA_STATUS_ERROR_INVALID_PARAMETER;
    if (driver->checks) encode->checksum = surface_checksum(source);
    Encode *waiting = encode_new();
    if (!waiting) return VA_STATUS_ERROR_ALLOCATION_FAILED;
    encode_free(target->encode);
    *waiting = *encode;
    memset(encode, 0, sizeof *encode);
    target->encode = waiting;
    return VA_STATUS_SUCCESS;
}

// ---- Writing ----

static unsigned nearest(unsigned at, unsigned count) { return at < count ? at : count - 1; }

/// One plane's part of a macroblock; what lies beyond the surface repeats its edge.
static void put_block(Bits *bits, const Surface *surface, unsigned plane, unsigned x, unsigned y, unsigned size, unsigned component) {
    const unsigned width = plane ? (surface->width + 1) / 2 : surface->width, height = plane ? (surface->height + 1) / 2 : surface->height;
    const unsigned step = plane ? 2 : 1;
    uint8_t block[256];
    for (unsigned row = 0; row < size; row++) {
        const uint8_t *from =
            surface->base + surface->offsets[plane] + (size_t)nearest(y + row, height) * surface->pitches[plane] + component;
        if (!plane && x + size <= width) {
            memcpy(block + row * size, from + x, size);
            continue;
        }
        for (unsigned column = 0; column < size; column++) block[row * size + column] = from[(size_t)nearest(x + column, width) * step];
    }
    bits_bytes(bits, block, (size_t)size * size);
}

/// H.264, 7.3.4 and 7.3.5. `columns` macroblocks are in a row.
static void put_slice(Bits *out, const EncodedSlice *slice, const Surface *surface, unsigned columns) {
    // The type of I_PCM in slices of the types P, B and I.
    static const uint8_t types[] = {5 + 25, 23 + 25, 25};
    Bits payload = slice->header;
    payload.data = NULL;
    payload.size = payload.capacity = 0;
    bits_bytes(&payload, slice->header.data, slice->header.size);
    const unsigned type = slice->type % 5;
    for (unsigned i = slice->first; i < slice->first + slice->count; i++) {
        const unsigned x = i % columns, y = i / columns;
        if (type < 2) bits_ue(&payload, 0);
        bits_ue(&payload, types[type]);
        bits_align(&payload);
        put_block(&payload, surface, 0, x * 16, y * 16, 16, 0);
        put_block(&payload, surface, 1, x * 8, y * 8, 8, 0);
        put_block(&payload, surface, 1, x * 8, y * 8, 8, 1);
    }
    bits_put(&payload, 1, 1);
    bits_align(&payload);
    bits_nal(out, slice->nal, &payload);
    bits_free(&payload);
}

static VAStatus write(Driver *driver, Buffer *buffer, const Encode *encode) {
    const Surface *surface = driver_object(driver, encode->source, kind_surface);
    if (!surface || surface->fourcc != VA_FOURCC_NV12) return VA_STATUS_ERROR_INVALID_SURFACE;
    if (driver->checks && surface_checksum(surface) != encode->checksum) return VA_STATUS_ERROR_ENCODING_ERROR;
    const Surface *shape = driver_object(driver, encode->reconstruction, kind_surface);
    if (!shape) return VA_STATUS_ERROR_INVALID_SURFACE;
    const unsigned columns = (shape->width + 15) / 16, count = columns * ((shape->height + 15) / 16);
    Bits out = {0};
    bits_bytes(&out, encode->head.data, encode->head.size);
    surface_access(surface, true);
    VAStatus status = VA_STATUS_SUCCESS;
    for (unsigned i = 0; i < encode->count && !status; i++) {
        const EncodedSlice *slice = &encode->slices[i];
        if (slice->type % 5 > 2 || slice->first > count || slice->count > count - slice->first)
            status = VA_STATUS_ERROR_INVALID_PARAMETER;
        else
            put_slice(&out, slice, surface, columns);
    }
    surface_access(surface, false);
    if (!status && out.size > (size_t)buffer->element_size * buffer->count) status = VA_STATUS_ERROR_NOT_ENOUGH_BUFFER;
    if (!status) {
        memcpy(buffer->data, out.data, out.size);
        buffer->segment.size = (uint32_t)out.size;
    }
    bits_free(&out);
    return status;
}

VAStatus encode_finish(Driver *driver, Buffer *buffer) {
    if (!buffer->encode) return buffer->status;
    buffer->segment.size = 0;
    buffer->status = write(driver, buffer, buffer->encode);
    encode_free(buffer->encode);
    buffer->encode = NULL;
    return buffer->status;
}

VAStatus encode_finish_source(Driver *driver, VASurfaceID source) {
    VAStatus status = VA_STATUS_SUCCESS;
    for (unsigned id = 1; id <= driver->count; id++) {
        Buffer *buffer = driver_object(driver, id, kind_buffer);
        if (!buffer || !buffer->encode || buffer->encode->source != source) continue;
        VAStatus own = encode_finish(driver, buffer);
        if (own) status = own;
    }
    return status;
}

// VP8 and VP9: the slice data is the frame, in VP8 without its first bytes.
#include "driver.h"

bool vp9_stream(Driver *driver, Context *context, Bits *stream) {
    const VADecPictureParameterBufferVP9 *picture = (const void *)context->picture;
    VASurfaceID references[8];
    unsigned count = 0;
    for (unsigned i = 0; i < 8; i++)
        if (picture->reference_frames[i] != VA_INVALID_SURFACE) references[count++] = picture->reference_frames[i];
    const bool is_key = !picture->pic_fields.bits.frame_type;
    if (!is_key && !context_follow(driver, context, references, count)) return false;
    for (unsigned i = 0; i < context->count; i++) bits_bytes(stream, context->slices[i].data, context->slices[i].size);
    return context->count > 0;
}

/// RFC 6386, 9.1.
bool vp8_stream(Driver *driver, Context *context, Bits *stream) {
    const VAPictureParameterBufferVP8 *picture = (const void *)context->picture;
    if (!context->count) return false;
    const VASliceParameterBufferVP8 *slice = (const void *)context->slices[0].parameters;
    const bool is_key = !picture->pic_fields.bits.key_frame;
    const VASurfaceID references[3] = {picture->last_ref_frame, picture->golden_ref_frame, picture->alt_ref_frame};
    if (!is_key && !context_follow(driver, context, references, 3)) return false;
    const uint32_t first = slice->partition_size[0] + (slice->macroblock_offset + 7) / 8;
    const uint32_t tag = (is_key ? 0u : 1u) | picture->pic_fields.bits.version << 1 | 1u << 4 | first << 5;
    bits_bytes(stream, (const uint8_t[]){(uint8_t)tag, (uint8_t)(tag >> 8), (uint8_t)(tag >> 16)}, 3);
    if (is_key) {
        const uint32_t width = picture->frame_width, height = picture->frame_height;
        bits_bytes(stream, (const uint8_t[]){0x9d, 0x01, 0x2a, (uint8_t)width, (uint8_t)(width >> 8), (uint8_t)height, (uint8_t)(height >> 8)}, 7);
    }
    bits_bytes(stream, context->slices[0].data, context->slices[0].size);
    return true;
}

// MPEG-2: slices are whole; the headers above them are written anew (ISO/IEC 13818-2, 6.2.2 and 6.2.3).
#include "driver.h"
#include <string.h>

static void start(Bits *out, uint8_t code) {
    bits_align(out);
    bits_bytes(out, (const uint8_t[]){0, 0, 1, code}, 4);
}

static void write_sequence(Bits *out, const VAPictureParameterBufferMPEG2 *picture) {
    start(out, 0xb3);
    bits_put(out, 12, picture->horizontal_size);
    bits_put(out, 12, picture->vertical_size);
    bits_put(out, 4, 1);
    bits_put(out, 4, 3);
    bits_put(out, 18, 0x3ffff);
    bits_put(out, 1, 1);
    bits_put(out, 10, 0x3ff);
    bits_put(out, 3, 0);
    start(out, 0xb5);
    bits_put(out, 4, 1);
    bits_put(out, 8, 0x44);
    bits_put(out, 1, 0); // interlaced: what progressive_frame says is true of each picture
    bits_put(out, 2, 1);
    bits_put(out, 2, picture->horizontal_size >> 12);
    bits_put(out, 2, picture->vertical_size >> 12);
    bits_put(out, 12, 0xfff);
    bits_put(out, 1, 1);
    bits_put(out, 8, 0xff);
    bits_put(out, 8, 0);
    bits_align(out);
}

static void write_matrix(Bits *out, int32_t present, const uint8_t *matrix) {
    bits_put(out, 1, present != 0);
    for (unsigned i = 0; present && i < 64; i++) bits_put(out, 8, matrix[i]);
}

bool mpeg2_stream(Driver *driver, Context *context, Bits *stream) {
    const VAPictureParameterBufferMPEG2 *picture = (const void *)context->picture;
    const VAIQMatrixBufferMPEG2 *matrix = (const void *)context->matrix;
    VASurfaceID references[2];
    unsigned count = 0;
    if (picture->picture_coding_type != 1 && picture->forward_reference_picture != VA_INVALID_SURFACE)
        references[count++] = picture->forward_reference_picture;
    if (picture->picture_coding_type == 3 && picture->backward_reference_picture != VA_INVALID_SURFACE)
        references[count++] = picture->backward_reference_picture;
    // An intra picture needs no reference, but the pictures before it may be those of coming ones: nothing is forgotten here.
    if (count && !context_follow(driver, context, references, count)) return false;

    Bits sequence = {0};
    write_sequence(&sequence, picture);
    Bits *known = &context->decoder->sequence;
    if (known->size != sequence.size || memcmp(known->data, sequence.data, sequence.size)) {
        bits_clear(known);
        bits_bytes(known, sequence.data, sequence.size);
        bits_bytes(stream, sequence.data, sequence.size);
    }
    bits_free(&sequence);
    if (picture->picture_coding_type == 1) { // a closed group, so that no picture is left out for want of another
        start(stream, 0xb8);
        bits_put(stream, 25, 1 << 12);
        bits_put(stream, 2, 2);
    }
    start(stream, 0x00);
    bits_put(stream, 10, 0);
    bits_put(stream, 3, (uint32_t)picture->picture_coding_type);
    bits_put(stream, 16, 0xffff);
    for (int i = 1; i < picture->picture_coding_type; i++) bits_put(stream, 4, 7);
    bits_put(stream, 1, 0);
    start(stream, 0xb5);
    bits_put(stream, 4, 8);
    bits_put(stream, 16, (uint32_t)picture->f_code);
    bits_put(stream, 2, picture->picture_coding_extension.bits.intra_dc_precision);
    bits_put(stream, 2, picture->picture_coding_extension.bits.picture_structure);
    bits_put(stream, 1, picture->picture_coding_extension.bits.top_field_first);
    bits_put(stream, 1, picture->picture_coding_extension.bits.frame_pred_frame_dct);
    bits_put(stream, 1, picture->picture_coding_extension.bits.concealment_motion_vectors);
    bits_put(stream, 1, picture->picture_coding_extension.bits.q_scale_type);
    bits_put(stream, 1, picture->picture_coding_extension.bits.intra_vlc_format);
    bits_put(stream, 1, picture->picture_coding_extension.bits.alternate_scan);
    bits_put(stream, 1, picture->picture_coding_extension.bits.repeat_first_field);
    bits_put(stream, 1, 1);
    bits_put(stream, 1, picture->picture_coding_extension.bits.progressive_frame);
    bits_put(stream, 1, 0);
    if (matrix) {
        start(stream, 0xb5);
        bits_put(stream, 4, 3);
        write_matrix(stream, matrix->load_intra_quantiser_matrix, matrix->intra_quantiser_matrix);
        write_matrix(stream, matrix->load_non_intra_quantiser_matrix, matrix->non_intra_quantiser_matrix);
        write_matrix(stream, matrix->load_chroma_intra_quantiser_matrix, matrix->chroma_intra_quantiser_matrix);
        write_matrix(stream, matrix->load_chroma_non_intra_quantiser_matrix, matrix->chroma_non_intra_quantiser_matrix);
    }
    bits_align(stream);
    for (unsigned i = 0; i < context->count; i++) bits_bytes(stream, context->slices[i].data, context->slices[i].size);
    return true;
}

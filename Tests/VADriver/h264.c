// H.264: the slices still carry their own headers; missing are the parameter sets that these refer to.
#include "driver.h"
#include <string.h>

static const uint8_t zigzag4[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
static const uint8_t zigzag8[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                                    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                                    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// H.264, 7.3.2.1.1.
static void write_sequence(Bits *out, const VAPictureParameterBufferH264 *picture) {
    const unsigned fields = !picture->seq_fields.bits.frame_mbs_only_flag;
    bits_put(out, 8, 100); // High: holds everything that 8-bit 4:2:0 streams may use
    bits_put(out, 8, 0);
    bits_put(out, 8, 52);
    bits_ue(out, 0);
    bits_ue(out, picture->seq_fields.bits.chroma_format_idc);
    bits_ue(out, picture->bit_depth_luma_minus8);
    bits_ue(out, picture->bit_depth_chroma_minus8);
    bits_put(out, 2, 0); // no lossless transform bypass, no scaling matrix: the picture parameter set has it
    bits_ue(out, picture->seq_fields.bits.log2_max_frame_num_minus4);
    bits_ue(out, picture->seq_fields.bits.pic_order_cnt_type);
    if (picture->seq_fields.bits.pic_order_cnt_type == 0) {
        bits_ue(out, picture->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4);
    } else if (picture->seq_fields.bits.pic_order_cnt_type == 1) {
        // VA-API does not carry the offsets: those of two fields a picture and one picture between references, which keep the order.
        bits_put(out, 1, picture->seq_fields.bits.delta_pic_order_always_zero_flag);
        bits_se(out, -2);
        bits_se(out, 1);
        bits_ue(out, 1);
        bits_se(out, 4);
    }
    bits_ue(out, picture->num_ref_frames);
    bits_put(out, 1, picture->seq_fields.bits.gaps_in_frame_num_value_allowed_flag);
    bits_ue(out, picture->picture_width_in_mbs_minus1);
    bits_ue(out, (picture->picture_height_in_mbs_minus1 + 1u) / (1 + fields) - 1);
    bits_put(out, 1, !fields);
    if (fields) bits_put(out, 1, picture->seq_fields.bits.mb_adaptive_frame_field_flag);
    bits_put(out, 1, picture->seq_fields.bits.direct_8x8_inference_flag);
    bits_put(out, 1, 0); // no cropping
    // Usability information: nothing but the reordering. With as much as there can be, the decoder leaves no picture out that comes late.
    bits_put(out, 1, 1);
    bits_put(out, 8, 0);
    bits_put(out, 1, 1);
    bits_put(out, 1, 1);
    bits_ue(out, 0);
    bits_ue(out, 0);
    bits_ue(out, 16);
    bits_ue(out, 16);
    bits_ue(out, 16);
    bits_ue(out, 16);
    bits_put(out, 1, 1);
    bits_align(out);
}

static void write_list(Bits *out, const uint8_t *raster, const uint8_t *scan, unsigned count) {
    int last = 8;
    bits_put(out, 1, 1);
    for (unsigned i = 0; i < count; i++) {
        bits_se(out, (int8_t)(raster[scan[i]] - last));
        last = raster[scan[i]];
    }
}

/// H.264, 7.3.2.2. The numbers of references are the slice's own, so that it does not matter whether it overrides them.
static void write_set(Bits *out, unsigned id, const VAPictureParameterBufferH264 *picture, const VAIQMatrixBufferH264 *matrix,
                      unsigned references0, unsigned references1) {
    bits_ue(out, id);
    bits_ue(out, 0);
    bits_put(out, 1, picture->pic_fields.bits.entropy_coding_mode_flag);
    bits_put(out, 1, picture->pic_fields.bits.pic_order_present_flag);
    bits_ue(out, 0); // one slice group
    bits_ue(out, references0);
    bits_ue(out, references1);
    bits_put(out, 1, picture->pic_fields.bits.weighted_pred_flag);
    bits_put(out, 2, picture->pic_fields.bits.weighted_bipred_idc);
    bits_se(out, picture->pic_init_qp_minus26);
    bits_se(out, picture->pic_init_qs_minus26);
    bits_se(out, picture->chroma_qp_index_offset);
    bits_put(out, 1, picture->pic_fields.bits.deblocking_filter_control_present_flag);
    bits_put(out, 1, picture->pic_fields.bits.constrained_intra_pred_flag);
    bits_put(out, 1, picture->pic_fields.bits.redundant_pic_cnt_present_flag);
    bits_put(out, 1, picture->pic_fields.bits.transform_8x8_mode_flag);
    bits_put(out, 1, matrix != NULL);
    if (matrix) {
        for (unsigned i = 0; i < 6; i++) write_list(out, matrix->ScalingList4x4[i], zigzag4, 16);
        if (picture->pic_fields.bits.transform_8x8_mode_flag)
            for (unsigned i = 0; i < 2; i++) write_list(out, matrix->ScalingList8x8[i], zigzag8, 64);
    }
    bits_se(out, picture->second_chroma_qp_index_offset);
    bits_put(out, 1, 1);
    bits_align(out);
}

typedef struct {
    const uint8_t *data;
    size_t bit, end;
} Reader;

static unsigned read_bit(Reader *reader) {
    if (reader->bit >= reader->end) return 1; // ends every count of zeros
    unsigned bit = reader->data[reader->bit / 8] >> (7 - reader->bit % 8) & 1;
    reader->bit++;
    return bit;
}

static uint32_t read_ue(Reader *reader) {
    unsigned zeros = 0;
    uint32_t value = 1;
    while (!read_bit(reader) && zeros < 31) zeros++;
    while (zeros-- > 0) value = value << 1 | read_bit(reader);
    return value - 1;
}

/// Puts a set in front of what follows if it is not the one sent last.
static void send(Bits *stream, Bits *known, uint8_t header, const Bits *set) {
    if (known->size == set->size && known->size && !memcmp(known->data, set->data, set->size)) return;
    bits_clear(known);
    bits_bytes(known, set->data, set->size);
    bits_nal(stream, header, set);
}

bool h264_stream(Driver *driver, Context *context, Bits *stream) {
    const VAPictureParameterBufferH264 *picture = (const void *)context->picture;
    VASurfaceID references[16];
    unsigned count = 0;
    for (unsigned i = 0; i < 16; i++)
        if (!(picture->ReferenceFrames[i].flags & VA_PICTURE_H264_INVALID) && picture->ReferenceFrames[i].picture_id != VA_INVALID_SURFACE)
            references[count++] = picture->ReferenceFrames[i].picture_id;
    const bool is_second_field = picture->pic_fields.bits.field_pic_flag && context->decoder->target == context->target;
    if (is_second_field && !count) references[count++] = context->target;
    if (!context_follow(driver, context, references, count)) return false;

    Bits set = {0};
    write_sequence(&set, picture);
    send(stream, &context->decoder->sequence, 0x67, &set);
    for (unsigned i = 0; i < context->count; i++) {
        const VASliceParameterBufferH264 *slice = (const void *)context->slices[i].parameters;
        if (context->slices[i].size < 2) continue;
        // first_mb_in_slice, slice_type, pic_parameter_set_id: too few bits to need emulation prevention.
        Reader reader = {context->slices[i].data, 8, context->slices[i].size * 8};
        read_ue(&reader);
        read_ue(&reader);
        unsigned id = read_ue(&reader) & 255;
        bits_clear(&set);
        write_set(&set, id, picture, (const void *)context->matrix, slice->num_ref_idx_l0_active_minus1, slice->num_ref_idx_l1_active_minus1);
        send(stream, &context->decoder->sets[id], 0x68, &set);
        bits_bytes(stream, (const uint8_t[]){0, 0, 0, 1}, 4);
        bits_bytes(stream, context->slices[i].data, context->slices[i].size);
    }
    bits_free(&set);
    return true;
}

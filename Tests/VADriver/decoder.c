// The software decoder that stands in for hardware: one picture in, one picture out, at once and in decoding order.
#include "driver.h"
#include <stdlib.h>
#include <string.h>

/// The decoder's own order of output does not matter: the picture is taken from the memory that it was decoded into.
static int note_buffer(AVCodecContext *codec, AVFrame *frame, int flags) {
    Decoder *decoder = codec->opaque;
    int status = avcodec_default_get_buffer2(codec, frame, flags);
    if (status < 0) return status;
    if (decoder->buffers++ == 0 || !decoder->first_is_picture) {
        av_frame_unref(decoder->picture);
        status = av_frame_ref(decoder->picture, frame);
    }
    return status;
}

Decoder *decoder_open(enum AVCodecID id) {
    const AVCodec *codec = NULL;
    void *state = NULL;
    // Not the preferred decoder but libavcodec's own: only it decodes one picture per packet.
    const char *name = avcodec_get_name(id);
    while ((codec = av_codec_iterate(&state)))
        if (codec->id == id && av_codec_is_decoder(codec) && !strcmp(codec->name, name)) break;
    if (!codec) return NULL;
    Decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->users = 1;
    decoder->first_is_picture = id == AV_CODEC_ID_MPEG2VIDEO;
    decoder->target = VA_INVALID_SURFACE;
    decoder->codec = avcodec_alloc_context3(codec);
    decoder->packet = av_packet_alloc();
    decoder->output = av_frame_alloc();
    decoder->picture = av_frame_alloc();
    if (!decoder->codec || !decoder->packet || !decoder->output || !decoder->picture) goto failed;
    decoder->codec->opaque = decoder;
    decoder->codec->get_buffer2 = note_buffer;
    decoder->codec->thread_count = 1;
    decoder->codec->thread_type = FF_THREAD_SLICE;
    decoder->codec->apply_cropping = 0;
    decoder->codec->error_concealment = 0;
    decoder->codec->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
    decoder->codec->flags2 |= AV_CODEC_FLAG2_SHOW_ALL;
    if (avcodec_open2(decoder->codec, codec, NULL) >= 0) return decoder;
failed:
    decoder_release(decoder);
    return NULL;
}

void decoder_release(Decoder *decoder) {
    if (!decoder || --decoder->users > 0) return;
    av_frame_free(&decoder->picture);
    av_frame_free(&decoder->output);
    av_packet_free(&decoder->packet);
    avcodec_free_context(&decoder->codec);
    bits_free(&decoder->sequence);
    for (unsigned i = 0; i < 256; i++) bits_free(&decoder->sets[i]);
    free(decoder);
}

bool decoder_run(Decoder *decoder, const Bits *stream) {
    if (av_new_packet(decoder->packet, (int)stream->size) < 0) return false;
    memcpy(decoder->packet->data, stream->data, stream->size);
    decoder->buffers = 0;
    int status = avcodec_send_packet(decoder->codec, decoder->packet);
    av_packet_unref(decoder->packet);
    while (status >= 0) {
        status = avcodec_receive_frame(decoder->codec, decoder->output);
        av_frame_unref(decoder->output);
    }
    return (status == AVERROR(EAGAIN) || status == AVERROR_EOF) && decoder->picture->buf[0];
}

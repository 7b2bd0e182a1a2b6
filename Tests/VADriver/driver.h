// What the parts of the driver share.
#ifndef DRIVER_H
#define DRIVER_H

#include <libavcodec/avcodec.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <va/va.h>
#include <va/va_backend.h>

#pragma GCC visibility push(hidden)

// ---- Bit streams ----

typedef struct {
    uint8_t *data;
    size_t size, capacity;
    unsigned pending, pending_bits;
} Bits;

void bits_put(Bits *bits, unsigned count, uint32_t value);
void bits_ue(Bits *bits, uint32_t value);
void bits_se(Bits *bits, int32_t value);
/// Fills up to a byte with zeros.
void bits_align(Bits *bits);
void bits_bytes(Bits *bits, const void *data, size_t size);
void bits_clear(Bits *bits);
void bits_free(Bits *bits);
/// Appends a NAL unit with start code: `payload` (which ends with its stop bit) with emulation prevention.
void bits_nal(Bits *out, uint8_t header, const Bits *payload);

// ---- Decoders ----

/// A software decoder and the picture that it is at. Counted: surfaces keep the decoder that knows them as references.
typedef struct {
    int users;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *output;
    /// The memory of the picture decoded last.
    AVFrame *picture;
    /// Buffers asked for since the packet began; where `first_is_picture`, those after the first are stand-ins for lost references.
    int buffers;
    bool first_is_picture;
    /// What the parameter sets sent last say.
    Bits sequence;
    Bits sets[256];
    VASurfaceID target;
} Decoder;

Decoder *decoder_open(enum AVCodecID id);
void decoder_release(Decoder *decoder);
/// Decodes one picture's bytes; true when there is a picture.
bool decoder_run(Decoder *decoder, const Bits *stream);

// ---- Objects ----

typedef enum { kind_config = 1, kind_context, kind_surface, kind_buffer, kind_image } Kind;

typedef struct {
    Kind kind;
} Object;

typedef struct {
    Object object;
    VAProfile profile;
} Config;

typedef struct {
    Object object;
    uint32_t fourcc, width, height, pitch, rows;
    size_t byte_count;
    int fd;
    bool is_dmabuf;
    uint8_t *base;
    Decoder *decoder;
    /// Number of the picture in it; 0 for none.
    uint64_t picture;
    bool failed, has_checksum;
    uint32_t checksum;
} Surface;

typedef struct {
    Object object;
    VABufferType type;
    unsigned element_size, count;
    uint8_t *data;
    /// The memory is a surface's.
    bool is_lent;
} Buffer;

typedef struct {
    Object object;
    VAImage image;
} Image;

typedef struct {
    uint8_t *parameters;
    uint8_t *data;
    size_t size;
} Slice;

typedef struct {
    Object object;
    VAProfile profile;
    enum AVCodecID codec;
    Decoder *decoder;
    VASurfaceID target;
    uint8_t *picture, *matrix;
    uint8_t *slice_parameters;
    unsigned slice_size, slice_count;
    Slice *slices;
    unsigned count, capacity;
} Context;

typedef struct {
    pthread_mutex_t lock;
    Object **objects;
    unsigned count;
    uint64_t pictures;
    unsigned surfaces, contexts;
    const char *fail;
    uint64_t hang, gone;
    unsigned most_surfaces, failing_contexts;
    bool checks, is_gone, is_tiled, has_thread;
    int udmabuf;
    pthread_t thread;
    sem_t asks, answers;
    /// What the thread found when it was asked: it could open a file.
    bool could_open;
    char vendor[96];
} Driver;

#define DRIVER(ctx) ((Driver *)(ctx)->pDriverData)

void *driver_object(Driver *driver, unsigned id, Kind kind);
unsigned driver_add(Driver *driver, void *object, Kind kind);
void driver_remove(Driver *driver, unsigned id);
/// Whether the picture `number` is in the list that a variable holds ("3,7-9").
bool driver_list_has(const char *list, uint64_t number);

/// A thread of the driver's own, from here to `thread_end`.
void thread_begin(Driver *driver);
/// Whether it can open a file now; false without one.
bool thread_can_open(Driver *driver);
void thread_end(Driver *driver);

Surface *surface_new(Driver *driver, uint32_t fourcc, uint32_t width, uint32_t height);
void surface_free(Surface *surface);
void surface_layout(const Surface *surface, uint32_t offsets[2], uint32_t pitches[2]);
/// CPU access begins or ends.
void surface_access(const Surface *surface, bool begins);
/// Brings a decoder's picture into the surface; false for a layout that it cannot hold.
bool surface_store(Surface *surface, const AVFrame *picture);
uint32_t surface_checksum(const Surface *surface);

// ---- Putting bit streams back together: the bytes for the software decoder, or false where the parameters make no sense ----

bool h264_stream(Driver *driver, Context *context, Bits *stream);
bool mpeg2_stream(Driver *driver, Context *context, Bits *stream);
bool vp8_stream(Driver *driver, Context *context, Bits *stream);
bool vp9_stream(Driver *driver, Context *context, Bits *stream);
/// Looks at the references of a picture: takes over the decoder that made them, or makes it forget all where there are none.
/// False when a reference is not what was decoded.
bool context_follow(Driver *driver, Context *context, const VASurfaceID *references, unsigned count);

void table_images(struct VADriverVTable *table);
void table_surfaces(struct VADriverVTable *table);
void table_decoding(struct VADriverVTable *table);
void table_unsupported(struct VADriverVTable *table);

#pragma GCC visibility pop

#endif

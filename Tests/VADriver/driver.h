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
#include <va/va_drmcommon.h>

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
    VAEntrypoint entrypoint;
} Config;

typedef struct {
    Object object;
    uint32_t fourcc, width, height;
    uint32_t offsets[2], pitches[2];
    size_t byte_count;
    int fd;
    /// The memory is another's, which may only be read.
    bool is_dmabuf, is_imported;
    uint8_t *base;
    Decoder *decoder;
    /// Number of the picture in it; 0 for none.
    uint64_t picture;
    bool failed, has_checksum;
    uint32_t checksum;
} Surface;

/// A slice of a picture to be encoded: its header without the bytes against emulation, which ends within a byte.
typedef struct {
    Bits header;
    uint8_t nal;
    unsigned type, first, count;
} EncodedSlice;

/// A picture to be encoded. The source is read when somebody waits for the picture, as late as hardware may read it.
typedef struct {
    VASurfaceID source, reconstruction;
    VABufferID target;
    bool is_described, uses_cabac;
    /// What stands before the slices, as the application has written it.
    Bits head;
    EncodedSlice *slices;
    unsigned count, capacity;
    /// Of the packed header that comes next, and of the slice that it stands before.
    uint32_t packed_type, packed_bits;
    Bits slice_header;
    uint8_t slice_nal;
    /// The source's bytes when the picture was given, where the driver checks.
    uint32_t checksum;
} Encode;

typedef struct {
    Object object;
    VABufferType type;
    unsigned element_size, count;
    uint8_t *data;
    /// The memory is a surface's.
    bool is_lent;
    /// In a buffer for coded bytes: what is to be written there, until it is, and what became of it.
    Encode *encode;
    VAStatus status;
    VACodedBufferSegment segment;
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
    /// One of the two is there.
    Decoder *decoder;
    Encode *encode;
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
    /// Pictures that were given to be encoded, encoding contexts at present, and the most there may be.
    uint64_t encodes;
    unsigned encoders, most_encoders;
    const char *fail_encodes;
    /// `VA_RC_…` that encoding knows.
    uint32_t rates;
    bool checks, is_gone, is_tiled, has_thread, encodes_main, cannot_encode, cannot_import;
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

Buffer *buffer_new(VABufferType type, unsigned size, unsigned count, const void *data);
void buffer_free(Buffer *buffer);

Surface *surface_new(Driver *driver, uint32_t fourcc, uint32_t width, uint32_t height);
/// A surface over memory of others (DRM PRIME 2), which is only read; NULL where the driver does not take it.
Surface *surface_import(Driver *driver, const VADRMPRIMESurfaceDescriptor *from, uint32_t width, uint32_t height);
void surface_free(Surface *surface);
void surface_layout(const Surface *surface, uint32_t offsets[2], uint32_t pitches[2]);
/// CPU access begins or ends.
void surface_access(const Surface *surface, bool begins);
/// Brings a decoder's picture into the surface; false for a layout that it cannot hold.
bool surface_store(Surface *surface, const AVFrame *picture);
uint32_t surface_checksum(const Surface *surface);

// ---- Encoding ----

bool encodes_profile(const Driver *driver, VAProfile profile);
VAStatus encode_attributes(const Driver *driver, VAProfile profile, VAConfigAttrib *list, int count);
/// Whether a configuration may have these attributes.
VAStatus encode_check(const Driver *driver, const VAConfigAttrib *list, int count);
Encode *encode_new(void);
void encode_free(Encode *encode);
/// The picture in `source` comes next.
void encode_begin(Encode *encode, VASurfaceID source);
VAStatus encode_take(Encode *encode, const Buffer *buffer);
/// All is said of the picture: it waits in its target. Leaves an empty `encode` for the next.
VAStatus encode_end(Driver *driver, Encode *encode);
/// Writes what waits in the buffer, if it does.
VAStatus encode_finish(Driver *driver, Buffer *buffer);
/// Writes all that waits for the surface to be read.
VAStatus encode_finish_source(Driver *driver, VASurfaceID source);

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
void table_pictures(struct VADriverVTable *table);
void table_unsupported(struct VADriverVTable *table);

#pragma GCC visibility pop

#endif

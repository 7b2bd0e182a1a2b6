/* scanout.h: plays films and lends their decoded frames to your renderer without a copy. For C99 and C++.
 *
 *     cc example.c $(pkg-config --cflags --libs scanout)
 *
 * Threads    Every function may be called from any thread, and blocks only where its comment says so. Do not use a handle while or after
 *            another thread closes or releases it. The library calls you in three places only: scanout_exporter_set_news_handler, scanout_stream,
 *            scanout_set_log_handler.
 * Ownership  What a function returns through a pointer to a pointer is yours until you pass it to the function that its comment names.
 *            Strings and structs that you pass in are read during the call and not kept.
 * Times      Nanoseconds. A *film time* counts from the beginning of the film, a *host time* is a reading of CLOCK_MONOTONIC, a *timeout*
 *            counts from now: 0 does not wait, a negative one waits without limit.
 * Structs    Set `size` to the size of the struct and leave the other members at 0, which is always the default:
 *                scanout_options options = { .size = sizeof options, .starts_paused = 1 };
 * Failures   A negative scanout_result; errno is not set. Bad arguments are reported, except a handle that was already closed. Compilers warn of a
 *            NULL where a comment does not allow it (clang), and of a result that is dropped although something is lost with it. */
#ifndef SCANOUT_H
#define SCANOUT_H

#include <stddef.h>
#include <stdint.h>

/* What compilers check. Swift, which has a library of its own, reads the header without. */
#if defined(__clang__) && !defined(__swift__)
#define SCANOUT_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"") \
    _Pragma("clang diagnostic ignored \"-Wnullability-completeness\"") _Pragma("clang assume_nonnull begin")
#define SCANOUT_FINISH _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#define SCANOUT_MAY_BE_NULL _Nullable
#else
#define SCANOUT_BEGIN
#define SCANOUT_FINISH
#define SCANOUT_MAY_BE_NULL
#endif
#if defined(__GNUC__) && !defined(__swift__)
#define SCANOUT_MUST_USE __attribute__((warn_unused_result))
#else
#define SCANOUT_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif
SCANOUT_BEGIN

/* ---------------------------------------------------------------------------------------------------------------- Version and results */

/* The number in libscanout.so.N. It changes when a function, struct or value changes; programs must then be built again.
 * 0: not stable yet. Until the first release these may change without another number. */
#define SCANOUT_ABI_VERSION 0
/* That number times 65536, plus one that grows with each addition: a function, or a member at the end of a struct. */
#define SCANOUT_VERSION 0x00000013

/* The SCANOUT_VERSION of the library that is running. If it is less than yours, the library lacks something in this header. */
uint32_t scanout_version(void);

/* "No such time", and "unknown". */
#define SCANOUT_NO_TIME INT64_MIN

typedef enum scanout_result {
    SCANOUT_OK = 0,
    SCANOUT_NOTHING = 1,         /* no failure: nothing came before the timeout */
    SCANOUT_END = 2,             /* no failure: nothing more will come */
    SCANOUT_ERROR_ARGUMENT = -1, /* a null pointer, or a `size` or value that is not allowed */
    SCANOUT_ERROR_OPEN = -2,     /* the file does not exist or cannot be read */
    SCANOUT_ERROR_DATA = -3,     /* nothing in the file can be played */
    SCANOUT_ERROR_DEVICE = -4,   /* the display or the kind of decoder asked for does not exist or is gone */
    SCANOUT_ERROR_INTERNAL = -5, /* the operating system refused a resource that it normally grants */
    SCANOUT_ERROR_CANCELLED = -6 /* opening was cancelled */
} scanout_result;

/* The meaning of a result in a few words; never NULL. The string is static. */
const char *scanout_error_string(scanout_result result);

/* ------------------------------------------------------------------------------------------------------------------------------- Log */

typedef enum scanout_log_level {
    SCANOUT_LOG_ERROR = 1,   /* an opening, or playback, has failed */
    SCANOUT_LOG_WARNING = 2, /* it goes on, and something is not as it should be: what SCANOUT_EVENT_NOTICE says */
    SCANOUT_LOG_INFO = 3,    /* what was chosen and why: what SCANOUT_EVENT_DETAIL says */
    SCANOUT_LOG_DEBUG = 4    /* each change of a player's state, and each seek */
} scanout_log_level;

/* `handler` gets, with `context`, what all players and queues of this process do and find, one sentence for each call, up to `level`
 * (scanout_log_level); `text` is UTF-8, lent for the call, and names the film, where there is one. It replaces the handler before; NULL: none.
 *
 * It runs on threads of the library, with nothing locked: the sentences of one player one after the other, in their order, those of several at the
 * same time. It may call the library, but not close a player or set a handler, and should return soon, because events wait for it. When this returns,
 * the handler before is not running any more: its context can go. */
typedef void (*scanout_log_handler)(void *SCANOUT_MAY_BE_NULL context, uint32_t level, const char *text);
scanout_result scanout_set_log_handler(uint32_t level, scanout_log_handler SCANOUT_MAY_BE_NULL handler, void *SCANOUT_MAY_BE_NULL context);

/* --------------------------------------------------------------------------------------------------------------------------- Playing */

/* An open film and the threads that play it. */
typedef struct scanout_player scanout_player;

/* Frames for your own renderer; see "Frames". */
typedef struct scanout_exporter scanout_exporter;

/* Sound for your own device, mixer or analysis; see "Sound". */
typedef struct scanout_sound scanout_sound;

typedef enum scanout_output {
    SCANOUT_OUTPUT_NONE = 0,    /* a virtual display of 60 Hz: time passes as on a screen, and you show the frames */
    SCANOUT_OUTPUT_UNTIMED = 1, /* no display and no clock: as fast as frames are decoded, and fetched if an exporter wants every one. Pausing,
                                   steps and seeks work as with a clock; the position is that of the frames taken */
    SCANOUT_OUTPUT_WINDOW = 2,  /* a Wayland window */
    SCANOUT_OUTPUT_MONITOR = 3  /* a monitor without a desktop (KMS) */
} scanout_output;

typedef enum scanout_decoder {
    SCANOUT_DECODER_AUTO = 0,     /* hardware if it decodes the stream, else software */
    SCANOUT_DECODER_HARDWARE = 1, /* hardware or nothing */
    SCANOUT_DECODER_SOFTWARE = 2
} scanout_decoder;

typedef enum scanout_sandbox {
    SCANOUT_SANDBOX_OFF = 0,
    SCANOUT_SANDBOX_DECODER = 1, /* both decoders run in processes without rights; without their program in this one, and a notice says so */
    SCANOUT_SANDBOX_REQUIRE = 2, /* as SCANOUT_SANDBOX_FULL, or opening fails */
    SCANOUT_SANDBOX_FULL = 3     /* the decoders and the demuxer, each in a process without rights */
} scanout_sandbox;

/* Over which transport the frames of RTSP streams come. */
typedef enum scanout_rtsp {
    SCANOUT_RTSP_AUTO = 0, /* the connection on which they are asked for, and UDP where the server refuses that */
    SCANOUT_RTSP_TCP = 1,  /* that connection: nothing is lost, and firewalls let it pass */
    SCANOUT_RTSP_UDP = 2   /* packets that may be lost, but of which none waits for another */
} scanout_rtsp;

/* How a film is fetched from a server. What is 0 or NULL has the default that its comment names. */
typedef struct scanout_network {
    uint32_t size;
    uint32_t rtsp;                   /* scanout_rtsp */
    int64_t timeout;                 /* how long it goes on being asked for while no byte of it comes: 30 s. Then it ends, and says what is missing */
    int64_t stall_timeout;           /* how long one connection may be silent before another is opened in its place: 10 s */
    int64_t cache_ahead;             /* bytes that are fetched ahead and kept in memory: 150 MiB; at least 64 KiB */
    int64_t cache_behind;            /* bytes that have been read and stay in memory: 50 MiB; below 0: none */
    int64_t bit_rate;                /* of a film in several variants (HLS, DASH) the best with at most so many bits a second, else the lowest;
                                        INT64_MAX: the highest. 0: by what is measured, can be decoded, and by the size in which it is shown */
    int64_t latency;                 /* how far behind its sender a live film plays: 0.5 s for RTSP, RTP, UDP and SRT, 1 s for RTMP, else as it comes;
                                        below 0: as it comes */
    uint32_t trusts_all_certificates; /* 1: TLS without a look at certificates; anybody between may read and change the film */
    uint32_t reserved;
    const char *SCANOUT_MAY_BE_NULL certificate_authorities; /* a file with whose certificates count (PEM): the system's */
    const char *SCANOUT_MAY_BE_NULL user_agent;              /* how the library calls itself: "Scanout" */
    const char *SCANOUT_MAY_BE_NULL referrer;                /* the page that the film is said to stand on: none */
    const char *SCANOUT_MAY_BE_NULL header_fields; /* further ones, "Name: value", one a line; they go to every server that the film leads to */
    const char *SCANOUT_MAY_BE_NULL cookies_file;  /* as browsers and curl write it (Netscape's format); each goes only where it belongs */
    const char *SCANOUT_MAY_BE_NULL netrc_file;    /* names and passwords as in ~/.netrc, for addresses that have none: not read */
    const char *SCANOUT_MAY_BE_NULL cache_folder;  /* where a file without a name keeps what memory does not, so that all of a film is fetched, and
                                                      nothing twice: memory alone. Not for HLS and DASH */
    const char *SCANOUT_MAY_BE_NULL proxy;         /* through which web servers are asked ("http://host:port"); "": none. As the environment says
                                                      (http_proxy, https_proxy, all_proxy, no_proxy) */
} scanout_network;

typedef struct scanout_options {
    uint32_t size;
    uint32_t output;        /* scanout_output */
    uint32_t decoder;       /* scanout_decoder */
    uint32_t threads;       /* decoding threads; 0: the decoder chooses */
    uint32_t starts_paused; /* 1: shows the first frame and waits for scanout_play */
    uint32_t is_silent;     /* 1: opens no sound device */
    uint32_t loops;         /* 1: begins again at the end */
    uint32_t exporter_count;
    scanout_exporter *const *SCANOUT_MAY_BE_NULL exporters; /* clients that get the frames as well; each serves one film at a time (else
                                          SCANOUT_ERROR_ARGUMENT) and may be closed at any moment */
    int64_t start_time;                /* film time to begin at */
    int64_t play_duration;             /* ends after this much film; 0: at the end of the film */
    uint32_t sandbox;                  /* scanout_sandbox */
    uint32_t opens_async;              /* 1: the scanout_open functions return at once; see "Opening without blocking" */
    int32_t video_track;               /* which track of each kind plays: scanout_track_info.number; 0: the one that the container marks as default, */
    int32_t audio_track;               /* else the first that can be decoded; -1: none of the kind. A film without the number plays the automatic one, */
    int32_t subtitle_track;            /* without subtitles, and a notice says so. Subtitles are shown in a window or on a monitor, and given to you */
    uint32_t takes_subtitles;          /* by scanout_subtitles_at where this is 1, whatever the output is; SCANOUT_EVENT_SUBTITLES comes then, too. 0:
                                          without a window or monitor they are not read, which costs nothing */
    const char *SCANOUT_MAY_BE_NULL audio_languages;    /* the preferred one first: "de,en", as ISO 639 codes of two or three letters, with or */
    const char *SCANOUT_MAY_BE_NULL subtitle_languages; /* without a region; they count where the track is 0. NULL: none is preferred */
    scanout_sound *SCANOUT_MAY_BE_NULL sound; /* who gets the sound instead of a device; serves one film at a time (else SCANOUT_ERROR_ARGUMENT) */
    const char *SCANOUT_MAY_BE_NULL render_node; /* the device to decode on: "/dev/dri/renderD128"; NULL: the first that decodes the stream */
    const scanout_network *SCANOUT_MAY_BE_NULL network; /* how a film is fetched from a server; NULL: everything 0 */
    const char *const *SCANOUT_MAY_BE_NULL subtitle_files; /* paths of files with subtitles, `subtitle_file_count` of them; they come
                                                      before the film's own where `subtitle_track` is 0, and after them in their numbers; at most
                                                      1000, of which none is NULL */
    int64_t subtitle_delay;       /* how much later than their times subtitles come; below 0: earlier */
    uint32_t subtitle_file_count;
    uint32_t reserved;
} scanout_options;

/* Opens `location`, a path or a URL, and begins to play. `options` may be NULL: everything 0. Blocks while the head of the file is read, which takes
 * long with a server that does not answer, unless `opens_async` is set. Close *opened with scanout_close. On failure *opened is NULL, and `message`
 * (may be NULL) holds a sentence that names the file and the cause, cut to `message_size` bytes including its zero.
 *
 * Opening without blocking: with `opens_async` an event says how it went. SCANOUT_EVENT_OPENED comes when the film is open; or SCANOUT_EVENT_FAILED
 * with the result and the sentence of the failure, and your exporters answer SCANOUT_END. Only arguments and displays that make no sense fail at
 * once. Commands that come before take effect when the film is open; a step has nothing to step in. The player may be closed at any time, and must
 * be after a failure. */
SCANOUT_MUST_USE scanout_result scanout_open(
    const char *location, const scanout_options *SCANOUT_MAY_BE_NULL options, scanout_player **opened, char *SCANOUT_MAY_BE_NULL message,
    size_t message_size);

/* As scanout_open, for a film that you have open. `name` (may be NULL) is what messages call it; its ending helps with containers that cannot be
 * recognised. `fd` stands for a regular file, which is read from its first byte and whose offset does not move; or for a pipe, FIFO or socket, from
 * which is taken what comes until the end, and in which seeks fail. The descriptor stays yours: the library takes a duplicate. */
SCANOUT_MUST_USE scanout_result scanout_open_fd(
    int fd, const char *SCANOUT_MAY_BE_NULL name, const scanout_options *SCANOUT_MAY_BE_NULL options, scanout_player **opened,
    char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* The same for `count` bytes of memory, which are not copied: leave them unchanged until scanout_close returns, or a scanout_open_memory that
 * fails. */
SCANOUT_MUST_USE scanout_result scanout_open_memory(
    const void *bytes, size_t count, const char *SCANOUT_MAY_BE_NULL name, const scanout_options *SCANOUT_MAY_BE_NULL options,
    scanout_player **opened, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* A film whose bytes you read yourself: from an archive, a database, a protocol of your own. Each function gets `context`.
 *
 * The first three are called on one thread at a time, though not always the same one; in this process with SCANOUT_SANDBOX_FULL as well. They may
 * block: then the film waits. None may close the player. When scanout_close returns, or a scanout_open_stream that fails, nothing is called any
 * more. */
typedef struct scanout_stream {
    uint32_t size;
    uint32_t reserved;
    void *SCANOUT_MAY_BE_NULL context;
    /* Puts 1 to `count` of the bytes that come next into `bytes` and returns how many; 0 at the end, below 0 when reading has failed: that ends the
     * film. A negative errno gives the message its cause. */
    int64_t (*SCANOUT_MAY_BE_NULL read)(void *SCANOUT_MAY_BE_NULL context, void *bytes, size_t count);
    /* Makes byte `offset` the next one and returns 0, or a value below 0. The first call, for 0 and before any read, asks whether it can be done at
     * all. If not, or if `seek` is NULL, the film is read like a pipe: seeks in it fail, and an MP4 with its index at the end cannot be opened. */
    int64_t (*SCANOUT_MAY_BE_NULL seek)(void *SCANOUT_MAY_BE_NULL context, int64_t offset);
    /* How many bytes there are, asked once and first; below 0, or NULL: unknown. What lies beyond is not read, and fewer are a film cut short. */
    int64_t (*SCANOUT_MAY_BE_NULL byte_count)(void *SCANOUT_MAY_BE_NULL context);
    /* Makes a `read` or `seek` that blocks, and every later one, return soon, whatever it returns. On any thread, while they run. At most once: by
     * scanout_cancel_open or scanout_close. NULL when nothing blocks for long. */
    void (*SCANOUT_MAY_BE_NULL cancel)(void *SCANOUT_MAY_BE_NULL context);
} scanout_stream;

/* As scanout_open_fd. The struct is copied; what `context` points to is yours. */
SCANOUT_MUST_USE scanout_result scanout_open_stream(
    const scanout_stream *stream, const char *SCANOUT_MAY_BE_NULL name, const scanout_options *SCANOUT_MAY_BE_NULL options, scanout_player **opened,
    char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* What to ask of a camera. What is 0 the library chooses: the largest frames up to 1920x1080 that come 24 times a second or more, in the format that
 * displays take best. */
typedef struct scanout_camera {
    uint32_t size;
    uint32_t format;                   /* the driver's code of the format, four characters with the first in the lowest byte: NV12, YUYV */
    uint32_t width, height;            /* of the frames, in pixels; both or none */
    uint32_t rate_numerator;           /* frames a second, as a fraction; the camera takes the nearest that it has. Both or none */
    uint32_t rate_denominator;
    uint32_t reconnects;               /* 1: a camera that is unplugged is waited for, with its last frame; otherwise SCANOUT_EVENT_FAILED */
    uint32_t reserved;
} scanout_camera;

/* As scanout_open, for the camera with this name, a part of it, or its path; NULL: the first. `camera` may be NULL. Each frame is shown as soon as it
 * comes, and lies in the same memory for the display and for exporters. Film time counts from the first frame. Pausing keeps the frame; what comes
 * meanwhile is left out. It cannot seek. A camera that is missing, busy or refused gives a sentence and SCANOUT_ERROR_DEVICE, or
 * SCANOUT_ERROR_OPEN where the user may not open it; one without the format or the size, SCANOUT_ERROR_DATA. */
SCANOUT_MUST_USE scanout_result scanout_open_camera(
    const char *SCANOUT_MAY_BE_NULL name, const scanout_camera *SCANOUT_MAY_BE_NULL camera, const scanout_options *SCANOUT_MAY_BE_NULL options,
    scanout_player **opened, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Makes an opening that is under way fail soon with SCANOUT_ERROR_CANCELLED, even while a server does not answer. Returns at once, and does nothing
 * to a film that is open. scanout_close does the same first. The one thing that cannot be hurried is the system's look-up of a server's name: its
 * thread then ends by itself later. */
scanout_result scanout_cancel_open(scanout_player *player);

/* Ends playback and joins its threads; blocks for some milliseconds. Frames that you hold stay unchanged until you release them. NULL is allowed. */
void scanout_close(scanout_player *SCANOUT_MAY_BE_NULL player);

/* Commands return at once and take effect in the order in which they are given. */
scanout_result scanout_play(scanout_player *player);
scanout_result scanout_pause(scanout_player *player);
/* Shows the frame of `film_time`, exactly, and goes on from there. Returns the seek's number, 1 or more, each greater than the one before; or a
 * negative scanout_result. From its return on your exporters hand out nothing that comes before this seek, neither frames nor SCANOUT_END: until its
 * first frame is there the answer is SCANOUT_NOTHING. scanout_frame_info.serial and SCANOUT_EVENT_SOUGHT carry the number. */
int64_t scanout_seek(scanout_player *player, int64_t film_time);
/* Pauses and shows the next frame, or with 0 the previous one, which is a seek with a number of its own. */
scanout_result scanout_step(scanout_player *player, int32_t forward);
/* Film seconds per second, above 0; 1 is as recorded. */
scanout_result scanout_set_rate(scanout_player *player, double rate);
/* 0 is silent, 1 as recorded. */
scanout_result scanout_set_volume(scanout_player *player, double volume);

/* Readings never block. With NULL they read as if nothing played. */
int64_t scanout_position(scanout_player *SCANOUT_MAY_BE_NULL player);   /* film time */
int64_t scanout_duration(scanout_player *SCANOUT_MAY_BE_NULL player);   /* SCANOUT_NO_TIME: the film has no known end */
/* When the frame of `film_time` was made, in nanoseconds since 1970 (UTC, as CLOCK_REALTIME counts), where the film's sender says so: RTP senders by
 * RTCP, HLS lists by EXT-X-PROGRAM-DATE-TIME, DASH manifests that grow. SCANOUT_NO_TIME: it does not, or has not yet. */
int64_t scanout_program_date(scanout_player *SCANOUT_MAY_BE_NULL player, int64_t film_time);
int32_t scanout_is_playing(scanout_player *SCANOUT_MAY_BE_NULL player); /* 1: time runs, or will as soon as the first frame is there */
uint32_t scanout_state(scanout_player *SCANOUT_MAY_BE_NULL player);     /* scanout_state_value; SCANOUT_EVENT_STATE reports each change */

typedef struct scanout_statistics {
    uint32_t size;
    uint32_t stalls;         /* how often the film waited because its source was slower, or had stopped */
    int64_t stalled;         /* nanoseconds that it waited so, in all */
    uint64_t frames_decoded;
    uint64_t frames_shown;   /* on the display, or taken by one without a clock */
    uint64_t frames_dropped; /* for whatever reason: late, damaged, made void by a seek */
    uint64_t bytes_copied;   /* of pixels, after decoding; 0 on a path without copies */
    /* Of a film on a web server; for others 0, and SCANOUT_NO_TIME. */
    uint64_t bytes_fetched;    /* that have come, those included that came twice */
    uint64_t bytes_ahead;      /* in memory or on disk from where the film is being read, without a hole */
    int64_t time_ahead;        /* the same in nanoseconds of the film; SCANOUT_NO_TIME: not known */
    uint64_t bytes_per_second; /* that came in the last three seconds */
    uint32_t percent_ahead;    /* of what is to be fetched ahead; 100 also where all is there up to the film's end */
    uint32_t reserved;
} scanout_statistics;

/* What has happened so far. */
scanout_result scanout_get_statistics(scanout_player *player, scanout_statistics *statistics);

/* --------------------------------------------------------------------------------------------------------------- What is in the film
 *
 *     scanout_track_info track = { .size = sizeof track };
 *     for (uint32_t index = 0; scanout_get_track(player, index, &track) == SCANOUT_OK; index++) printf("%s\n", track.codec);
 *
 * All of it is read from the container when the film is opened and does not change, but for is_selected. The functions never block. They answer
 * SCANOUT_END for an index beyond the last, and SCANOUT_NOTHING while no film is open (opens_async, until SCANOUT_EVENT_OPENED).
 * Strings are UTF-8, belong to the player and stay valid and unchanged until scanout_close. They come from the film: with
 * SCANOUT_SANDBOX_FULL they have no control characters and at most 1000 bytes. */

typedef struct scanout_film_info {
    uint32_t size;
    uint32_t track_count, chapter_count, metadata_count;
    int64_t duration;      /* of the whole film, also where play_duration ends it; SCANOUT_NO_TIME: it has no known end */
    const char *SCANOUT_MAY_BE_NULL container; /* FFmpeg's name: "mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm" … */
    const char *SCANOUT_MAY_BE_NULL title; /* NULL: the container has none */
    uint32_t is_seekable;  /* 1: seeks can be expected to work */
    uint32_t reserved;
} scanout_film_info;

/* What the container says of the film as a whole. */
scanout_result scanout_get_film(scanout_player *player, scanout_film_info *film);

typedef enum scanout_track_kind {
    SCANOUT_TRACK_OTHER = 0, /* timed metadata and the like */
    SCANOUT_TRACK_VIDEO = 1,
    SCANOUT_TRACK_AUDIO = 2,
    SCANOUT_TRACK_SUBTITLE = 3,
    SCANOUT_TRACK_COVER = 4  /* one frame that is not a film */
} scanout_track_kind;

typedef struct scanout_track_info {
    uint32_t size;
    uint32_t kind;                 /* scanout_track_kind */
    uint32_t id;                   /* its number in the container, from 0 */
    uint32_t number;               /* by which scanout_options and scanout_set_subtitle_track choose it: counted from 1 within its kind, covers after the
                                      moving frames; 0: it cannot be chosen */
    const char *SCANOUT_MAY_BE_NULL codec; /* FFmpeg's name: "h264", "aac", "subrip" … */
    const char *SCANOUT_MAY_BE_NULL language; /* ISO 639 code; NULL: not said */
    const char *SCANOUT_MAY_BE_NULL title; /* NULL: it has none */
    int64_t duration;              /* SCANOUT_NO_TIME: not said */
    int64_t bit_rate;              /* bits a second; 0: unknown */
    uint8_t is_default;            /* 1: the container marks it as the one to play */
    uint8_t is_decodable;          /* 1: there is a decoder for it */
    uint8_t is_selected;           /* 1: it plays, or is shown; of sound and frames from the beginning, of subtitles until another is chosen */
    uint8_t is_forced;             /* 1: subtitles that every viewer needs, such as signs and foreign dialogue */
    uint8_t is_hearing_impaired;   /* 1: subtitles that describe sounds, too */
    uint8_t reserved[3];
    uint32_t width, height;        /* of frames, in pixels that are meant to be seen, before they are rotated; 0: unknown, as all that follow */
    uint32_t frame_rate[2];        /* frames a second: 30000 : 1001 */
    uint32_t pixel_aspect[2];      /* width : height of a pixel */
    uint32_t rotation;             /* clockwise degrees until the frame stands upright */
    uint32_t sample_rate;          /* of sound, in Hz */
    uint32_t channel_count;
    uint32_t reserved2;
    const char *SCANOUT_MAY_BE_NULL channel_layout; /* FFmpeg's name: "stereo", "5.1(side)" …; NULL: not said */
} scanout_track_info;

/* The track at `index`, from 0. */
scanout_result scanout_get_track(scanout_player *player, uint32_t index, scanout_track_info *track);

/* Shows this track of subtitles from now on; 0: none. Returns at once. SCANOUT_ERROR_ARGUMENT for a number below 0, SCANOUT_END for one without a
 * track: what was shown stays. Where subtitles are neither drawn (no window, no monitor) nor taken (takes_subtitles) no track can be shown. */
scanout_result scanout_set_subtitle_track(scanout_player *player, int32_t number);

typedef struct scanout_chapter {
    uint32_t size;
    uint32_t reserved;
    int64_t start, end; /* film times; a chapter whose end the container does not state ends with the next one, the last with the film */
    const char *SCANOUT_MAY_BE_NULL title; /* "" for one without a name */
} scanout_chapter;

/* The chapter at `index`, from 0, in the order of their times. */
scanout_result scanout_get_chapter(scanout_player *player, uint32_t index, scanout_chapter *chapter);

typedef struct scanout_metadata {
    uint32_t size;
    uint32_t reserved;
    const char *SCANOUT_MAY_BE_NULL name; /* FFmpeg's: "title", "artist", "comment", "date" … */
    const char *SCANOUT_MAY_BE_NULL text;
} scanout_metadata;

/* The container's tag at `index`, from 0, in the order of their names. */
scanout_result scanout_get_metadata(scanout_player *player, uint32_t index, scanout_metadata *metadata);

/* ---------------------------------------------------------------------------------------------------------------------------- Events */

/*     IDLE ── open ──► OPENING ──► PREPARING ──► PLAYING ◄──► WAITING
 *                                      ▲            ▲ │
 *                                      │  play/pause│ ▼
 *                                    seek ◄────── PAUSED, PLAYING, WAITING, ENDED, FAILED
 *
 * PREPARING ends with the first frame of the position on the display and its first sound decoded. A film that loops goes on PLAYING on a display,
 * without a gap, and prepares again for exporters and untimed sinks. Every state but IDLE may become FAILED; OPENING becomes IDLE when opening
 * fails. */
typedef enum scanout_state_value {
    SCANOUT_STATE_IDLE = 0,      /* no film is open: opening has failed or was cancelled */
    SCANOUT_STATE_OPENING = 1,   /* the head of the file is being read */
    SCANOUT_STATE_PREPARING = 2, /* time stands at the position until its first frame is on the display */
    SCANOUT_STATE_PLAYING = 3,   /* time runs */
    SCANOUT_STATE_PAUSED = 4,    /* time stands because you paused the film */
    SCANOUT_STATE_WAITING = 5,   /* time stands because the source is slower than the film, or has stopped; it goes on when enough has come */
    SCANOUT_STATE_ENDED = 6,     /* everything has been shown and heard */
    SCANOUT_STATE_FAILED = 7     /* playback cannot go on; SCANOUT_EVENT_FAILED has said why. A seek may help */
} scanout_state_value;

/* More kinds may come: ignore those that you do not know. */
typedef enum scanout_event_kind {
    SCANOUT_EVENT_ENDED = 1,  /* the last frame and sound have had their time; a seek or scanout_play continues */
    SCANOUT_EVENT_FAILED = 2, /* playback cannot go on; `result` and `text` say why */
    SCANOUT_EVENT_NOTICE = 3, /* `text` is for the viewer: the sound device is gone, a frame is damaged */
    SCANOUT_EVENT_DETAIL = 4, /* `text` is a detail for a log: what was chosen and why */
    SCANOUT_EVENT_CLOSE = 5,  /* the viewer wants the window closed */
    SCANOUT_EVENT_KEY = 6,    /* a key was pressed in the window; `text` is its name in mpv's input.conf: "SPACE", "q", "LEFT" … */
    SCANOUT_EVENT_SHOWN = 7,  /* of a queue: the first frame since the beginning, or since a flush, is on the display */
    SCANOUT_EVENT_SOUGHT = 8, /* the first frame after the seek `serial` is on the display, and in the exporters, or the film has none from there on.
                                 With a `result` below 0 the source refused, and the film goes on where it was; `text` says why. Of several seeks
                                 in a row only the last is reported */
    SCANOUT_EVENT_OPENED = 9, /* with opens_async: the film is open, as when scanout_open returns without it */
    SCANOUT_EVENT_STATE = 10, /* the player is in another state now: `state`. Every change is reported */
    SCANOUT_EVENT_SUBTITLES = 11, /* with takes_subtitles, in films with a clock: other subtitles are on at the position than before; `text` is theirs,
                                 empty when none are, or only images. scanout_subtitles_at has the whole */
    SCANOUT_EVENT_CACHE = 12  /* of a film on a web server another tenth of what is to be fetched ahead is there, or was read and is not there any
                                 more: `percent`. scanout_get_statistics has the seconds and the speed */
} scanout_event_kind;

typedef struct scanout_event {
    uint32_t size;
    uint32_t kind;  /* scanout_event_kind */
    int32_t result; /* scanout_result */
    char text[500]; /* UTF-8 with its zero, cut to fit */
    uint64_t serial; /* of SCANOUT_EVENT_SOUGHT: what scanout_seek returned */
    uint32_t state;   /* of SCANOUT_EVENT_STATE: scanout_state_value */
    uint32_t percent; /* of SCANOUT_EVENT_CACHE */
} scanout_event;

/* A descriptor for poll(2), lent until the player is closed: readable while there are events. Do not read from it. */
int scanout_event_fd(scanout_player *player);

/* The next event; SCANOUT_NOTHING when none came within `timeout`. At most 64 are kept, the newest. */
SCANOUT_MUST_USE scanout_result scanout_next_event(scanout_player *player, int64_t timeout, scanout_event *event);

/* ---------------------------------------------------------------------------------------------------------------------------- Frames
 *
 * Make an exporter first and pass it to scanout_open: the number of frames that you may hold decides how much memory the decoder gets:
 *
 *     scanout_exporter *exporter;
 *     if (scanout_exporter_new(NULL, &exporter) != SCANOUT_OK) ...
 *     scanout_options options = { .size = sizeof options, .exporters = &exporter, .exporter_count = 1 };
 *     ...
 *     scanout_frame *frame;                                             (each time that you draw)
 *     if (scanout_exporter_frame_for(exporter, when_mine_lights_up, &frame) == SCANOUT_OK) {
 *         scanout_frame_info info = { .size = sizeof info };
 *         scanout_frame_describe(frame, &info);
 *         if (info.is_new) ... import info.planes[0].fd, or find what you made of info.identity before ...
 *         scanout_frame_release(frame);
 *     }
 */

typedef enum scanout_policy {
    SCANOUT_POLICY_DROP_OLDEST = 0, /* frames that you do not fetch in time are dropped; the film plays on whatever you do */
    SCANOUT_POLICY_WAIT = 1         /* the decoder waits for you, and the film with it: you get every frame, however you fetch them */
} scanout_policy;

typedef struct scanout_exporter_options {
    uint32_t size;
    uint32_t budget;       /* different frames that you may hold at once; 0: 3. You get no more until you release one
                              and the fence that you released it with has signalled */
    uint32_t bound;        /* frames that may wait to be fetched; 0: 8 */
    uint32_t policy;       /* scanout_policy */
    uint32_t when_decoded; /* 1: scanout_exporter_wait gives frames as soon as they are decoded, not when they are due */
    uint32_t copies;       /* 1: over the budget you get copies, in memory of their own, instead of nothing */
    uint32_t row_alignment; /* rows begin so many bytes apart, or a multiple of it: a power of two, at most 4096, for devices that import nothing
                               else. A wish: frames of hardware decoders and cameras lie as their drivers have it; deinterlaced ones
                               have 64. 0: 64 */
    uint32_t modifier_count; /* of `modifiers`, at most 64 */
    const char *SCANOUT_MAY_BE_NULL formats; /* what you take, by FFmpeg's names: "nv12,yuv420p". A film in another format is converted once, for all
                               exporters and the display (scanout_statistics.bytes_copied counts it), to the one of these that keeps most of it.
                               Several exporters of a film get one that all of them take, or what the first takes; SCANOUT_EVENT_DETAIL tells the
                               others. NULL: any. The same holds for `modifiers`, and for `width` and `height` */
    const uint64_t *SCANOUT_MAY_BE_NULL modifiers; /* what you take, as DRM_FORMAT_MOD_*. Frames with another one are converted to linear ones (0); where
                               you do not take those, the film fails with a sentence. NULL: any */
    uint32_t width, height; /* visible pixels, before the frame is turned upright, up to 16384: others are scaled, and pixel_aspect keeps the shape of
                               what is seen. Both or none */
    uint64_t device;        /* st_rdev of the render node that you import on. Frames that another device has laid out in its own way are converted to
                               linear ones; linear frames come as they are, whosever memory it is. 0: not said */
} scanout_exporter_options;

/* `options` may be NULL. Close *exporter with scanout_exporter_close. */
SCANOUT_MUST_USE scanout_result scanout_exporter_new(const scanout_exporter_options *SCANOUT_MAY_BE_NULL options, scanout_exporter **exporter);

/* Ends every wait, removes the news handler, takes no more frames and releases the handle. Frames that you hold stay unchanged. NULL is allowed. */
void scanout_exporter_close(scanout_exporter *SCANOUT_MAY_BE_NULL exporter);

/* A frame that you hold: its memory does not change until you release it. */
typedef struct scanout_frame scanout_frame;

/* Pull: the frame for `host_time`, the moment at which your own frame will light up. It is the newest whose time has come by then, and the same
 * one again when nothing newer is due. Release *frame. SCANOUT_NOTHING before the first frame, after a seek until its frame is there (keep what
 * you have drawn), and while you hold too many. With SCANOUT_POLICY_WAIT you get every frame once before the next, also one that is late. Never
 * waits. */
SCANOUT_MUST_USE scanout_result scanout_exporter_frame_for(scanout_exporter *exporter, int64_t host_time, scanout_frame **frame);

/* Push: the next frame that you have not had yet; waits for it until `timeout`. Release *frame. SCANOUT_NOTHING: none came in time;
 * SCANOUT_END: the film is over. After a seek there are frames again, and its first is the first that you get. */
SCANOUT_MUST_USE scanout_result scanout_exporter_wait(scanout_exporter *exporter, int64_t timeout, scanout_frame **frame);

/* When the next frame lights up, for a renderer that sleeps until there is something to draw: a host time, in the past when the frame is due
 * already. SCANOUT_NO_TIME: no frame waits, or the film stands still; news will come. Never waits. */
int64_t scanout_exporter_next_time(scanout_exporter *exporter);

/* News: `handler` is called with `context` when there may be something to fetch (a frame has come, the film is over, a seek or a change of
 * the clock has altered what is due, a fence that you released a frame with has signalled). It replaces the one before; NULL: none.
 *
 * No thread is woken for it: it runs on the thread that brought the news, which for a frame is the decoder's, and else whichever it was, yours
 * inside a scanout_... call of yours included; on several at once where that happens. Nothing is locked, so it may fetch frames
 * (scanout_exporter_frame_for, scanout_exporter_wait with a timeout of 0) and release them. Until it returns that thread decodes nothing: it must
 * not wait, for your renderer or its locks least of all, and must not close anything or set a handler. Most set a flag, or write to
 * an eventfd that the renderer polls, and fetch in the renderer's own time.
 *
 * When this returns, and when scanout_exporter_close has, the handler before is not running any more: its context can go. */
typedef void (*scanout_news_handler)(void *SCANOUT_MAY_BE_NULL context);
scanout_result scanout_exporter_set_news_handler(
    scanout_exporter *exporter, scanout_news_handler SCANOUT_MAY_BE_NULL handler, void *SCANOUT_MAY_BE_NULL context);

typedef struct scanout_exporter_statistics {
    uint32_t size;
    uint32_t reserved;
    uint64_t offered;      /* frames that were decoded */
    uint64_t delivered;    /* that you got, each counted once */
    uint64_t late;         /* whose time was over before you asked */
    uint64_t over_budget;  /* that you did not get because you held too much */
    uint64_t flushed;      /* that a seek made void */
    uint64_t bytes_copied; /* for `copies`; 0 otherwise: nothing else copies */
} scanout_exporter_statistics;

/* What has happened so far. */
scanout_result scanout_exporter_get_statistics(scanout_exporter *exporter, scanout_exporter_statistics *statistics);

/* ------------------------------------------------------------------------------------------------------------------------- Subtitles
 *
 * Text and pictures of the subtitles that are on at a time of the film, to be shown over your frames or read out. Open the film with
 * `takes_subtitles`, and ask with each frame; while nothing changes the answer is at hand and `serial` stays:
 *
 *     scanout_canvas canvas = { .size = sizeof canvas, .width = 1920, .height = 1080 };
 *     scanout_subtitles *subtitles;
 *     if (scanout_subtitles_at(player, info.film_time, &canvas, -1, &subtitles) == SCANOUT_OK) {
 *         scanout_subtitles_info on = { .size = sizeof on };
 *         scanout_subtitles_describe(subtitles, &on);
 *         if (on.serial != uploaded) ... upload on.pixels, or nothing where that is NULL; uploaded = on.serial ...
 *         ... lay the texture over the frame at on.x, on.y ...
 *         scanout_subtitles_release(subtitles);
 *     }
 *
 * With SCANOUT_SANDBOX_FULL text, fonts and images are read in a process without rights; the answers are the same. */

/* What is on at a time of the film. It does not change. */
typedef struct scanout_subtitles scanout_subtitles;

/* What you draw on. */
typedef struct scanout_canvas {
    uint32_t size;
    uint32_t width, height;           /* pixels, 1 to 16384 */
    int32_t film_x, film_y;           /* where the film lies on it; plain text may lie beside the film */
    uint32_t film_width, film_height; /* both 0: it covers the canvas */
    uint32_t reserved;
} scanout_canvas;

/* The subtitles that are on at `film_time`, mostly scanout_frame_info.film_time of a frame that you hold, or scanout_position: everything counts that
 * was read before that frame. `canvas` may be NULL: then nothing is drawn, and there is only text. A new picture is drawn on a thread of the
 * player's; this blocks for it until `timeout`, mostly some milliseconds. Release *subtitles with scanout_subtitles_release; it outlives the player.
 *
 * SCANOUT_OK also where nothing is on: then there are no lines. SCANOUT_NOTHING: it was not drawn in time, or no film is open. SCANOUT_END: the film
 * has no subtitles, or takes_subtitles is 0. SCANOUT_ERROR_ARGUMENT for SCANOUT_NO_TIME, and a canvas of no size or too large a one. */
SCANOUT_MUST_USE scanout_result scanout_subtitles_at(
    scanout_player *player, int64_t film_time, const scanout_canvas *SCANOUT_MAY_BE_NULL canvas, int64_t timeout, scanout_subtitles **subtitles);

typedef struct scanout_subtitles_info {
    uint32_t size;
    uint32_t line_count;    /* lines of text and images that are on, at most 256 */
    int64_t from, until;    /* film times between which nothing changes, as far as the film has been read, counted in milliseconds. SCANOUT_NO_TIME:
                               nothing is known before, or behind. SCANOUT_EVENT_SUBTITLES says when it came differently: a line was read, another
                               track was chosen */
    uint64_t serial;        /* of the picture on this canvas, 1 or more: the same as last time where it is the same, also where there is none */
    const char *text;       /* of all lines, with \n between them, without tags; "" where nothing is on, or only images. UTF-8, from the film; lent
                               until the release, as all that follows */
    const void *SCANOUT_MAY_BE_NULL pixels; /* DRM_FORMAT_ARGB8888 (bytes: blue, green, red, alpha), premultiplied; NULL: there is nothing to draw */
    uint32_t pitch;         /* bytes from row to row */
    int32_t x, y;           /* where they lie on the canvas */
    uint32_t width, height;
    uint32_t reserved;
} scanout_subtitles_info;

/* Fills in everything up to info->size. */
scanout_result scanout_subtitles_describe(const scanout_subtitles *subtitles, scanout_subtitles_info *info);

typedef struct scanout_subtitle_line {
    uint32_t size;
    uint32_t is_image;     /* 1: an image, as discs and broadcasts have them; there is no text */
    int64_t start, end;    /* film times from which and until which it is on; `end` SCANOUT_NO_TIME: until the next one, which is not read yet */
    const char *text;      /* without tags, with \n between rows; "" for images and drawings. Lent until the whole is released, as all that
                              follow */
    const char *SCANOUT_MAY_BE_NULL ass;   /* with the override tags of ASS, which other formats of text are turned into; NULL for images */
    const char *SCANOUT_MAY_BE_NULL style; /* the name of its style in an ASS script; NULL for other formats */
    int32_t x, y;          /* where an image lies on the canvas that the disc or broadcast counts on */
    uint32_t width, height;
    uint32_t canvas_width, canvas_height; /* 0: not said */
} scanout_subtitle_line;

/* The line at `index`, from 0, in the order of their starts. SCANOUT_END behind the last one. */
scanout_result scanout_subtitles_get_line(const scanout_subtitles *subtitles, uint32_t index, scanout_subtitle_line *line);

/* NULL is fine. */
void scanout_subtitles_release(scanout_subtitles *SCANOUT_MAY_BE_NULL subtitles);

/* --------------------------------------------------------------------------------------------------------- What a frame is, and its end */

#define SCANOUT_MAX_PLANES 4

/* Where a plane lies, as EGL_DMA_BUF_PLANE0_FD_EXT and VkSubresourceLayout take it, and its part that is meant to be seen. */
typedef struct scanout_plane {
    int32_t fd;                             /* lent: dup(2) it to keep it beyond the frame. All planes have the same */
    uint32_t pitch;                         /* bytes from row to row */
    uint64_t offset;                        /* bytes from the start of the memory to the first row */
    uint64_t visible_offset;                /* to the first visible byte */
    uint32_t width, height;                 /* sample positions in a row, and rows, that have memory */
    uint32_t visible_width, visible_height; /* and that are meant to be seen */
    uint32_t bits;                          /* from one sample position to the next */
    uint32_t components;                    /* that share them evenly: 1 in yuv420p, 2 in NV12's second plane; 0: it is not so simple */
    uint32_t reserved[4];
} scanout_plane;

/* HDR10: the display that the film was graded on (SMPTE ST 2086), and its brightest light (CTA-861.3). */
typedef struct scanout_hdr {
    uint16_t red[2], green[2], blue[2], white[2]; /* CIE 1931 x and y, in units of 0.00002 */
    uint32_t maximum_luminance, minimum_luminance; /* units of 0.0001 cd/m² */
    uint16_t maximum_light, average_light;         /* cd/m²; 0: unknown */
    uint16_t reserved[10];
} scanout_hdr;

/* Where a frame's memory comes from. More kinds may come. */
typedef enum scanout_memory_kind {
    SCANOUT_MEMORY_UNKNOWN = 0,  /* of another process, which does not say */
    SCANOUT_MEMORY_MEMFD = 1,    /* of the system; only the CPU reads it */
    SCANOUT_MEMORY_UDMABUF = 2,  /* of the system, as a DMA-BUF */
    SCANOUT_MEMORY_DMA_HEAP = 3, /* from one of the kernel's heaps, as a DMA-BUF */
    SCANOUT_MEMORY_DEVICE = 4,   /* a hardware decoder's, as a DMA-BUF; `device` says whose */
    SCANOUT_MEMORY_GIVEN = 5     /* a camera's, as a DMA-BUF */
} scanout_memory_kind;

typedef struct scanout_frame_info {
    uint32_t size;
    uint32_t fourcc;                             /* DRM_FORMAT_* of drm_fourcc.h; 0: the kernel has no code for it */
    uint64_t modifier;                           /* DRM_FORMAT_MOD_*; 0: rows one after the other */
    char format[16];                             /* FFmpeg's name: "yuv420p", "yuv420p10le", "nv12" … */
    uint32_t bit_depth;                          /* of one component. In yuv420p10le they are the low bits of 16, in p010le the high ones */
    uint32_t plane_count;
    scanout_plane planes[SCANOUT_MAX_PLANES];
    uint64_t byte_count;                         /* of the memory that all planes lie in */
    uint32_t coded_width, coded_height;          /* pixels that have memory */
    uint32_t visible_x, visible_y, visible_width, visible_height;
    uint32_t pixel_aspect[2];                    /* width : height of a pixel; 0 : 0 when unknown, which means square */
    uint32_t rotation;                           /* clockwise degrees until the frame stands upright: 0, 90, 180, 270 */
    uint8_t is_mirrored;                         /* 1: then left and right change places */
    uint8_t primaries, transfer, matrix;         /* ITU-T H.273; 2: the film does not say */
    uint8_t range;                               /* 0: not said, 1: limited, 2: full */
    uint8_t chroma_siting;                       /* 0: not said, 1: left, 2: centre, 3: top left, 4: top, 5: bottom left, 6: bottom */
    uint8_t has_hdr;                             /* 1: `hdr` is filled in */
    uint8_t is_dmabuf;                           /* 1: devices can import it; 0: a memfd, to be mapped and uploaded */
    uint8_t is_new;                              /* 0: you had this one last time */
    uint8_t is_copy;                             /* 1: a copy, because you held too much */
    uint8_t field_order;                         /* 0: rows of one moment; two fields: 1: that of the upper row first, 2: that of the lower row */
    uint8_t reserved;
    scanout_hdr hdr;
    int64_t film_time, duration;                 /* SCANOUT_NO_TIME: unknown */
    int64_t host_time;                           /* when it is to light up; SCANOUT_NO_TIME while the film stands, and untimed */
    uint64_t sequence;                           /* counts the exporter's frames from 0; gaps are ones that you did not get */
    uint32_t identity[3];                        /* pool, generation, slot. What you make of the memory serves all frames of one identity */
    uint32_t memory;                             /* scanout_memory_kind */
    uint64_t serial;                             /* of the seek that it follows, as scanout_seek returned it; 0 before the first */
    uint64_t device;                             /* st_rdev of the render node whose memory it is; 0: of the system, or nobody knows. Another device
                                                    imports it only if it is linear and that device's driver reaches the memory */
} scanout_frame_info;

/* Fills in everything up to info->size. */
scanout_result scanout_frame_describe(const scanout_frame *frame, scanout_frame_info *info);

typedef enum scanout_dynamic_hdr {
    SCANOUT_HDR10_PLUS = 1,  /* SMPTE ST 2094-40 as ITU-T T.35 carries it in the stream, from the country's code on */
    SCANOUT_DOLBY_VISION = 2 /* the RPU as its NAL unit or OBU carries it */
} scanout_dynamic_hdr;

/* HDR metadata of this frame alone, which `hdr` does not have, for displays that adapt to each scene: `*count` bytes, lent until the release. `kind`
 * is a scanout_dynamic_hdr. SCANOUT_NOTHING: the frame has none, as those of another process. */
scanout_result scanout_frame_dynamic_hdr(const scanout_frame *frame, uint32_t kind, const void **bytes, size_t *count);

/* The fence (a sync_file, yours to close) that a device must wait for before it reads; -1 when the frame is finished. */
SCANOUT_MUST_USE int scanout_frame_acquire_fence(const scanout_frame *frame);

/* Lends the bytes to the CPU, read-only, until scanout_frame_unmap or the release. Blocks until devices have written them. */
SCANOUT_MUST_USE scanout_result scanout_frame_map(scanout_frame *frame, const void **bytes);
void scanout_frame_unmap(scanout_frame *frame);

/* You read no more; the decoder may write the memory again. NULL is fine. */
void scanout_frame_release(scanout_frame *SCANOUT_MAY_BE_NULL frame);
/* As scanout_frame_release, once the sync_file `fence` has signalled; it is taken over and closed. -1: no fence. */
void scanout_frame_release_after(scanout_frame *SCANOUT_MAY_BE_NULL frame, int fence);

/* Explicit synchronisation with points of a timeline (drm_syncobj) instead of sync_files: for Vulkan's timeline semaphores where the driver makes
 * them of such descriptors, and for compositors (linux-drm-syncobj-v1). A frame's acquire point says when a device may read it; its release point, when
 * the device has. */
typedef struct scanout_timeline scanout_timeline;

/* A timeline on the DRM device that you have open as `drm`; its descriptor stays yours. `syncobj` is a timeline's descriptor, which stays yours too,
 * or -1: a new timeline. Close *timeline with scanout_timeline_close. SCANOUT_ERROR_DEVICE where `drm` has no timelines (before Linux 6.6, and
 * drivers without them); `message` is as for scanout_open. */
SCANOUT_MUST_USE scanout_result scanout_timeline_new(
    int drm, int syncobj, scanout_timeline **timeline, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* A descriptor of it, yours to close, for drivers and compositors to import; -1 when the process has none left. */
SCANOUT_MUST_USE int scanout_timeline_fd(const scanout_timeline *timeline);

/* The point is reached at this moment, as if a device had done it. Points grow. SCANOUT_ERROR_ARGUMENT for 0. */
scanout_result scanout_timeline_signal(scanout_timeline *timeline, uint64_t point);

/* Frames that wait for its points still do. NULL is allowed. */
void scanout_timeline_close(scanout_timeline *SCANOUT_MAY_BE_NULL timeline);

/* The point is reached as soon as a device may read the frame: what scanout_frame_acquire_fence is as a sync_file. Never blocks. */
SCANOUT_MUST_USE scanout_result scanout_frame_acquire_at(const scanout_frame *frame, scanout_timeline *timeline, uint64_t point);

/* As scanout_frame_release, once the point is reached; what reaches it may be submitted later. On failure the frame is still yours. */
SCANOUT_MUST_USE scanout_result scanout_frame_release_at(scanout_frame *frame, scanout_timeline *timeline, uint64_t point);

/* ------------------------------------------------------------------------------------------------------------------- Other processes
 *
 * Frames for other programs on this machine, over a Unix socket, in the memory into which the decoder wrote them: for those that use this library,
 * and for GStreamer's unixfdsrc. docs/wire.md describes the protocol.
 *
 *     scanout_server_new("/run/user/1000/film", NULL, &server, message, sizeof message);
 *     scanout_exporter *exporter = scanout_server_exporter(server);
 *     scanout_options options = { .size = sizeof options, .exporters = &exporter, .exporter_count = 1 };
 */

typedef struct scanout_server scanout_server;

typedef struct scanout_server_options {
    uint32_t size;
    uint32_t client_limit;      /* programs served at once, 1 to 64; 0: 4 */
    uint32_t client_budget;     /* frames that each may hold at once, 1 to 64; 0: 4. A program that holds them all misses frames */
    uint32_t sends_every_frame; /* 1: waits for the first program, and makes the film wait for slow ones */
    const scanout_exporter_options *SCANOUT_MAY_BE_NULL frames; /* what the frames are to be, since programs cannot ask for it themselves: formats,
                                   modifiers, width, height, row_alignment, device; all else in it is 0. Read during the call. NULL: as decoded */
} scanout_server_options;

/* Opens the socket and begins to serve, on a thread of its own. Only programs of this user are served. A socket that nobody listens on is replaced.
 * `options` may be NULL. Close *server with scanout_server_close. SCANOUT_ERROR_OPEN when the socket cannot be made; `message` is as for
 * scanout_open. */
SCANOUT_MUST_USE scanout_result scanout_server_new(
    const char *path, const scanout_server_options *SCANOUT_MAY_BE_NULL options, scanout_server **server, char *SCANOUT_MAY_BE_NULL message,
    size_t message_size);

/* The exporter to pass to scanout_open, lent until the server is closed: the server takes its frames and nobody else. */
scanout_exporter *scanout_server_exporter(scanout_server *server);

/* 1: another film follows the one that the exporter serves, and programs get its frames without an end between. To be said before the film ends; 0
 * before the last one ends. */
scanout_result scanout_server_set_continues(scanout_server *server, int32_t continues);

/* Gives the server another film, for programs that ask for it by `name` (1 to 255 bytes); all others get the first one. *exporter is what its player
 * gets, lent until the film is removed or the server closed. `frames` is as in scanout_server_options and may be NULL. SCANOUT_ERROR_ARGUMENT also
 * where the server has a film of that name. */
SCANOUT_MUST_USE scanout_result scanout_server_add(
    scanout_server *server, const char *name, const scanout_exporter_options *SCANOUT_MAY_BE_NULL frames, scanout_exporter **exporter);

/* Takes away a film that was added: its programs hear that it has ended, and keep what they hold. Close its player before. Nothing where there is
 * none of that name. */
scanout_result scanout_server_remove(scanout_server *server, const char *name);

/* Waits until the film has ended (each that has begun) and every program has given back what it held, or is gone. A player that is closed before drops what programs have
 * not got yet, also where another film follows. SCANOUT_NOTHING: not within `timeout`.
 * SCANOUT_ERROR_DATA: the protocol has no name for the film's format. */
scanout_result scanout_server_wait(scanout_server *server, int64_t timeout);

typedef struct scanout_server_statistics {
    uint32_t size;
    uint32_t clients;        /* connected now */
    uint64_t clients_served; /* so far */
    uint64_t frames_sent;    /* counted for each client */
    uint64_t frames_skipped; /* that a client over its budget did not get */
} scanout_server_statistics;

scanout_result scanout_server_get_statistics(scanout_server *server, scanout_server_statistics *statistics);

/* Ends every connection and removes the socket; blocks for some milliseconds. Before or after scanout_close. NULL is allowed. */
void scanout_server_close(scanout_server *SCANOUT_MAY_BE_NULL server);

/* Frames of another process: of a server as above, of `scanout --export`, or of GStreamer's unixfdsink. */
typedef struct scanout_remote scanout_remote;

/* Connects to the socket. Close *remote with scanout_remote_close. SCANOUT_ERROR_OPEN when nobody serves there; `message` is as for scanout_open. */
SCANOUT_MUST_USE scanout_result scanout_remote_open(
    const char *path, scanout_remote **remote, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* The same for a film that the server has by a name. Blocks until it has answered, for up to 5 s. SCANOUT_ERROR_OPEN also where there is none of that
 * name; `message` says which there are. */
SCANOUT_MUST_USE scanout_result scanout_remote_open_film(
    const char *path, const char *name, scanout_remote **remote, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Writes the names of the films at `path` to `names`, each with a zero at its end, and one zero more after the last; the first film has none. Blocks
 * for up to 5 s. SCANOUT_ERROR_ARGUMENT: they do not fit into `size` bytes. SCANOUT_ERROR_OPEN: nobody serves there, or only what has no names. */
SCANOUT_MUST_USE scanout_result scanout_remote_get_films(const char *path, char *names, size_t size);

/* The next frame, as scanout_exporter_wait; one thread at a time. Release *frame: until then it counts at the server. SCANOUT_END: the stream has
 * ended; SCANOUT_ERROR_DATA: the server is gone, or sends what it should not. `sequence` and `serial` are this side's. */
SCANOUT_MUST_USE scanout_result scanout_remote_wait(scanout_remote *remote, int64_t timeout, scanout_frame **frame);

/* Frames that you hold stay unchanged until you release them; the connection ends with the last. NULL is allowed. */
void scanout_remote_close(scanout_remote *SCANOUT_MAY_BE_NULL remote);

/* ----------------------------------------------------------------------------------------------------------------------------- Sound
 *
 * The film's decoded sound instead of a sound device. Make it first and pass it to scanout_open in `sound`. Samples are 32-bit floats, 1.0 the loudest;
 * channels stand in FFmpeg's native order: front left, front right, centre, low frequency ... Either take everything in order, on a thread of your
 * own:
 *
 *     while (scanout_sound_wait(sound, -1, &block) == SCANOUT_OK) analyse(block.samples, block.frame_count, block.film_time);
 *
 * or be the sound device, from the callback in which your own device asks for more:
 *
 *     scanout_sound_read(sound, buffer, frame_count, when_the_first_is_heard);
 */

typedef enum scanout_sound_delivery {
    SCANOUT_SOUND_EVERYTHING = 0, /* every sample once, as soon as it is decoded; the film waits for you, also where it has no clock
                                     (SCANOUT_OUTPUT_UNTIMED). Pause, speed and volume change nothing. A film whose frames you do not take waits for
                                     that in turn: open it with `video_track` -1, or take both */
    SCANOUT_SOUND_AS_HEARD = 1    /* what is to be heard at a given moment, at the film's speed and volume. Your device's clock becomes the film's */
} scanout_sound_delivery;

typedef struct scanout_sound_options {
    uint32_t size;
    uint32_t delivery;      /* scanout_sound_delivery */
    uint32_t sample_rate;   /* frames a second; 0: the film's. Not 0 with SCANOUT_SOUND_AS_HEARD */
    uint32_t channel_count; /* the same of channels: others are mixed as ITU-R BS.775 says */
    uint32_t is_planar;     /* 1: all samples of a channel, then those of the next; 0: frame by frame */
    uint32_t reserved;
} scanout_sound_options;

/* `options` may be NULL. SCANOUT_ERROR_ARGUMENT for a shape that no sound has. Close *sound with scanout_sound_close. */
SCANOUT_MUST_USE scanout_result scanout_sound_new(const scanout_sound_options *SCANOUT_MAY_BE_NULL options, scanout_sound **sound);

/* Ends every wait and releases the handle. A film that still plays goes on in silence. NULL is allowed. */
void scanout_sound_close(scanout_sound *SCANOUT_MAY_BE_NULL sound);

typedef struct scanout_sound_block {
    uint32_t size;
    uint32_t frame_count;
    uint32_t sample_rate, channel_count;
    const float *SCANOUT_MAY_BE_NULL samples; /* frame_count times channel_count; lent until the next scanout_sound_wait, or scanout_sound_close */
    int64_t film_time;         /* of the first frame */
    uint64_t serial;           /* of the seek that it follows, as scanout_seek returned it; 0 before the first */
    uint32_t is_discontinuous; /* 1: it does not continue the block before */
    uint32_t reserved;
} scanout_sound_block;

/* The next block of sound, of at most 4096 frames; waits for it until `timeout`. SCANOUT_NOTHING: none came in time. SCANOUT_END: the film has no more
 * sound; after a seek there is sound again, and what comes is what follows the seek. One thread at a time. SCANOUT_ERROR_ARGUMENT with
 * SCANOUT_SOUND_AS_HEARD. */
SCANOUT_MUST_USE scanout_result scanout_sound_wait(scanout_sound *sound, int64_t timeout, scanout_sound_block *block);

/* Fills `samples` with the sound to be heard from the host time `heard_at` on, and with silence where there is none. Returns how many frames of it are
 * the film's, or a scanout_result below 0. Waits for nothing but a lock that is held for microseconds. Ask as steadily as your device does, for at
 * most 0.2 s, also while the film stands: the film's clock follows these calls, and a program that stops asking has no sound until it asks again. One
 * thread at a time. */
int64_t scanout_sound_read(scanout_sound *sound, float *samples, uint32_t frame_count, int64_t heard_at);

/* -------------------------------------------------------------------------------------------------------------- Textures in OpenGL (ES)
 *
 * Frames as textures of your own context (OpenGL ES 3 or OpenGL 4.2, through EGL). Examples/film_textures.h shows how to import them by hand.
 * Each piece of memory is imported once, however many frames pass through it, and its textures are deleted when the memory is freed.
 *
 *     scanout_egl_cache_new(NULL, &cache, message, sizeof message);                    (your context is current)
 *     scanout_texture_info info = { .size = sizeof info };
 *     scanout_egl_cache_get(cache, frame, &info, message, sizeof message);
 *     ... bind info.textures[n].name to info.target, draw ...
 *     scanout_egl_cache_release(cache, frame);                                         (the device may read on; the cache sees to it)
 *
 * All of it for the thread on which the context is current, scanout_egl_cache_close too. Bindings are put back. */

typedef struct scanout_egl_cache scanout_egl_cache;

typedef enum scanout_texture_path {
    SCANOUT_TEXTURE_PLANES = 0, /* the memory itself, a texture a plane; you turn YUV into RGB */
    SCANOUT_TEXTURE_IMAGE = 1,  /* the memory itself, one texture of RGB: the driver converts (samplerExternalOES) */
    SCANOUT_TEXTURE_UPLOAD = 2  /* a copy, a texture a plane: the memory is no DMA-BUF, or the driver does not take it */
} scanout_texture_path;

typedef struct scanout_texture_options {
    uint32_t size;
    uint32_t wants_image;    /* 1: SCANOUT_TEXTURE_IMAGE where that goes */
    uint32_t forbids_upload; /* 1: SCANOUT_ERROR_DEVICE instead of a copy */
    uint32_t limit;          /* surfaces that have textures at once; 0: 64 */
} scanout_texture_options;

/* `options` may be NULL. SCANOUT_ERROR_DEVICE when there is no EGL, no current context, or one that is too old. *cache is to be closed. */
SCANOUT_MUST_USE scanout_result scanout_egl_cache_new(
    const scanout_texture_options *SCANOUT_MAY_BE_NULL options, scanout_egl_cache **cache, char *SCANOUT_MAY_BE_NULL message, size_t message_size);
/* Deletes the textures. NULL is fine. */
void scanout_egl_cache_close(scanout_egl_cache *SCANOUT_MAY_BE_NULL cache);

typedef struct scanout_texture {
    uint32_t name;          /* as glGenTextures gives them */
    uint32_t width, height; /* texels */
    uint32_t bytes;         /* of a texel */
    uint32_t reserved[4];
} scanout_texture;

typedef struct scanout_texture_info {
    uint32_t size;
    uint32_t path;   /* scanout_texture_path */
    uint32_t target; /* GL_TEXTURE_2D or GL_TEXTURE_EXTERNAL_OES */
    uint32_t count;
    scanout_texture textures[SCANOUT_MAX_PLANES]; /* in the order of the format's planes */
    float crop[4];                              /* where the visible frame lies in each: left, top, width, height, 0 to 1 */
    uint32_t has_matrix;                        /* 1: rgb = matrix * (sample * code_scale - offset); 0: the samples are RGB */
    float code_scale;                           /* makes the greatest code value 1 */
    float offset[3];                            /* of luma, Cb, Cr */
    float matrix[9];                            /* column by column, for glUniformMatrix3fv */
} scanout_texture_info;

/* The frame's textures, valid while it is held. Commands that read them may be given at once: the device waits for the decoder's. */
SCANOUT_MUST_USE scanout_result scanout_egl_cache_get(
    scanout_egl_cache *cache, scanout_frame *frame, scanout_texture_info *info, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Releases the frame, to be written again when the device has carried out what your context has told it so far. */
void scanout_egl_cache_release(scanout_egl_cache *SCANOUT_MAY_BE_NULL cache, scanout_frame *frame);

typedef struct scanout_texture_statistics {
    uint32_t size;
    uint32_t reserved;
    uint64_t imported;     /* surfaces */
    uint64_t reused;       /* frames shown from an import made before */
    uint64_t uploaded;     /* frames copied */
    uint64_t bytes_copied;
    uint64_t dropped;      /* surfaces whose textures are gone with their memory */
} scanout_texture_statistics;

scanout_result scanout_egl_cache_get_statistics(scanout_egl_cache *cache, scanout_texture_statistics *statistics);

/* ----------------------------------------------------------------------------------------------------------------- Images in Vulkan
 *
 * The same for your own VkDevice, Vulkan 1.1 or later. Handles are numbers here: (uint64_t)image, and (VkImage)number back.
 *
 *     scanout_vulkan_cache_get(cache, frame, &info, message, sizeof message);
 *     wait = scanout_vulkan_cache_acquire_semaphore(cache, frame), signal = scanout_vulkan_cache_release_semaphore(cache);
 *     scanout_vulkan_cache_record_acquire(cache, frame, commands, layout);             (then commands that read info.images[n].view)
 *     scanout_vulkan_cache_record_release(cache, frame, commands, layout);
 *     ... vkQueueSubmit of commands, waiting for `wait`, signalling `signal` and a fence ...
 *     scanout_vulkan_cache_release(cache, frame, signal, fence);
 *
 * One thread at a time for a cache; the device has done everything when it is closed. */

typedef struct scanout_vulkan_cache scanout_vulkan_cache;

/* Your device, and what you enabled on it. Imports need VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf and
 * VK_EXT_image_drm_format_modifier; VK_EXT_queue_family_foreign and VK_KHR_external_semaphore_fd are made use of. */
typedef struct scanout_vulkan_device {
    uint32_t size;
    uint32_t queue_family;                /* of the queue that draws */
    void *SCANOUT_MAY_BE_NULL instance;   /* VkInstance */
    void *SCANOUT_MAY_BE_NULL physical_device; /* VkPhysicalDevice */
    void *SCANOUT_MAY_BE_NULL device;     /* VkDevice */
    void (*SCANOUT_MAY_BE_NULL get_instance_proc_addr)(void); /* (void (*)(void))vkGetInstanceProcAddr */
    const char *const *SCANOUT_MAY_BE_NULL extensions; /* enabled on the device */
    uint32_t extension_count;
    uint32_t has_ycbcr_conversion;        /* 1: the feature samplerYcbcrConversion is enabled; SCANOUT_TEXTURE_IMAGE needs it */
} scanout_vulkan_device;

/* `options` may be NULL. *cache is to be closed. */
SCANOUT_MUST_USE scanout_result scanout_vulkan_cache_new(
    const scanout_vulkan_device *device, const scanout_texture_options *SCANOUT_MAY_BE_NULL options, scanout_vulkan_cache **cache,
    char *SCANOUT_MAY_BE_NULL message, size_t message_size);
/* Destroys the images. NULL is fine. */
void scanout_vulkan_cache_close(scanout_vulkan_cache *SCANOUT_MAY_BE_NULL cache);

typedef struct scanout_image {
    uint64_t image;         /* VkImage */
    uint64_t view;          /* VkImageView */
    uint32_t format;        /* VkFormat */
    uint32_t width, height; /* texels */
    uint32_t bytes;         /* of a texel */
    uint64_t reserved[2];
} scanout_image;

typedef struct scanout_image_info {
    uint32_t size;
    uint32_t path; /* scanout_texture_path */
    uint32_t count;
    uint32_t has_matrix;                    /* this and the next four: as in scanout_texture_info */
    scanout_image images[SCANOUT_MAX_PLANES]; /* in the order of the format's planes */
    float crop[4];
    float code_scale;
    float offset[3];
    float matrix[9];
    uint32_t filters_chroma;                /* of SCANOUT_TEXTURE_IMAGE: the sampler's filters may be linear; 0: nearest */
    uint64_t ycbcr_conversion;              /* and its VkSamplerYcbcrConversion, which the sampler must have as well; 0: none */
} scanout_image_info;

/* The frame's images, valid until it is released and what reads them has ended. */
SCANOUT_MUST_USE scanout_result scanout_vulkan_cache_get(
    scanout_vulkan_cache *cache, scanout_frame *frame, scanout_image_info *info, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Record, in a VkCommandBuffer, that the images come from the decoder (an upload's copy too) into the VkImageLayout `layout`, and that they
 * go back from there. Between the two they are yours to read, in every stage. */
scanout_result scanout_vulkan_cache_record_acquire(scanout_vulkan_cache *cache, scanout_frame *frame, void *commands, uint32_t layout);
scanout_result scanout_vulkan_cache_record_release(scanout_vulkan_cache *cache, scanout_frame *frame, void *commands, uint32_t layout);

/* VkSemaphores for the submission: one to wait for, to be asked for once for each new frame, and one to signal. 0: none is needed, or the
 * device has none of the kind; then the fence does it. scanout_vulkan_cache_acquire_semaphore waits until the frame is written where the device
 * cannot make a semaphore of the frame's fence: on this path the call may block for as long as a decoder needs for a frame. */
uint64_t scanout_vulkan_cache_acquire_semaphore(scanout_vulkan_cache *cache, scanout_frame *frame);
uint64_t scanout_vulkan_cache_release_semaphore(scanout_vulkan_cache *cache);

/* Releases the frame, to be written again when `semaphore`, from scanout_vulkan_cache_release_semaphore, signals; without one (0) blocks until
 * the VkFence `fence` of the submission has signalled; with neither the device has finished. After the submission. */
void scanout_vulkan_cache_release(scanout_vulkan_cache *SCANOUT_MAY_BE_NULL cache, scanout_frame *frame, uint64_t semaphore, uint64_t fence);

scanout_result scanout_vulkan_cache_get_statistics(scanout_vulkan_cache *cache, scanout_texture_statistics *statistics);

/* ---------------------------------------------------------------------------------------------------------------- Samples of your own
 *
 * For programs that have compressed samples of their own (from a network, from another container). The queue decodes them and shows each frame
 * at its time:
 *
 *     scanout_queue_open(&options, &queue, message, sizeof message);
 *     scanout_video_format format = { .size = sizeof format, .codec = "h264", .width = 1280, .height = 720, ... };
 *     scanout_queue_set_format(queue, &format);
 *     scanout_queue_set_rate(queue, 1);
 *     for (;;) {
 *         poll(scanout_queue_ready_fd(queue)), then while (scanout_queue_is_ready(queue)) scanout_queue_enqueue(queue, &next_sample);
 *     }
 *     scanout_queue_end(queue);
 *
 * Frames go to the display and to the exporters, as those of a player do. There is no sound. */

typedef struct scanout_queue scanout_queue;

typedef struct scanout_queue_options {
    uint32_t size;
    uint32_t output;  /* scanout_output */
    uint32_t decoder; /* scanout_decoder */
    uint32_t threads; /* that decode; 0: the decoder chooses */
    uint32_t exporter_count;
    uint32_t sandbox; /* scanout_sandbox */
    scanout_exporter *const *SCANOUT_MAY_BE_NULL exporters;
    const char *SCANOUT_MAY_BE_NULL render_node; /* as in scanout_options */
} scanout_queue_options;

/* Opens the display and starts the threads; the film's clock stands at 0. *queue is to be closed with scanout_queue_close. `message` is as for
 * scanout_open. */
SCANOUT_MUST_USE scanout_result scanout_queue_open(
    const scanout_queue_options *options, scanout_queue **queue, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Forgets what waits and joins the threads; blocks for some milliseconds. Frames that you hold stay as they are. NULL is fine. */
void scanout_queue_close(scanout_queue *SCANOUT_MAY_BE_NULL queue);

typedef struct scanout_video_format {
    uint32_t size;
    uint32_t width, height;              /* of the coded frame; 0: the decoder finds out */
    uint32_t setup_size;
    const char *SCANOUT_MAY_BE_NULL codec; /* FFmpeg's name: "h264", "hevc", "av1", "vp9" … */
    const void *SCANOUT_MAY_BE_NULL setup; /* the container's set-up bytes: avcC, hvcC, av1C …; NULL for samples with start codes */
    uint32_t pixel_aspect[2];            /* 0 : 0: not said */
    uint32_t rotation;                   /* clockwise degrees until the frame stands upright: 0, 90, 180, 270 */
    uint32_t reorder_depth;              /* frames that the decoder holds back, where known beforehand */
    uint8_t primaries, transfer, matrix; /* ITU-T H.273; 0: what the samples say */
    uint8_t range;                       /* 0: what the samples say, 1: limited, 2: full */
    uint32_t reserved;
} scanout_video_format;

/* The format of the samples that follow. The frames of the one before are shown to the last. */
scanout_result scanout_queue_set_format(scanout_queue *queue, const scanout_video_format *format);

enum {
    SCANOUT_SAMPLE_SYNC = 1,                 /* decoding can begin here */
    SCANOUT_SAMPLE_DROPPABLE = 4,            /* no other sample needs it */
    SCANOUT_SAMPLE_DO_NOT_DISPLAY = 8,       /* others need it, but it is not to be seen */
    SCANOUT_SAMPLE_DISPLAY_IMMEDIATELY = 16, /* to be seen as soon as it is decoded, whatever its time says */
    SCANOUT_SAMPLE_CORRUPT = 32              /* bytes are missing or wrong */
};

typedef struct scanout_sample {
    uint32_t size;
    uint32_t flags;         /* SCANOUT_SAMPLE_* */
    const void *SCANOUT_MAY_BE_NULL bytes; /* one access unit, as the container carries it; copied during the call */
    uint64_t byte_count;
    int64_t time;           /* when its frame is to be seen; SCANOUT_NO_TIME: unknown, as the next */
    int64_t decode_time;    /* in the order of decoding */
    int64_t duration;       /* 0: unknown */
    uint32_t timescale;     /* units of these times in a second; 0: nanoseconds */
    uint32_t reserved;
} scanout_sample;

/* Puts a sample at the end, even when the queue has enough; never waits. SCANOUT_ERROR_ARGUMENT before a format, or without bytes. */
SCANOUT_MUST_USE scanout_result scanout_queue_enqueue(scanout_queue *queue, const scanout_sample *sample);

/* Says that no sample follows: SCANOUT_EVENT_ENDED comes when the last frame has had its time. A sample, or a flush, takes it back. */
scanout_result scanout_queue_end(scanout_queue *queue);

/* Forgets what is not yet on the display. The frame there stays until the next one, which is shown as soon as it is decoded;
 * removes_image 1: the display goes black. */
scanout_result scanout_queue_flush(scanout_queue *queue, int32_t removes_image);

/* 1: it wants more: less than a second of film, and less than 16 MiB, wait; and again 0 from twice that on. */
int32_t scanout_queue_is_ready(scanout_queue *queue);
/* A descriptor for poll(2), lent until the queue is closed: readable while it wants more. Do not read from it. */
int scanout_queue_ready_fd(scanout_queue *queue);

/* The film's clock. Rates: film seconds per second; 0 stands still, negative ones make no sense. */
scanout_result scanout_queue_set_rate(scanout_queue *queue, double rate);
scanout_result scanout_queue_set_time(scanout_queue *queue, int64_t film_time);
int64_t scanout_queue_time(scanout_queue *queue);

/* As scanout_event_fd and scanout_next_event. */
int scanout_queue_event_fd(scanout_queue *queue);
SCANOUT_MUST_USE scanout_result scanout_queue_next_event(scanout_queue *queue, int64_t timeout, scanout_event *event);

/* ------------------------------------------------------------------------------------------------------------------- Frames at times
 *
 * Frames of any times of a film, for previews and analysis, without playing it:
 *
 *     scanout_finder *finder;
 *     if (scanout_finder_open("film.mp4", NULL, &finder, message, sizeof message) != SCANOUT_OK) ...
 *     scanout_frame *frame;
 *     if (scanout_finder_frame_at(finder, 10000000000, &frame, message, sizeof message) == SCANOUT_OK) {
 *         ... scanout_frame_describe, scanout_frame_map ...
 *         scanout_frame_release(frame);
 *     }
 *     scanout_finder_close(finder);
 *
 * The frames lie where they were decoded; nothing is copied unless you want another form. scanout_frame_info.film_time says when a frame begins. */

typedef struct scanout_finder scanout_finder;

typedef enum scanout_selection {
    SCANOUT_SELECT_ON_SCREEN = 0, /* the frame on the screen then: the last that begins at or before the time */
    SCANOUT_SELECT_NEXT = 1,      /* the first that begins at or after the time */
    SCANOUT_SELECT_NEAREST = 2    /* the one that begins nearest to the time */
} scanout_selection;

typedef struct scanout_finder_options {
    uint32_t size;
    uint32_t selection;          /* scanout_selection */
    int64_t tolerance;           /* a frame that begins up to this much earlier will do when it costs less; INT64_MAX: the sync frame before the
                                    time, which costs least. 0: exact */
    uint32_t sandbox;            /* scanout_sandbox */
    uint32_t threads;            /* decoding threads; 0: the decoder chooses */
    uint32_t track;              /* scanout_track_info.id plus 1; 0: the one that the container marks as default, else the first of video */
    uint32_t budget;             /* frames that you may hold at once, 1 to 256; 0: 8. With all of them held, the next search waits for a release */
    uint32_t maximum_width;      /* frames that are larger are made smaller and keep their shape; 0: of any length */
    uint32_t maximum_height;
    uint32_t is_upright;         /* 1: turned until they stand upright, with square pixels */
    uint32_t reserved;
    const char *SCANOUT_MAY_BE_NULL format; /* FFmpeg's name of the pixel format wanted: "bgra", "yuv420p"; NULL: the decoder's */
} scanout_finder_options;

/* Opens a film and a decoder. `options` may be NULL. Blocks. Close *opened with scanout_finder_close. On failure *opened is NULL, and `message` (may
 * be NULL) holds a sentence, as for scanout_open. */
SCANOUT_MUST_USE scanout_result scanout_finder_open(
    const char *location, const scanout_finder_options *SCANOUT_MAY_BE_NULL options, scanout_finder **opened, char *SCANOUT_MAY_BE_NULL message,
    size_t message_size);

/* The film's length; SCANOUT_NO_TIME: it has no known end. Never blocks. */
int64_t scanout_finder_duration(scanout_finder *finder);

/* Finds the frame for a film time. Blocks while it is decoded. Release *frame. SCANOUT_NOTHING: the film has no frame then, as behind its end; the
 * sentence says so. Calls on several threads wait for each other. */
SCANOUT_MUST_USE scanout_result scanout_finder_frame_at(
    scanout_finder *finder, int64_t film_time, scanout_frame **frame, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* The same for many times, which is much cheaper than one by one: a group of frames is decoded once, however many of its frames are wanted.
 * scanout_finder_want keeps a copy of `count` times, in place of those that are left; scanout_finder_next then finds them in the order of the film,
 * one for each call, and puts the place of its time in your list into *index. SCANOUT_END: all have been found. SCANOUT_NOTHING: the film has no
 * frame at that one. */
SCANOUT_MUST_USE scanout_result scanout_finder_want(scanout_finder *finder, const int64_t *film_times, size_t count);
SCANOUT_MUST_USE scanout_result scanout_finder_next(
    scanout_finder *finder, size_t *index, scanout_frame **frame, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Makes a search that blocks, and every later one, fail soon with SCANOUT_ERROR_CANCELLED. Any thread; returns at once. */
void scanout_finder_cancel(scanout_finder *finder);

/* Frames that you hold stay unchanged until you release them. NULL is allowed. */
void scanout_finder_close(scanout_finder *SCANOUT_MAY_BE_NULL finder);

/* ---------------------------------------------------------------------------------------------------------------- Films into other films
 *
 *     scanout_conversion *conversion;
 *     scanout_conversion_options options = { .size = sizeof options, .video = "hevc", .video_bit_rate = 2000000, .passes = 2 };
 *     scanout_result result = scanout_conversion_new("film.mov", "film.mp4", &options, &conversion, message, sizeof message);
 *     if (result == SCANOUT_OK) result = scanout_conversion_run(conversion, message, sizeof message);
 *     scanout_conversion_close(conversion);
 *
 * The file has its name when it is whole; until then it has a temporary one in the same folder. */

typedef struct scanout_conversion scanout_conversion;

typedef struct scanout_conversion_options {
    uint32_t size;
    uint32_t copies;             /* 1: all tracks are copied as they are; excludes everything about encoding */
    const char *SCANOUT_MAY_BE_NULL video; /* codec or encoder, with options of the encoder: "hevc", "libx264:preset=fast,crf=20"; or "copy",
                                    "none". NULL: as is usual for the container, which the ending of the file's name says */
    const char *SCANOUT_MAY_BE_NULL audio; /* the same for sound */
    uint64_t video_bit_rate;     /* bits a second; 0: it follows from the quality */
    uint64_t audio_bit_rate;     /* 0: as is usual */
    uint64_t byte_count;         /* of the file: the rate of video follows from it; 0: not wanted */
    double quality;              /* of video, above 0 (worst) to 1 (best), on the encoder's own scale; 0: as is usual */
    uint32_t passes;             /* over the frames at most, to 20, to meet a rate or byte_count; 0: one, and up to three with byte_count */
    uint32_t width, height;      /* of the frames; a side of 0 follows from the other, both 0: the film's */
    uint32_t overwrites;         /* 1: replaces a file of that name when the new one is whole; 0: such a file is an error */
    uint32_t is_fragmented;      /* 1: what has been written can be played, whatever happens */
    uint32_t has_index_in_front; /* 1: the index of MP4 and MOV lies in front */
    uint32_t sandbox;            /* scanout_sandbox */
    uint32_t reserved;
    int64_t start_time;          /* film time to begin at */
    int64_t duration;            /* no more than this; 0: to the end */
} scanout_conversion_options;

/* Opens the film and its encoders and creates the file under its temporary name. `options` may be NULL. Blocks. Close *made with
 * scanout_conversion_close. On failure *made is NULL, there is no file, and `message` (may be NULL) holds a sentence. */
SCANOUT_MUST_USE scanout_result scanout_conversion_new(
    const char *location, const char *path, const scanout_conversion_options *SCANOUT_MAY_BE_NULL options, scanout_conversion **made,
    char *SCANOUT_MAY_BE_NULL message, size_t message_size);

/* Converts to the end and gives the file its name. Call it once; blocks until then. SCANOUT_ERROR_DATA when the film could be read only up to some
 * point: the file has what was read then. With every other failure there is no file. */
SCANOUT_MUST_USE scanout_result scanout_conversion_run(scanout_conversion *conversion, char *SCANOUT_MAY_BE_NULL message, size_t message_size);

typedef struct scanout_conversion_progress {
    uint32_t size;
    uint32_t pass, pass_count;   /* the pass over the frames, from 1, and how many there are at most; 0 while samples are written */
    uint32_t is_whole;           /* 1: the file has its name */
    int64_t time, duration;      /* of the film that is made; SCANOUT_NO_TIME: its length is not known */
    uint64_t samples, bytes;     /* written */
    uint64_t bytes_copied;       /* of pixels, between the decoder and the encoder */
} scanout_conversion_progress;

/* How far it is. Any thread, also while it runs; never blocks. */
scanout_result scanout_conversion_get_progress(scanout_conversion *conversion, scanout_conversion_progress *progress);

/* Ends the film where it is: scanout_conversion_run returns soon, with a whole file. In a pass that only gathers statistics there is nothing to keep:
 * it is cancelled. Any thread; returns at once. */
void scanout_conversion_end(scanout_conversion *conversion);

/* Makes scanout_conversion_run fail soon with SCANOUT_ERROR_CANCELLED and leave no file. Any thread; returns at once. */
void scanout_conversion_cancel(scanout_conversion *conversion);

/* A file that is not whole is removed. NULL is allowed. */
void scanout_conversion_close(scanout_conversion *SCANOUT_MAY_BE_NULL conversion);

SCANOUT_FINISH
#ifdef __cplusplus
}
#endif
#endif

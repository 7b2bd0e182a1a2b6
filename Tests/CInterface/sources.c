/* Plays a film by its name, and then from a descriptor, a pipe, memory and functions; the frames must be the same: sources FILM [full] */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <scanout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static scanout_options options = {.size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .decoder = SCANOUT_DECODER_SOFTWARE, .is_silent = 1};
static char message[300];

/* What the functions read. */
struct reel {
    const unsigned char *bytes;
    size_t count, place;
};

static int64_t reel_read(void *context, void *bytes, size_t count)
{
    struct reel *reel = context;
    size_t left = reel->count - reel->place;
    if (count > 4099) count = 4099; /* fewer than asked for */
    if (count > left) count = left;
    memcpy(bytes, reel->bytes + reel->place, count);
    reel->place += count;
    return (int64_t)count;
}

static int64_t reel_seek(void *context, int64_t offset)
{
    struct reel *reel = context;
    if ((uint64_t)offset > reel->count) return -1;
    reel->place = (size_t)offset;
    return 0;
}

static int64_t reel_count(void *context) { return (int64_t)((struct reel *)context)->count; }

/* The frames in one number (FNV-1a over what is meant to be seen). */
static uint64_t play(const char *how, scanout_result result, scanout_player *film, scanout_exporter *exporter)
{
    if (result != SCANOUT_OK) fprintf(stderr, "%s: %s\n", how, message), exit(66);
    uint64_t sum = 14695981039346656037u;
    int frames = 0;
    scanout_frame *frame;
    while (scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK) {
        scanout_frame_info info = {.size = sizeof info};
        const void *bytes;
        scanout_frame_describe(frame, &info);
        if (scanout_frame_map(frame, &bytes) != SCANOUT_OK) exit(70);
        for (uint32_t p = 0; p < info.plane_count; p++)
            for (uint32_t y = 0; y < info.planes[p].visible_height; y++) {
                const unsigned char *row = (const unsigned char *)bytes + info.planes[p].visible_offset + (size_t)y * info.planes[p].pitch;
                for (uint32_t x = 0; x < info.planes[p].visible_width * info.planes[p].bits / 8; x++) sum = (sum ^ row[x]) * 1099511628211u;
            }
        scanout_frame_release(frame);
        frames++;
    }
    scanout_event event = {.size = sizeof event};
    while (event.kind != SCANOUT_EVENT_ENDED && scanout_next_event(film, 60000000000, &event) == SCANOUT_OK)
        if (event.kind == SCANOUT_EVENT_FAILED) fprintf(stderr, "%s: %s\n", how, event.text), exit(65);
        else if (event.kind == SCANOUT_EVENT_NOTICE) printf("%s\n", event.text);
    scanout_close(film);
    scanout_exporter_close(exporter);
    printf("%s: %d frames\n", how, frames);
    return sum;
}

static scanout_exporter *exporter(void)
{
    static scanout_exporter *made;
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
    if (scanout_exporter_new(&wishes, &made) != SCANOUT_OK) exit(70);
    options.exporters = &made;
    options.exporter_count = 1;
    return made;
}

int main(int count, char **words)
{
    if (count < 2) return 64;
    if (count > 2 && !strcmp(words[2], "full")) options.sandbox = SCANOUT_SANDBOX_FULL;
    const char *name = strrchr(words[1], '/') ? strrchr(words[1], '/') + 1 : words[1];
    scanout_player *film;
    scanout_exporter *frames = exporter();
    uint64_t wanted = play("name", scanout_open(words[1], &options, &film, message, sizeof message), film, frames);

    /* The descriptor is ours: it may be closed at once, and its offset does not matter. */
    int fd = open(words[1], O_RDONLY);
    off_t length = lseek(fd, 0, SEEK_END);
    frames = exporter();
    scanout_result result = scanout_open_fd(fd, name, &options, &film, message, sizeof message);
    if (lseek(fd, 0, SEEK_CUR) != length) return 1;
    close(fd);
    if (play("descriptor", result, film, frames) != wanted) return 2;

    struct reel reel = {.count = (size_t)length};
    unsigned char *bytes = malloc(reel.count);
    fd = open(words[1], O_RDONLY);
    if (!bytes || read(fd, bytes, reel.count) != length) return 70;
    close(fd);
    reel.bytes = bytes;

    int ends[2];
    if (pipe(ends) != 0) return 70;
    pid_t writer = fork();
    if (writer == 0) {
        close(ends[0]);
        for (size_t place = 0; place < reel.count;) {
            ssize_t written = write(ends[1], bytes + place, reel.count - place);
            if (written <= 0) _exit(1);
            place += (size_t)written;
        }
        _exit(0);
    }
    close(ends[1]);
    frames = exporter();
    result = scanout_open_fd(ends[0], name, &options, &film, message, sizeof message);
    close(ends[0]);
    if (play("pipe", result, film, frames) != wanted) return 3;
    waitpid(writer, NULL, 0);

    frames = exporter();
    if (play("memory", scanout_open_memory(bytes, reel.count, name, &options, &film, message, sizeof message), film, frames) != wanted) return 4;

    scanout_stream stream = {.size = sizeof stream, .context = &reel, .read = reel_read, .seek = reel_seek, .byte_count = reel_count};
    frames = exporter();
    if (play("functions", scanout_open_stream(&stream, name, &options, &film, message, sizeof message), film, frames) != wanted) return 5;

    /* Like a pipe, and without waiting for it to open. */
    reel.place = 0;
    stream.seek = NULL;
    stream.byte_count = NULL;
    options.opens_async = 1;
    frames = exporter();
    if (play("functions in order", scanout_open_stream(&stream, name, &options, &film, message, sizeof message), film, frames) != wanted) return 6;
    free(bytes);
    return 0;
}

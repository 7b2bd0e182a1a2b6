/* Takes many frames, or blocks of sound, of a film that begins again at its end: endurance pull|push|socket|sound|functions FILM COUNT
 * Prints how many descriptors and KiB of memory the process had after a tenth of them, and at the end. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <scanout.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char message[300];

/* What the functions read. */
struct reel {
    unsigned char *bytes;
    size_t count, place;
};

static int64_t reel_read(void *context, void *bytes, size_t count)
{
    struct reel *reel = context;
    if (count > reel->count - reel->place) count = reel->count - reel->place;
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

static struct reel reel_of(const char *path)
{
    struct reel reel = {0};
    FILE *file = fopen(path, "rb");
    if (!file) perror(path), exit(66);
    fseek(file, 0, SEEK_END);
    reel.count = (size_t)ftell(file);
    rewind(file);
    reel.bytes = malloc(reel.count);
    if (!reel.bytes || fread(reel.bytes, 1, reel.count, file) != reel.count) exit(66);
    fclose(file);
    return reel;
}

static void print_usage(void)
{
    int descriptors = 0, kib = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) descriptors++;
    closedir(folder);
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    while (fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %d kB", &kib);
    fclose(status);
    printf("%d descriptors, %d KiB\n", descriptors, kib);
}

int main(int count, char **words)
{
    if (count != 4) return 64;
    const char *way = words[1];
    long goal = atol(words[3]);
    int takes_sound = !strcmp(way, "sound"), pulls = !strcmp(way, "pull");
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
    scanout_exporter *exporter = NULL;
    scanout_sound *sound = NULL;
    scanout_server *server = NULL;
    scanout_remote *remote = NULL;
    scanout_player *player;
    scanout_options options = {
        .size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .decoder = SCANOUT_DECODER_SOFTWARE, .threads = 1, .is_silent = !takes_sound,
        .loops = 1};
    if (takes_sound) {
        if (scanout_sound_new(NULL, &sound) != SCANOUT_OK) return 70;
        options.sound = sound;
        options.video_track = -1;
    } else {
        if (!strcmp(way, "socket")) {
            char path[100];
            scanout_server_options serves = {.size = sizeof serves, .sends_every_frame = 1};
            snprintf(path, sizeof path, "/tmp/endurance-%d.sock", (int)getpid());
            if (scanout_server_new(path, &serves, &server, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 73;
            if (scanout_remote_open(path, &remote, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;
            /* The film that follows its end is the same one. */
            scanout_server_set_continues(server, 1);
            exporter = scanout_server_exporter(server);
        } else if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) {
            return 70;
        }
        options.exporters = &exporter;
        options.exporter_count = 1;
    }
    struct reel reel = {0};
    scanout_result result;
    if (!strcmp(way, "functions")) {
        reel = reel_of(words[2]);
        scanout_stream stream = {.size = sizeof stream, .context = &reel, .read = reel_read, .seek = reel_seek, .byte_count = reel_count};
        result = scanout_open_stream(&stream, words[2], &options, &player, message, sizeof message);
    } else {
        result = scanout_open(words[2], &options, &player, message, sizeof message);
    }
    if (result != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;
    for (long taken = 0; taken < goal;) {
        if (takes_sound) {
            scanout_sound_block block = {.size = sizeof block};
            result = scanout_sound_wait(sound, -1, &block);
        } else {
            scanout_frame *frame = NULL;
            result = remote  ? scanout_remote_wait(remote, -1, &frame)
                     : pulls ? scanout_exporter_frame_for(exporter, INT64_MAX, &frame)
                             : scanout_exporter_wait(exporter, -1, &frame);
            if (frame) {
                scanout_frame_info info = {.size = sizeof info};
                const void *bytes;
                if (scanout_frame_describe(frame, &info) != SCANOUT_OK || scanout_frame_map(frame, &bytes) != SCANOUT_OK) return 70;
                if (!info.is_new) result = SCANOUT_NOTHING;
                scanout_frame_release(frame);
            }
        }
        /* The film begins again. */
        if (result == SCANOUT_NOTHING || result == SCANOUT_END) {
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
            continue;
        }
        if (result != SCANOUT_OK) return fprintf(stderr, "%s\n", scanout_error_string(result)), 65;
        taken++;
        if (taken == goal / 10 || taken == goal) print_usage();
    }
    scanout_close(player);
    scanout_remote_close(remote);
    if (server) scanout_server_close(server); else scanout_exporter_close(exporter);
    scanout_sound_close(sound);
    free(reel.bytes);
    return 0;
}

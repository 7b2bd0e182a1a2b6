/* Frames between processes: serving serve SOCKET FILM…, serving take SOCKET, serving direct FILM…
 * The last two print a number for each frame, which are to be the same. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <scanout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char message[300];

static void stop(const char *what, int code)
{
    fprintf(stderr, "%s: %s\n", what, message);
    exit(code);
}

/* FNV-1a over what is meant to be seen; releases the frame. */
static void print(scanout_frame *frame)
{
    scanout_frame_info info = {.size = sizeof info};
    const void *bytes;
    uint64_t sum = 14695981039346656037u;
    if (scanout_frame_describe(frame, &info) != SCANOUT_OK || scanout_frame_map(frame, &bytes) != SCANOUT_OK) stop("map", 70);
    for (uint32_t p = 0; p < info.plane_count; p++)
        for (uint32_t y = 0; y < info.planes[p].visible_height; y++) {
            const unsigned char *row = (const unsigned char *)bytes + info.planes[p].visible_offset + (size_t)y * info.planes[p].pitch;
            for (uint32_t x = 0; x < info.planes[p].visible_width * info.planes[p].bits / 8; x++) sum = (sum ^ row[x]) * 1099511628211u;
        }
    printf("%s %" PRIu32 "x%" PRIu32 " %016" PRIx64 "\n", info.format, info.visible_width, info.visible_height, sum);
    scanout_frame_release(frame);
}

static scanout_player *open_film(const char *path, scanout_exporter **exporter)
{
    scanout_player *player;
    scanout_options options = {
        .size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .decoder = SCANOUT_DECODER_SOFTWARE, .is_silent = 1, .exporters = exporter,
        .exporter_count = 1};
    if (scanout_open(path, &options, &player, message, sizeof message) != SCANOUT_OK) stop(path, 66);
    return player;
}

static int serve(const char *path, int count, char **films)
{
    scanout_server *server;
    scanout_server_options wishes = {.size = sizeof wishes, .sends_every_frame = 1};
    if (scanout_server_new(path, &wishes, &server, message, sizeof message) != SCANOUT_OK) stop(path, 73);
    scanout_exporter *exporter = scanout_server_exporter(server);
    for (int n = 0; n < count; n++) {
        scanout_server_set_continues(server, n + 1 < count);
        scanout_player *player = open_film(films[n], &exporter);
        scanout_event event = {.size = sizeof event};
        do {
            if (scanout_next_event(player, -1, &event) != SCANOUT_OK) stop("event", 70);
        } while (event.kind != SCANOUT_EVENT_ENDED && event.kind != SCANOUT_EVENT_FAILED);
        if (event.kind == SCANOUT_EVENT_FAILED) return 65;
        /* Frames that the client has not got yet go with their film. */
        if (scanout_server_wait(server, -1) != SCANOUT_OK) return 65;
        scanout_close(player);
    }
    scanout_server_statistics counted = {.size = sizeof counted};
    scanout_server_get_statistics(server, &counted);
    fprintf(
        stderr, "%" PRIu64 " served, %" PRIu64 " sent, %" PRIu64 " skipped\n", counted.clients_served, counted.frames_sent, counted.frames_skipped);
    scanout_server_close(server);
    return 0;
}

static int take(const char *path)
{
    scanout_remote *remote;
    scanout_result result = SCANOUT_ERROR_OPEN;
    /* The server may not be there yet. */
    for (int tries = 0; tries < 6000 && result == SCANOUT_ERROR_OPEN; tries++) {
        result = scanout_remote_open(path, &remote, message, sizeof message);
        if (result == SCANOUT_ERROR_OPEN) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    if (result != SCANOUT_OK) stop(path, 66);
    scanout_frame *frame;
    while ((result = scanout_remote_wait(remote, -1, &frame)) == SCANOUT_OK) print(frame);
    scanout_remote_close(remote);
    return result == SCANOUT_END ? 0 : 65;
}

static int direct(int count, char **films)
{
    for (int n = 0; n < count; n++) {
        scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
        scanout_exporter *exporter;
        if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) return 70;
        scanout_player *player = open_film(films[n], &exporter);
        for (scanout_frame *frame; scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK;) print(frame);
        scanout_close(player);
        scanout_exporter_close(exporter);
    }
    return 0;
}

int main(int count, char **words)
{
    if (count >= 4 && !strcmp(words[1], "serve")) return serve(words[2], count - 3, words + 3);
    if (count == 3 && !strcmp(words[1], "take")) return take(words[2]);
    if (count >= 3 && !strcmp(words[1], "direct")) return direct(count - 2, words + 2);
    return 64;
}

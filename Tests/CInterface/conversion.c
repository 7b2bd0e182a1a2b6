/* Makes films of a film in several ways, while another thread looks how far it is: conversion FILM FOLDER [full] */
#include <pthread.h>
#include <scanout.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int is_over;
static uint32_t most_pass;

/* Ends or cancels the conversion when it has come so far. */
struct watch {
    scanout_conversion *conversion;
    uint32_t pass; /* 0: whatever it is */
    int64_t time;
    int ends, cancels;
};

static void *watch(void *context)
{
    struct watch *it = context;
    while (!atomic_load(&is_over)) {
        scanout_conversion_progress progress = {.size = sizeof progress};
        if (scanout_conversion_get_progress(it->conversion, &progress) != SCANOUT_OK) return NULL;
        if (progress.pass > most_pass) most_pass = progress.pass;
        if (progress.time >= it->time && (it->pass == 0 || progress.pass == it->pass)) {
            if (it->ends) scanout_conversion_end(it->conversion);
            if (it->cancels) scanout_conversion_cancel(it->conversion);
        }
    }
    return NULL;
}

static void convert(const char *name, const char *film, const char *folder, const char *file, scanout_conversion_options options, struct watch it)
{
    char path[500], message[300] = "";
    snprintf(path, sizeof path, "%s/%s", folder, file);
    options.size = sizeof options;
    scanout_result result = scanout_conversion_new(film, path, &options, &it.conversion, message, sizeof message);
    if (result != SCANOUT_OK) {
        printf("%s new %d %d\n", name, (int)result, it.conversion == NULL && message[0] != 0);
        return;
    }
    pthread_t thread;
    atomic_store(&is_over, 0);
    most_pass = 0;
    pthread_create(&thread, NULL, watch, &it);
    result = scanout_conversion_run(it.conversion, message, sizeof message);
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    scanout_conversion_progress progress = {.size = sizeof progress};
    scanout_conversion_get_progress(it.conversion, &progress);
    printf("%s %d whole %u copied %d again %d\n", name, (int)result, progress.is_whole, (int)(progress.bytes_copied > 0),
           (int)scanout_conversion_run(it.conversion, NULL, 0));
    scanout_conversion_close(it.conversion);
}

int main(int count, char **words)
{
    if (count < 3) return 64;
    const char *film = words[1], *folder = words[2];
    uint32_t sandbox = count > 3 && strcmp(words[3], "full") == 0 ? SCANOUT_SANDBOX_REQUIRE : SCANOUT_SANDBOX_OFF;
    scanout_conversion_options copy = {.copies = 1, .sandbox = sandbox}, encode = {.video = "libx264:preset=ultrafast", .audio = "none", .sandbox = sandbox};
    scanout_conversion_options twice = encode, part = encode, wrong = encode, both = copy;
    twice.video_bit_rate = 300000;
    twice.passes = 2;
    part.start_time = 1000000000;
    part.duration = 500000000;
    wrong.video = "h999";
    both.video = "h264";
    struct watch none = {.time = INT64_MAX}, end = {.ends = 1, .time = 2000000000}, cancel = {.cancels = 1, .time = 100000000};
    convert("copy", film, folder, "copy.mkv", copy, none);
    convert("copy", film, folder, "copy.mkv", copy, none);
    convert("passes", film, folder, "passes.mp4", twice, none);
    convert("part", film, folder, "part.mp4", part, none);
    convert("ended", film, folder, "ended.mp4", encode, end);
    convert("cancelled", film, folder, "none.mp4", encode, cancel);
    convert("wrong", film, folder, "none.mp4", wrong, none);
    convert("both", film, folder, "none.mp4", both, none);
    convert("missing", "/nowhere", folder, "none.mp4", encode, none);
    /* In variables: the compiler would warn. */
    scanout_conversion *nothing = NULL, **nowhere = NULL;
    const char *no_path = NULL;
    printf("null %d %d\n", (int)scanout_conversion_run(nothing, NULL, 0), (int)scanout_conversion_new(film, no_path, NULL, nowhere, NULL, 0));
    scanout_conversion_close(NULL);
    return 0;
}

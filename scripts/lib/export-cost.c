/* Plays a film as scripts/compare --export measures it: export-cost FILM HOW
 *
 *   plain, push     as fast as it goes; push: a thread waits for every frame of an exporter and releases it
 *   handler         as push, but the call-back fetches every frame and releases it, on the decoder's thread
 *   timed, pull     at the film's pace, with a loop of 60 turns a second; pull: each turn asks an exporter for its frame and releases it
 *   told            as pull, but the loop asks only when the call-back has set a flag, or the frame that waits is due
 *   busy            1000 turns a second that ask; prints how long asking took
 *
 * Prints "FRAMES MEDIAN P99 MAXIMUM": frames that came, and nanoseconds that scanout_exporter_frame_for took (wall time). */
#define _GNU_SOURCE
#include <scanout.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALL_LIMIT = 1 << 20 };
static int64_t spans[CALL_LIMIT];

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void sleep_until(int64_t moment) {
    struct timespec time = {moment / 1000000000, moment % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The news handlers. */
static scanout_exporter *exporter;
static atomic_int has_news, frames;

static void fetch(void *context) {
    scanout_frame *frame;
    (void)context;
    while (scanout_exporter_wait(exporter, 0, &frame) == SCANOUT_OK) {
        scanout_frame_release(frame);
        frames++;
    }
}

static void tell(void *context) { atomic_store((atomic_int *)context, 1); }

/* The film has ended, or failed. */
static int is_over(scanout_player *film) {
    scanout_event event = {.size = sizeof event};
    while (scanout_next_event(film, 0, &event) == SCANOUT_OK) {
        if (event.kind == SCANOUT_EVENT_ENDED) return 1;
        if (event.kind == SCANOUT_EVENT_FAILED) exit(65);
    }
    return 0;
}

int main(int count, char **words) {
    if (count != 3) return 64;
    const char *how = words[2];
    int handles = !strcmp(how, "handler"), is_told = !strcmp(how, "told");
    int is_fast = !strcmp(how, "plain") || !strcmp(how, "push") || handles, asks = !strcmp(how, "pull") || !strcmp(how, "busy") || is_told;
    int exports = asks || !strcmp(how, "push") || handles;
    int64_t turn = !strcmp(how, "busy") ? 1000000 : 16666667;
    char message[300];
    scanout_player *film;
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = is_fast ? SCANOUT_POLICY_WAIT : SCANOUT_POLICY_DROP_OLDEST};
    if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) return 70;
    if (handles) scanout_exporter_set_news_handler(exporter, fetch, NULL);
    if (is_told) scanout_exporter_set_news_handler(exporter, tell, &has_news);
    scanout_options options = {.size = sizeof options, .output = is_fast ? SCANOUT_OUTPUT_UNTIMED : SCANOUT_OUTPUT_NONE,
                              .decoder = SCANOUT_DECODER_SOFTWARE, .threads = 1, .is_silent = 1, .exporters = &exporter,
                              .exporter_count = exports ? 1 : 0};
    if (scanout_open(words[1], &options, &film, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;

    scanout_frame *frame;
    int calls = 0;
    if (!strcmp(how, "push")) {
        while (scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK) {
            scanout_frame_release(frame);
            frames++;
        }
    } else if (is_fast) {
        scanout_event event = {.size = sizeof event};
        while (scanout_next_event(film, -1, &event) == SCANOUT_OK && event.kind != SCANOUT_EVENT_ENDED)
            if (event.kind == SCANOUT_EVENT_FAILED) return 65;
    } else {
        int64_t next = SCANOUT_NO_TIME;
        for (int64_t moment = now() + turn; !is_over(film); moment += turn) {
            sleep_until(moment);
            if (is_told && atomic_exchange(&has_news, 0)) next = scanout_exporter_next_time(exporter);
            if (!asks || (is_told && (next == SCANOUT_NO_TIME || next > moment + turn))) continue;
            int64_t begin = now();
            scanout_result result = scanout_exporter_frame_for(exporter, moment + turn, &frame);
            if (calls < CALL_LIMIT) spans[calls++] = now() - begin;
            if (is_told) next = scanout_exporter_next_time(exporter);
            if (result != SCANOUT_OK) continue;
            scanout_frame_info info = {.size = sizeof info};
            scanout_frame_describe(frame, &info);
            frames += info.is_new == 1;
            scanout_frame_release(frame);
        }
    }
    qsort(spans, (size_t)calls, sizeof *spans, compare);
    printf("%d %lld %lld %lld\n", frames, calls ? (long long)spans[calls / 2] : 0, calls ? (long long)spans[calls * 99 / 100] : 0,
           calls ? (long long)spans[calls - 1] : 0);
    scanout_exporter_close(exporter);
    scanout_close(film);
    return 0;
}

/* Finds frames at times, one by one and in a list, and says what it got: frames-at FILM [full] */
#include <inttypes.h>
#include <scanout.h>
#include <stdio.h>
#include <string.h>

/* A sum of the first row of the first plane, which tells frames apart. */
static unsigned long row_sum(scanout_frame *frame, const scanout_frame_info *info)
{
    const void *bytes;
    unsigned long sum = 0;
    if (scanout_frame_map(frame, &bytes) != SCANOUT_OK) return 0;
    const unsigned char *row = (const unsigned char *)bytes + info->planes[0].visible_offset;
    size_t count = (size_t)info->planes[0].visible_width * info->planes[0].bits / 8;
    for (uint32_t y = 0; y < info->planes[0].visible_height; y++)
        for (size_t x = 0; x < count; x++) sum += (x + 1) * row[y * info->planes[0].pitch + x];
    scanout_frame_unmap(frame);
    return sum;
}

static int tell(const char *name, scanout_frame *frame)
{
    scanout_frame_info info = {.size = sizeof info};
    if (scanout_frame_describe(frame, &info) != SCANOUT_OK) return 1;
    printf("%s %" PRId64 " %s %ux%u %lu\n", name, info.film_time / 1000000, info.format, info.visible_width, info.visible_height, row_sum(frame, &info));
    scanout_frame_release(frame);
    return 0;
}

int main(int count, char **words)
{
    char message[300] = "";
    scanout_finder *finder, *small;
    scanout_frame *frame;
    if (count < 2) return 64;
    uint32_t sandbox = count > 2 && strcmp(words[2], "full") == 0 ? SCANOUT_SANDBOX_REQUIRE : SCANOUT_SANDBOX_OFF;
    scanout_finder_options options = {.size = sizeof options, .sandbox = sandbox};
    if (scanout_finder_open(words[1], &options, &finder, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;
    printf("length %" PRId64 "\n", scanout_finder_duration(finder) / 1000000);
    const int64_t second = 1000000000;
    if (scanout_finder_frame_at(finder, second / 2, &frame, message, sizeof message) != SCANOUT_OK) return 1;
    tell("one", frame);

    /* In the order of the film, whatever the order of the list is. */
    int64_t times[] = {second * 9 / 10, 0, second / 2, second * 100, 40000000};
    if (scanout_finder_want(finder, times, 5) != SCANOUT_OK) return 1;
    size_t index;
    scanout_result result;
    while ((result = scanout_finder_next(finder, &index, &frame, message, sizeof message)) != SCANOUT_END) {
        char name[20];
        snprintf(name, sizeof name, "list %zu", index);
        if (result == SCANOUT_OK) tell(name, frame);
        else printf("%s %d\n", name, (int)result);
    }

    /* In another form. */
    scanout_finder_options form = {.size = sizeof form, .maximum_width = 32, .format = "bgra", .selection = SCANOUT_SELECT_NEXT, .sandbox = sandbox};
    if (scanout_finder_open(words[1], &form, &small, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;
    if (scanout_finder_frame_at(small, second / 2 + 1, &frame, message, sizeof message) != SCANOUT_OK) return 1;
    tell("small", frame);

    /* A frame stays when its finder is gone. */
    if (scanout_finder_frame_at(small, 0, &frame, message, sizeof message) != SCANOUT_OK) return 1;
    scanout_finder_close(small);
    tell("kept", frame);

    /* What makes no sense. */
    form.format = "nothing";
    printf("format %d\n", (int)scanout_finder_open(words[1], &form, &small, message, sizeof message));
    printf("file %d %d\n", (int)scanout_finder_open("/nowhere", NULL, &small, message, sizeof message), small == NULL);
    scanout_finder *none = NULL; /* in a variable: the compiler would warn */
    printf("null %d\n", (int)scanout_finder_frame_at(none, 0, &frame, NULL, 0));
    scanout_finder_cancel(finder);
    printf("cancelled %d\n", (int)scanout_finder_frame_at(finder, 0, &frame, message, sizeof message));
    scanout_finder_close(finder);
    scanout_finder_close(NULL);
    return 0;
}

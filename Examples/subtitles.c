/* Prints what a film's subtitles say and when, and saves how the first of them looks.
 *
 *     cc Examples/subtitles.c -o subtitles $(pkg-config --cflags --libs scanout)
 *     ./subtitles film.mkv [TRACK [PICTURE.pam]]
 *
 * TRACK is a number as `scanout info` lists it (--sid); 0, or none: the one that the film marks. The film is decoded as fast as it goes; its frames are
 * not looked at, but each of them says which time to ask about. */
#include <scanout.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes premultiplied blue, green, red, alpha as PAM, which has them in the other order and not multiplied. 0: it cannot be written. */
static int save(const char *path, const scanout_subtitles_info *on)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return 0;
    fprintf(file, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", on->width, on->height);
    for (uint32_t row = 0; row < on->height; row++) {
        const unsigned char *pixel = (const unsigned char *)on->pixels + (size_t)row * on->pitch;
        for (uint32_t column = 0; column < on->width; column++, pixel += 4) {
            unsigned alpha = pixel[3], half = alpha / 2;
            for (int part = 2; part >= 0; part--) putc(alpha ? (int)((pixel[part] * 255u + half) / alpha) : 0, file);
            putc((int)alpha, file);
        }
    }
    return fclose(file) == 0;
}

static double seconds(int64_t time) { return (double)time / 1e9; }

/* Prints the lines that have begun since the last call; `told` is the newest start so far. */
static void print(const scanout_subtitles *subtitles, int64_t *told)
{
    int64_t before = *told;
    scanout_subtitle_line line = {.size = sizeof line};
    for (uint32_t index = 0; scanout_subtitles_get_line(subtitles, index, &line) == SCANOUT_OK; index++) {
        if (line.start <= before) continue;
        *told = line.start;
        if (line.end == SCANOUT_NO_TIME) printf("%.3f: ", seconds(line.start));
        else printf("%.3f to %.3f: ", seconds(line.start), seconds(line.end));
        if (line.is_image) printf("an image of %ux%u\n", line.width, line.height);
        else printf("%s\n", line.text);
    }
}

int main(int count, char **words)
{
    if (count < 2 || count > 4) return fprintf(stderr, "subtitles FILM [TRACK [PICTURE.pam]]\n"), 64;
    const char *path = count > 3 ? words[3] : NULL;
    char message[300];
    scanout_player *film;
    scanout_exporter *exporter;
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
    if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) return 70;
    scanout_options options = {.size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .exporters = &exporter, .exporter_count = 1,
        .subtitle_track = count > 2 ? atoi(words[2]) : 0, .takes_subtitles = 1};
    if (scanout_open(words[1], &options, &film, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;

    scanout_canvas canvas = {.size = sizeof canvas, .width = 1280, .height = 720};
    scanout_frame *frame;
    int64_t told = -1;
    int code = 0;
    while (code == 0 && scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK) {
        scanout_frame_info info = {.size = sizeof info};
        scanout_frame_describe(frame, &info);
        scanout_frame_release(frame);
        scanout_subtitles *subtitles;
        /* Without a canvas nothing is drawn. */
        scanout_result result = scanout_subtitles_at(film, info.film_time, path ? &canvas : NULL, -1, &subtitles);
        if (result == SCANOUT_END) {
            fprintf(stderr, "%s has no subtitles.\n", words[1]);
            code = 65;
        }
        if (result != SCANOUT_OK) continue;
        print(subtitles, &told);
        scanout_subtitles_info on = {.size = sizeof on};
        scanout_subtitles_describe(subtitles, &on);
        if (path && on.pixels) {
            if (!save(path, &on)) code = 73;
            path = NULL;
        }
        scanout_subtitles_release(subtitles);
    }
    scanout_exporter_close(exporter);
    scanout_close(film);
    return code;
}

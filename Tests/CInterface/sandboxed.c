/* Counts a film's frames, decoded in a process without rights, and says what the library says about it: sandboxed FILM */
#include <scanout.h>
#include <stdio.h>

int main(int count, char **words)
{
    char message[300];
    scanout_player *film;
    scanout_exporter *exporter;
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
    if (count != 2 || scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) return 64;
    scanout_options options = {.size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .decoder = SCANOUT_DECODER_SOFTWARE, .is_silent = 1,
                              .sandbox = SCANOUT_SANDBOX_DECODER, .exporters = &exporter, .exporter_count = 1};
    if (scanout_open(words[1], &options, &film, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;
    scanout_frame *frame;
    int frames = 0;
    while (scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK) {
        scanout_frame_release(frame);
        frames++;
    }
    printf("%d frames\n", frames);
    scanout_event event = {.size = sizeof event};
    while (scanout_next_event(film, 0, &event) == SCANOUT_OK) printf("%s\n", event.text);
    scanout_exporter_close(exporter);
    scanout_close(film);
    return 0;
}

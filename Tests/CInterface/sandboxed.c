/* Counts a film's frames, decoded in a process without rights, and says what the library says about it: sandboxed FILM */
#include <player.h>
#include <stdio.h>

int main(int count, char **words)
{
    char message[300];
    player *film;
    player_exporter *exporter;
    player_exporter_options wishes = {.size = sizeof wishes, .policy = PLAYER_POLICY_WAIT};
    if (count != 2 || player_exporter_new(&wishes, &exporter) != PLAYER_OK) return 64;
    player_options options = {.size = sizeof options, .output = PLAYER_OUTPUT_UNTIMED, .decoder = PLAYER_DECODER_SOFTWARE, .is_silent = 1,
                              .sandbox = PLAYER_SANDBOX_DECODER, .exporters = &exporter, .exporter_count = 1};
    if (player_open(words[1], &options, &film, message, sizeof message) != PLAYER_OK) return fprintf(stderr, "%s\n", message), 66;
    player_frame *frame;
    int frames = 0;
    while (player_exporter_wait(exporter, -1, &frame) == PLAYER_OK) {
        player_frame_release(frame);
        frames++;
    }
    printf("%d frames\n", frames);
    player_event event = {.size = sizeof event};
    while (player_next_event(film, 0, &event) == PLAYER_OK) printf("%s\n", event.text);
    player_exporter_close(exporter);
    player_close(film);
    return 0;
}

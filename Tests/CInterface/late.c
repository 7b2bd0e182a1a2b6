/* Plays a film on an output (scanout_output) and says which libraries have been loaded for it: late FILM NUMBER LIBRARY... */
#include <scanout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    char message[300], line[4096];
    scanout_player *film;
    if (count < 3) return 64;
    scanout_options options = {.size = sizeof options, .output = (uint32_t)atoi(words[2]), .decoder = SCANOUT_DECODER_SOFTWARE, .is_silent = 1,
                              .play_duration = 300000000};
    if (scanout_open(words[1], &options, &film, message, sizeof message) != SCANOUT_OK) return fprintf(stderr, "%s\n", message), 66;
    scanout_event event = {.size = sizeof event};
    while (scanout_next_event(film, -1, &event) == SCANOUT_OK && event.kind != SCANOUT_EVENT_ENDED && event.kind != SCANOUT_EVENT_FAILED)
        continue;
    printf("%s\n", event.kind == SCANOUT_EVENT_ENDED ? "ended" : event.text);
    for (int i = 3; i < count; i++) {
        FILE *maps = fopen("/proc/self/maps", "r");
        if (!maps) return 71;
        while (fgets(line, sizeof line, maps))
            if (strstr(line, words[i])) {
                printf("%s\n", words[i]);
                break;
            }
        fclose(maps);
    }
    scanout_close(film);
    return 0;
}

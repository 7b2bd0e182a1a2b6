/* A film in a window of SDL 2: the decoder's planes go into a texture as they are, and SDL turns them into RGB.
 *
 *     cc sdl.c -o sdl $(pkg-config --cflags --libs scanout sdl2) && ./sdl film.mp4
 *
 * Space pauses, the arrows seek by five seconds, q ends. Films of 8 bits in 4:2:0 are shown; SDL has no texture for others. With --frame N --save
 * FILE the window shows that frame, and what it shows is written as PPM. */
#define SDL_MAIN_HANDLED
#include <SDL.h>
#include <scanout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND 1000000000

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static int fail(const char *sentence, int code)
{
    fprintf(stderr, "sdl: %s\n", sentence);
    return code;
}

/* Copies the planes into the texture, which is made anew when the size changes. NULL where SDL has no texture of this format. */
static SDL_Texture *upload(SDL_Renderer *renderer, SDL_Texture *texture, scanout_frame *frame)
{
    scanout_frame_info info = {.size = sizeof info};
    const void *bytes;
    int width = 0, height = 0;
    scanout_frame_describe(frame, &info);
    int is_nv12 = !strcmp(info.format, "nv12");
    if (!is_nv12 && strcmp(info.format, "yuv420p")) return NULL;
    if (texture) SDL_QueryTexture(texture, NULL, NULL, &width, &height);
    if (width != (int)info.visible_width || height != (int)info.visible_height) {
        if (texture) SDL_DestroyTexture(texture);
        SDL_SetYUVConversionMode(info.matrix == 1 ? SDL_YUV_CONVERSION_BT709 : SDL_YUV_CONVERSION_BT601);
        texture = SDL_CreateTexture(
            renderer, is_nv12 ? SDL_PIXELFORMAT_NV12 : SDL_PIXELFORMAT_IYUV, SDL_TEXTUREACCESS_STREAMING, (int)info.visible_width,
            (int)info.visible_height);
    }
    if (!texture || scanout_frame_map(frame, &bytes) != SCANOUT_OK) return texture;
    const Uint8 *planes[3] = {0};
    int pitches[3] = {0};
    for (uint32_t p = 0; p < info.plane_count && p < 3; p++) {
        planes[p] = (const Uint8 *)bytes + info.planes[p].visible_offset;
        pitches[p] = (int)info.planes[p].pitch;
    }
    if (is_nv12)
        SDL_UpdateNVTexture(texture, NULL, planes[0], pitches[0], planes[1], pitches[1]);
    else
        SDL_UpdateYUVTexture(texture, NULL, planes[0], pitches[0], planes[1], pitches[1], planes[2], pitches[2]);
    scanout_frame_unmap(frame);
    return texture;
}

/* Writes what the renderer has drawn. */
static int save(SDL_Renderer *renderer, const char *path)
{
    int width, height;
    SDL_GetRendererOutputSize(renderer, &width, &height);
    unsigned char *pixels = malloc((size_t)width * (size_t)height * 3);
    FILE *file = fopen(path, "wb");
    if (!pixels || !file || SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGB24, pixels, width * 3) != 0) return 73;
    fprintf(file, "P6 %d %d 255\n", width, height);
    fwrite(pixels, 3, (size_t)width * (size_t)height, file);
    free(pixels);
    return fclose(file) == 0 ? 0 : 73;
}

int main(int count, char **words)
{
    const char *path = NULL, *output = NULL;
    int64_t wanted = -1;
    for (int n = 1; n < count; n++) {
        if (!strcmp(words[n], "--frame") && n + 1 < count) wanted = atoll(words[++n]);
        else if (!strcmp(words[n], "--save") && n + 1 < count) output = words[++n];
        else if (!path) path = words[n];
        else return fail("usage: sdl FILM [--frame N --save FILE]", 64);
    }
    if (!path || (wanted < 0) != !output) return fail("usage: sdl FILM [--frame N --save FILE]", 64);

    char message[300];
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = output ? SCANOUT_POLICY_WAIT : SCANOUT_POLICY_DROP_OLDEST};
    scanout_exporter *exporter;
    scanout_player *player;
    if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) return fail("the exporter cannot be made", 70);
    scanout_options options = {
        .size = sizeof options, .output = output ? SCANOUT_OUTPUT_UNTIMED : SCANOUT_OUTPUT_NONE, .is_silent = output != NULL, .exporters = &exporter,
        .exporter_count = 1};
    if (scanout_open(path, &options, &player, message, sizeof message) != SCANOUT_OK) return fail(message, 66);
    SDL_SetMainReady();
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return fail(SDL_GetError(), 69);
    SDL_Window *window = SDL_CreateWindow("Scanout", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, 640, 360, SDL_WINDOW_RESIZABLE);
    SDL_Renderer *renderer = window ? SDL_CreateRenderer(window, -1, output ? SDL_RENDERER_SOFTWARE : SDL_RENDERER_PRESENTVSYNC) : NULL;
    if (!renderer) return fail(SDL_GetError(), 69);

    SDL_Texture *texture = NULL;
    int is_playing = 1, code = 0;
    for (int goes_on = 1; goes_on;) {
        for (SDL_Event event; SDL_PollEvent(&event);) {
            if (event.type == SDL_QUIT) goes_on = 0;
            if (event.type != SDL_KEYDOWN) continue;
            SDL_Keycode key = event.key.keysym.sym;
            if (key == SDLK_q) goes_on = 0;
            if (key == SDLK_SPACE) (is_playing = !is_playing) ? scanout_play(player) : scanout_pause(player);
            if (key == SDLK_LEFT) scanout_seek(player, scanout_position(player) - 5 * (int64_t)SECOND);
            if (key == SDLK_RIGHT) scanout_seek(player, scanout_position(player) + 5 * (int64_t)SECOND);
        }
        scanout_frame *frame = NULL;
        /* What is drawn now lights up about a refresh later. */
        int64_t vsync = now() + SECOND / 60;
        scanout_result result = output ? scanout_exporter_wait(exporter, -1, &frame) : scanout_exporter_frame_for(exporter, vsync, &frame);
        if (result == SCANOUT_END && output) return fail("the film has no such frame", 65);
        if (frame) {
            scanout_frame_info info = {.size = sizeof info};
            scanout_frame_describe(frame, &info);
            if (info.is_new) texture = upload(renderer, texture, frame);
            scanout_frame_release(frame);
            if (!texture) return fail("SDL has no texture of the film's format", 65);
            if (output && (int64_t)info.sequence < wanted) continue;
        }
        SDL_RenderClear(renderer);
        if (texture) SDL_RenderCopy(renderer, texture, NULL, NULL);
        if (output && texture) goes_on = 0, code = save(renderer, output);
        SDL_RenderPresent(renderer);
        if (scanout_state(player) == SCANOUT_STATE_ENDED || scanout_state(player) == SCANOUT_STATE_FAILED) goes_on = 0;
    }
    scanout_close(player);
    scanout_exporter_close(exporter);
    SDL_Quit();
    return code;
}

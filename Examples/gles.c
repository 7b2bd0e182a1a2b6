/* Draws a film on a turning quad with EGL and OpenGL ES 3, without a window, and reads the result back.
 *
 *     cc gles.c $(pkg-config --cflags --libs scanout egl glesv2) -lm -o gles
 *     ./gles film.mkv --frames 100 --save last.ppm
 *
 *     --frames N      draw N times, 60 a second; otherwise until the film ends
 *     --save FILE     the last drawing, as a PPM
 *
 * How frames become textures is in film_textures.h; the last line of the output says whether they were copied for it. */
#include "film_textures.h"
#include <math.h>
#include <time.h>

#define WIDTH 640
#define HEIGHT 360

/* `window` is where the visible part lies in each texture: all of an uploaded one, less of an imported one. */
static const char *shading = "#version 300 es\n"
    "precision highp float; precision highp sampler2D; uniform sampler2D y, u, v; uniform vec4 window[3]; uniform mat3 matrix;\n"
    "uniform vec3 offset; uniform bool pairs; uniform float scale; in vec2 at; out vec4 color;\n"
    "void main() {\n"
    "  vec4 c = texture(u, window[1].xy + at * window[1].zw);\n"
    "  vec3 yuv = vec3(texture(y, window[0].xy + at * window[0].zw).r, c.r, pairs ? c.g : texture(v, window[2].xy + at * window[2].zw).r);\n"
    "  color = vec4(clamp(matrix * (yuv * scale - offset), 0.0, 1.0), 1); }";

/* From what the frame says of its colours (ITU-T H.273) to red, green and blue; no HDR tone mapping. */
static void set_colors(GLuint program, const scanout_frame_info *info)
{
    int matrix = info->matrix == 2 ? (info->visible_height > 576 ? 1 : 6) : info->matrix;
    float r = matrix == 9 ? 0.2627f : matrix == 1 ? 0.2126f : 0.299f, b = matrix == 9 ? 0.0593f : matrix == 1 ? 0.0722f : 0.114f, g = 1 - r - b;
    float one = (float)((1 << info->bit_depth) - 1), step = (float)(1 << (info->bit_depth - 8)); /* the code of white; of one of 8 bits */
    int is_full = info->range == 2;
    float y = is_full ? 1 : one / (219 * step), c = is_full ? 1 : one / (224 * step);
    GLfloat columns[9] = {y, y, y, 0, -c * 2 * b * (1 - b) / g, c * 2 * (1 - b), c * 2 * (1 - r), -c * 2 * r * (1 - r) / g, 0};
    glUniformMatrix3fv(glGetUniformLocation(program, "matrix"), 1, GL_FALSE, columns);
    glUniform3f(glGetUniformLocation(program, "offset"), is_full ? 0 : 16 * step / one, 128 * step / one, 128 * step / one);
    /* yuv420p10 keeps 10 bits at the lower end of 16, P010 at the upper end. */
    int is_high = strncmp(info->format, "p0", 2) == 0;
    glUniform1f(glGetUniformLocation(program, "scale"), info->bit_depth == 8 || is_high ? 1 : 65535 / one);
}

/* Draws the frame turned by `angle`, in its own shape. */
static void draw(GLuint program, const scanout_frame_info *info, const textures *planes, double angle)
{
    float wide = (float)info->visible_width / (float)info->visible_height;
    if (info->pixel_aspect[1]) wide *= (float)info->pixel_aspect[0] / (float)info->pixel_aspect[1];
    angle -= info->rotation * M_PI / 180;
    float c = (float)cos(angle) * 0.6f, s = (float)sin(angle) * 0.6f, shape = (float)HEIGHT / WIDTH;
    GLfloat place[4] = {wide * c * shape, wide * s, -s * shape, c}, windows[12];
    glClear(GL_COLOR_BUFFER_BIT);
    glUseProgram(program);
    for (uint32_t i = 0; i < 3; i++) {
        const scanout_plane *plane = &info->planes[i < info->plane_count ? i : 1];
        uint64_t start = plane->visible_offset - plane->offset;
        GLfloat whole[4] = {0, 0, 1, 1}, part[4] = {
            (float)(start % plane->pitch * 8 / plane->bits) / (float)plane->width, (float)(start / plane->pitch) / (float)plane->height,
            (float)plane->visible_width / (float)plane->width, (float)plane->visible_height / (float)plane->height};
        memcpy(windows + 4 * i, planes == &uploaded ? whole : part, sizeof whole);
        glActiveTexture(GL_TEXTURE0 + i);
        glBindTexture(GL_TEXTURE_2D, planes->planes[i < info->plane_count ? i : 1]);
    }
    glActiveTexture(GL_TEXTURE0);
    glUniform1i(glGetUniformLocation(program, "u"), 1);
    glUniform1i(glGetUniformLocation(program, "v"), 2);
    glUniform1i(glGetUniformLocation(program, "pairs"), info->plane_count == 2);
    glUniform4fv(glGetUniformLocation(program, "window"), 3, windows);
    glUniformMatrix2fv(glGetUniformLocation(program, "place"), 1, GL_FALSE, place);
    set_colors(program, info);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void save(const char *path)
{
    static unsigned char pixels[HEIGHT][WIDTH][4];
    FILE *file = fopen(path, "wb");
    if (!file) fail(path, "cannot be written");
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    fprintf(file, "P6 %d %d 255\n", WIDTH, HEIGHT);
    for (int y = HEIGHT - 1; y >= 0; y--)
        for (int x = 0; x < WIDTH; x++) fwrite(pixels[y][x], 1, 3, file);
    fclose(file);
}

int main(int count, char **words)
{
    const char *film = NULL, *image_path = NULL;
    long limit = -1, drawn = 0, new_ones = 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--frames") == 0 && i + 1 < count) limit = atol(words[++i]);
        else if (strcmp(words[i], "--save") == 0 && i + 1 < count) image_path = words[++i];
        else film = words[i];
    }
    if (!film) fail("usage", "gles FILM [--frames N] [--save FILE.ppm]");
    start_gl();
    char message[300];
    scanout_player *player;
    scanout_exporter *exporter;
    if (scanout_exporter_new(NULL, &exporter) != SCANOUT_OK) fail("the exporter", "cannot be made");
    scanout_options options = {.size = sizeof options, .exporters = &exporter, .exporter_count = 1};
    if (scanout_open(film, &options, &player, message, sizeof message) != SCANOUT_OK) fail("the film", message);

    GLuint program = compile(vertex, shading);
    scanout_frame *frame;
    scanout_frame_info info = {.size = sizeof info};
    set_target(WIDTH, HEIGHT);
    struct timespec tick;
    scanout_event event = {.size = sizeof event};
    while (drawn != limit) {
        while (scanout_next_event(player, 0, &event) == SCANOUT_OK)
            if (event.kind == SCANOUT_EVENT_FAILED) fail("the film", event.text);
            else if (event.kind == SCANOUT_EVENT_ENDED) limit = drawn + 1;
        clock_gettime(CLOCK_MONOTONIC, &tick);
        tick.tv_nsec += 1000000000 / 60; /* when this drawing will be seen */
        if (tick.tv_nsec >= 1000000000) tick.tv_sec++, tick.tv_nsec -= 1000000000;
        if (scanout_exporter_frame_for(exporter, tick.tv_sec * INT64_C(1000000000) + tick.tv_nsec, &frame) == SCANOUT_OK) {
            scanout_frame_describe(frame, &info);
            const textures *found = textures_of(&info, frame);
            draw(program, &info, found, (double)drawn * 0.02);
            release(frame, found);
            new_ones += info.is_new;
            drawn++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, NULL);
    }
    if (image_path) save(image_path);
    printf("%ld drawings of %ld frames: %u imported slots, %u frames uploaded (a copy each).\n", drawn, new_ones, imports, uploads);
    scanout_exporter_close(exporter);
    scanout_close(player);
    return 0;
}

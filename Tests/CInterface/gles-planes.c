/* Writes what the GPU reads of every frame of a film: each plane, visible part only, as raw bytes: gles-planes FILM OUTPUT [cache]
 * By the example's own imports and uploads, or by the library's cache. */
#include "../../Examples/film_textures.h"
#include <math.h>

/* One plane, sample by sample: its low bytes in red and blue, its high ones in green and alpha. */
static const char *samples = "#version 300 es\n"
    "precision highp float; precision highp sampler2D; uniform sampler2D y; uniform ivec2 start; uniform float steps; out vec4 color;\n"
    "void main() { vec2 s = floor(texelFetch(y, ivec2(gl_FragCoord.xy) + start, 0).rg * steps + 0.5);\n"
    "  vec2 high = floor(s / 256.0), low = s - high * 256.0; color = vec4(low.x, high.x, low.y, high.y) / 255.0; }";

/* What the GPU reads from each plane, as bytes. */
static void write_planes(GLuint program, const scanout_frame_info *info, const GLuint *names, const GLint (*starts)[2], FILE *file)
{
    GLfloat whole[4] = {1, 0, 0, 1};
    uint32_t bytes = info->bit_depth > 8 ? 2 : 1;
    glUseProgram(program);
    glUniformMatrix2fv(glGetUniformLocation(program, "place"), 1, GL_FALSE, whole);
    glUniform1f(glGetUniformLocation(program, "steps"), bytes == 2 ? 65535 : 255);
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const scanout_plane *plane = &info->planes[i];
        size_t count = (size_t)plane->visible_width * plane->visible_height;
        unsigned char *pixels = malloc(count * 4);
        glUniform2i(glGetUniformLocation(program, "start"), starts[i][0], starts[i][1]);
        set_target((GLsizei)plane->visible_width, (GLsizei)plane->visible_height);
        glBindTexture(GL_TEXTURE_2D, names[i]);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        glReadPixels(0, 0, (GLsizei)plane->visible_width, (GLsizei)plane->visible_height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        for (size_t n = 0; n < count; n++)
            for (uint32_t k = 0; k < plane->components; k++) fwrite(pixels + n * 4 + k * 2, 1, bytes, file);
        free(pixels);
    }
}

/* With the example's textures. */
static void by_hand(GLuint program, const scanout_frame_info *info, scanout_frame *frame, FILE *file)
{
    GLint starts[SCANOUT_MAX_PLANES][2];
    const textures *found = textures_of(info, frame);
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const scanout_plane *plane = &info->planes[i];
        uint64_t start = found == &uploaded ? 0 : plane->visible_offset - plane->offset;
        starts[i][0] = (GLint)(start % plane->pitch * 8 / plane->bits);
        starts[i][1] = (GLint)(start / plane->pitch);
    }
    write_planes(program, info, found->planes, starts, file);
    release(frame, found);
}

/* With the library's. */
static void by_cache(scanout_egl_cache *cache, GLuint program, const scanout_frame_info *info, scanout_frame *frame, FILE *file)
{
    char message[300] = "";
    GLuint names[SCANOUT_MAX_PLANES];
    GLint starts[SCANOUT_MAX_PLANES][2];
    scanout_texture_info found = {.size = sizeof found};
    if (scanout_egl_cache_get(cache, frame, &found, message, sizeof message) != SCANOUT_OK) fail("the textures", message);
    if (found.count != info->plane_count || found.target != GL_TEXTURE_2D || !found.has_matrix) fail("the textures", "are not those of planes");
    for (uint32_t i = 0; i < found.count; i++) {
        names[i] = found.textures[i].name;
        starts[i][0] = (GLint)lroundf(found.crop[0] * (float)found.textures[i].width);
        starts[i][1] = (GLint)lroundf(found.crop[1] * (float)found.textures[i].height);
    }
    write_planes(program, info, names, starts, file);
    scanout_egl_cache_release(cache, frame);
}

int main(int count, char **words)
{
    if (count != 3 && count != 4) fail("usage", "gles-planes FILM OUTPUT [cache]");
    start_gl();
    char message[300];
    scanout_player *player;
    scanout_exporter *exporter;
    scanout_exporter_options wishes = {.size = sizeof wishes, .policy = SCANOUT_POLICY_WAIT};
    if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) fail("the exporter", "cannot be made");
    scanout_options options = {.size = sizeof options, .output = SCANOUT_OUTPUT_UNTIMED, .exporters = &exporter, .exporter_count = 1};
    if (scanout_open(words[1], &options, &player, message, sizeof message) != SCANOUT_OK) fail("the film", message);
    FILE *file = fopen(words[2], "wb");
    if (!file) fail(words[2], "cannot be written");
    GLuint program = compile(vertex, samples);
    scanout_egl_cache *cache = NULL;
    if (count == 4 && scanout_egl_cache_new(NULL, &cache, message, sizeof message) != SCANOUT_OK) fail("the cache", message);
    scanout_frame *frame;
    scanout_frame_info info = {.size = sizeof info};
    while (scanout_exporter_wait(exporter, -1, &frame) == SCANOUT_OK) {
        scanout_frame_describe(frame, &info);
        if (cache) by_cache(cache, program, &info, frame, file);
        else by_hand(program, &info, frame, file);
    }
    fclose(file);
    scanout_texture_statistics counts = {.size = sizeof counts, .imported = imports, .uploaded = uploads};
    if (cache) scanout_egl_cache_get_statistics(cache, &counts);
    fprintf(stderr, "%s\n", glGetString(GL_RENDERER));
    printf("%u imported, %u uploaded\n", (unsigned)counts.imported, (unsigned)counts.uploaded);
    scanout_egl_cache_close(cache);
    scanout_exporter_close(exporter);
    scanout_close(player);
    return 0;
}

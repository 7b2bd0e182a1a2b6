/* Writes what the GPU reads of every picture of a film: each plane, visible part only, as raw bytes: gles-planes FILM OUTPUT */
#include "../../Examples/film_textures.h"

/* One plane, sample by sample: its low bytes in red and blue, its high ones in green and alpha. */
static const char *samples = "#version 300 es\n"
    "precision highp float; precision highp sampler2D; uniform sampler2D y; uniform ivec2 start; uniform float steps; out vec4 color;\n"
    "void main() { vec2 s = floor(texelFetch(y, ivec2(gl_FragCoord.xy) + start, 0).rg * steps + 0.5);\n"
    "  vec2 high = floor(s / 256.0), low = s - high * 256.0; color = vec4(low.x, high.x, low.y, high.y) / 255.0; }";

/* What the GPU reads from each plane, as bytes. */
static void write_planes(GLuint program, const player_frame_info *info, const textures *planes, FILE *file)
{
    GLfloat whole[4] = {1, 0, 0, 1};
    uint32_t bytes = info->bit_depth > 8 ? 2 : 1;
    glUseProgram(program);
    glUniformMatrix2fv(glGetUniformLocation(program, "place"), 1, GL_FALSE, whole);
    glUniform1f(glGetUniformLocation(program, "steps"), bytes == 2 ? 65535 : 255);
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const player_plane *plane = &info->planes[i];
        uint64_t start = planes == &uploaded ? 0 : plane->visible_offset - plane->offset;
        size_t count = (size_t)plane->visible_width * plane->visible_height;
        unsigned char *pixels = malloc(count * 4);
        glUniform2i(glGetUniformLocation(program, "start"), (GLint)(start % plane->pitch * 8 / plane->bits), (GLint)(start / plane->pitch));
        set_target((GLsizei)plane->visible_width, (GLsizei)plane->visible_height);
        glBindTexture(GL_TEXTURE_2D, planes->planes[i]);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        glReadPixels(0, 0, (GLsizei)plane->visible_width, (GLsizei)plane->visible_height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        for (size_t n = 0; n < count; n++)
            for (uint32_t k = 0; k < plane->components; k++) fwrite(pixels + n * 4 + k * 2, 1, bytes, file);
        free(pixels);
    }
}

int main(int count, char **words)
{
    if (count != 3) fail("usage", "gles-planes FILM OUTPUT");
    start_gl();
    char message[300];
    player *player;
    player_exporter *exporter;
    player_exporter_options wishes = {.size = sizeof wishes, .policy = PLAYER_POLICY_WAIT};
    player_exporter_new(&wishes, &exporter);
    player_options options = {.size = sizeof options, .output = PLAYER_OUTPUT_UNTIMED, .exporters = &exporter, .exporter_count = 1};
    if (player_open(words[1], &options, &player, message, sizeof message) != PLAYER_OK) fail("the film", message);
    FILE *file = fopen(words[2], "wb");
    if (!file) fail(words[2], "cannot be written");
    GLuint program = compile(vertex, samples);
    player_frame *frame;
    player_frame_info info = {.size = sizeof info};
    while (player_exporter_wait(exporter, -1, &frame) == PLAYER_OK) {
        player_frame_describe(frame, &info);
        const textures *found = textures_of(&info, frame);
        write_planes(program, &info, found, file);
        release(frame, found);
    }
    fclose(file);
    printf("%u imported slots, %u uploads\n", imports, uploads);
    player_exporter_close(exporter);
    player_close(player);
    return 0;
}

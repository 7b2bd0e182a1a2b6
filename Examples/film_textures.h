/* Textures of a film's frames in OpenGL ES 3, for gles.c: imported where the frame is a DMA-BUF and the driver imports (no byte is
 * copied), uploaded plane by plane elsewhere (one copy). Made for copying into programs. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <GLES2/gl2ext.h>
#include <scanout.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE 32 /* slots of one pool that are imported at the same time */
#define FOURCC(a, b, c, d) ((a) | (b) << 8 | (c) << 16 | (uint32_t)(d) << 24)

/* What is made of one frame's memory: a texture a plane. It serves every frame with that identity. */
typedef struct {
    uint32_t identity[3];
    GLuint planes[3];
} textures;

static EGLDisplay display;
static int can_import, can_fence;
static PFNEGLCREATEIMAGEKHRPROC create_image;
static PFNEGLDESTROYIMAGEKHRPROC destroy_image;
static PFNGLEGLIMAGETARGETTEXTURE2DOESPROC image_to_texture;
static textures imported[CACHE], uploaded;
static int imported_count;
static scanout_frame_info uploaded_as;
static unsigned imports, uploads;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* An OpenGL ES 3 context without a window. */
static void start_gl(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    display = get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : eglGetDisplay(EGL_DEFAULT_DISPLAY);
    if (!eglInitialize(display, NULL, NULL)) fail("EGL", "no display can be opened");
    eglBindAPI(EGL_OPENGL_ES_API);
    EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) fail("EGL", "no OpenGL ES 3 without a surface");
    const char *extensions = eglQueryString(display, EGL_EXTENSIONS);
    create_image = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR");
    destroy_image = (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR");
    image_to_texture = (PFNGLEGLIMAGETARGETTEXTURE2DOESPROC)eglGetProcAddress("glEGLImageTargetTexture2DOES");
    can_import = strstr(extensions, "EGL_EXT_image_dma_buf_import_modifiers") && create_image && image_to_texture;
    can_fence = strstr(extensions, "EGL_ANDROID_native_fence_sync") != NULL;
    if (!strstr((const char *)glGetString(GL_EXTENSIONS), "GL_EXT_texture_norm16")) fprintf(stderr, "No films of more than 8 bits here\n");
}

/* A texture whose values, 0 to 1, are those of the plane's samples over 255 or 65535. */
static GLuint new_texture(void)
{
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}

/* The plane's own memory as a texture; 0 where the driver cannot. */
static GLuint import_plane(const scanout_frame_info *info, const scanout_plane *plane)
{
    uint32_t one = info->bit_depth > 8 ? FOURCC('R', '1', '6', ' ') : FOURCC('R', '8', ' ', ' ');
    uint32_t two = info->bit_depth > 8 ? FOURCC('G', 'R', '3', '2') : FOURCC('G', 'R', '8', '8');
    EGLint attributes[] = {
        EGL_WIDTH, (EGLint)plane->width, EGL_HEIGHT, (EGLint)plane->height,
        EGL_LINUX_DRM_FOURCC_EXT, (EGLint)(plane->components == 2 ? two : one),
        EGL_DMA_BUF_PLANE0_FD_EXT, plane->fd,
        EGL_DMA_BUF_PLANE0_OFFSET_EXT, (EGLint)plane->offset,
        EGL_DMA_BUF_PLANE0_PITCH_EXT, (EGLint)plane->pitch,
        EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, (EGLint)(info->modifier & 0xffffffff),
        EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, (EGLint)(info->modifier >> 32), EGL_NONE};
    EGLImageKHR image = create_image(display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, attributes);
    if (image == EGL_NO_IMAGE_KHR) return 0;
    GLuint texture = new_texture();
    image_to_texture(GL_TEXTURE_2D, image);
    destroy_image(display, image); /* the texture keeps the memory */
    return texture;
}

/* The textures of a frame that is a DMA-BUF, made once for each identity; NULL where the driver cannot. */
static textures *import(const scanout_frame_info *info)
{
    for (int i = 0; i < imported_count; i++)
        if (memcmp(imported[i].identity, info->identity, sizeof info->identity) == 0) return &imported[i];
    /* A new pool or generation: what is left of the old one will not be seen again. */
    if (imported_count == CACHE || (imported_count > 0 && memcmp(imported[0].identity, info->identity, 2 * sizeof(uint32_t)) != 0)) {
        while (imported_count > 0) glDeleteTextures(3, imported[--imported_count].planes);
    }
    textures *made = &imported[imported_count];
    memset(made, 0, sizeof *made);
    for (uint32_t i = 0; i < info->plane_count; i++) {
        made->planes[i] = import_plane(info, &info->planes[i]);
        if (made->planes[i]) continue;
        glDeleteTextures(3, made->planes);
        can_import = 0; /* it will not take the next one either */
        return NULL;
    }
    memcpy(made->identity, info->identity, sizeof info->identity);
    imported_count++;
    imports++;
    return made;
}

/* The visible part of each plane, copied. */
static textures *upload(const scanout_frame_info *info, scanout_frame *frame)
{
    static const GLenum formats[2] = {GL_RED, GL_RG}, internal[2][2] = {{GL_R8, GL_RG8}, {GL_R16_EXT, GL_RG16_EXT}};
    GLenum type = info->bit_depth > 8 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE;
    const void *bytes;
    int is_known = strcmp(uploaded_as.format, info->format) == 0 && uploaded_as.visible_width == info->visible_width &&
                   uploaded_as.visible_height == info->visible_height;
    if (is_known && !info->is_new) return &uploaded;
    if (scanout_frame_map(frame, &bytes) != SCANOUT_OK) fail("the frame", "cannot be mapped");
    if (!is_known) glDeleteTextures(3, uploaded.planes);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (uint32_t i = 0; i < info->plane_count; i++) {
        const scanout_plane *plane = &info->planes[i];
        GLsizei width = (GLsizei)plane->visible_width, height = (GLsizei)plane->visible_height;
        if (!is_known) {
            uploaded.planes[i] = new_texture();
            glTexStorage2D(GL_TEXTURE_2D, 1, internal[info->bit_depth > 8][plane->components - 1], width, height);
        }
        glBindTexture(GL_TEXTURE_2D, uploaded.planes[i]);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)(plane->pitch * 8 / plane->bits));
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, formats[plane->components - 1], type, (const char *)bytes + plane->visible_offset);
    }
    scanout_frame_unmap(frame);
    uploaded_as = *info;
    uploads++;
    return &uploaded;
}

/* The textures of a frame, valid until the next call. */
static const textures *textures_of(const scanout_frame_info *info, scanout_frame *frame)
{
    int fence = scanout_frame_acquire_fence(frame);
    if (fence >= 0) poll(&(struct pollfd){fence, POLLIN, 0}, 1, -1), close(fence);
    for (uint32_t i = 0; i < info->plane_count; i++)
        if (info->plane_count < 2 || info->plane_count > 3 || info->planes[i].components - 1 > 1) fail(info->format, "only YUV is drawn here");
    const textures *found = info->is_dmabuf && can_import ? import(info) : NULL;
    return found ? found : upload(info, frame);
}

/* The frame goes back when the GPU has read it, which an upload already has. */
static void release(scanout_frame *frame, const textures *planes)
{
    PFNEGLCREATESYNCKHRPROC create = (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR");
    PFNEGLDESTROYSYNCKHRPROC destroy = (PFNEGLDESTROYSYNCKHRPROC)eglGetProcAddress("eglDestroySyncKHR");
    PFNEGLDUPNATIVEFENCEFDANDROIDPROC duplicate = (PFNEGLDUPNATIVEFENCEFDANDROIDPROC)eglGetProcAddress("eglDupNativeFenceFDANDROID");
    if (planes == &uploaded) { scanout_frame_release(frame); return; }
    if (!can_fence) { glFinish(); scanout_frame_release(frame); return; }
    EGLSyncKHR sync = create(display, EGL_SYNC_NATIVE_FENCE_ANDROID, NULL);
    glFlush(); /* only then has the fence a descriptor */
    scanout_frame_release_after(frame, duplicate(display, sync));
    destroy(display, sync);
}

static GLuint compile(const char *vertex, const char *fragment)
{
    GLuint program = glCreateProgram(), shader;
    const char *sources[2] = {vertex, fragment};
    for (int i = 0; i < 2; i++) {
        shader = glCreateShader(i ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
        glShaderSource(shader, 1, &sources[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    GLint is_good;
    char log[500] = "";
    glGetProgramiv(program, GL_LINK_STATUS, &is_good);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!is_good) fail("the shaders", log);
    return program;
}

/* Somewhere to draw: `width` x `height` pixels of 8 bits each of red, green, blue and alpha. */
static void set_target(GLsizei width, GLsizei height)
{
    static GLuint framebuffer, color;
    if (!framebuffer) glGenFramebuffers(1, &framebuffer), glGenRenderbuffers(1, &color);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
    glViewport(0, 0, width, height);
}

/* A quad of two triangles that reaches from -1 to 1, placed by `place`; `at` runs from the top left of the frame to 1, 1. */
static const char *vertex = "#version 300 es\n"
    "uniform mat2 place; out vec2 at;\n"
    "void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = vec2(p.x, 1.0 - p.y); gl_Position = vec4(place * (p * 2.0 - 1.0), 0, 1); }";

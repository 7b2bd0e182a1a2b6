// Door to EGL and OpenGL ES: types and constants only. Nothing is linked; the functions are looked up when a cache is made, so that programs
// without a cache need neither library.
#ifndef CEGL_SHIM_H
#define CEGL_SHIM_H
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <GLES2/gl2ext.h>

// Cast macros are not imported, and where they are, with another sign than the calls take.
enum { cegl_linux_dma_buf = EGL_LINUX_DMA_BUF_EXT, cegl_native_fence = EGL_SYNC_NATIVE_FENCE_ANDROID,
       cegl_native_fence_fd = EGL_SYNC_NATIVE_FENCE_FD_ANDROID };

// Attributes of the planes of one image, which have no regular numbers.
enum { cegl_fd, cegl_offset, cegl_pitch, cegl_modifier_low, cegl_modifier_high };
static inline EGLint cegl_plane_attribute(int plane, int which) {
    static const EGLint names[4][5] = {
        {EGL_DMA_BUF_PLANE0_FD_EXT, EGL_DMA_BUF_PLANE0_OFFSET_EXT, EGL_DMA_BUF_PLANE0_PITCH_EXT, EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT,
         EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT},
        {EGL_DMA_BUF_PLANE1_FD_EXT, EGL_DMA_BUF_PLANE1_OFFSET_EXT, EGL_DMA_BUF_PLANE1_PITCH_EXT, EGL_DMA_BUF_PLANE1_MODIFIER_LO_EXT,
         EGL_DMA_BUF_PLANE1_MODIFIER_HI_EXT},
        {EGL_DMA_BUF_PLANE2_FD_EXT, EGL_DMA_BUF_PLANE2_OFFSET_EXT, EGL_DMA_BUF_PLANE2_PITCH_EXT, EGL_DMA_BUF_PLANE2_MODIFIER_LO_EXT,
         EGL_DMA_BUF_PLANE2_MODIFIER_HI_EXT},
        {EGL_DMA_BUF_PLANE3_FD_EXT, EGL_DMA_BUF_PLANE3_OFFSET_EXT, EGL_DMA_BUF_PLANE3_PITCH_EXT, EGL_DMA_BUF_PLANE3_MODIFIER_LO_EXT,
         EGL_DMA_BUF_PLANE3_MODIFIER_HI_EXT},
    };
    return plane >= 0 && plane < 4 && which >= 0 && which < 5 ? names[plane][which] : EGL_NONE;
}
#endif

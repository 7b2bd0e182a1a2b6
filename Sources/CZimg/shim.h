// Door to zimg (3.0). Holds what Swift's importer drops; no policy.
#ifndef CZIMG_SHIM_H
#define CZIMG_SHIM_H

#include <zimg.h>

// Arrays of unnamed structures are not imported.
static inline void czimg_set_input(zimg_image_buffer_const *buffer, int plane, const void *data, ptrdiff_t stride, unsigned mask) {
    buffer->plane[plane].data = data;
    buffer->plane[plane].stride = stride;
    buffer->plane[plane].mask = mask;
}
static inline void czimg_set_output(zimg_image_buffer *buffer, int plane, void *data, ptrdiff_t stride, unsigned mask) {
    buffer->plane[plane].data = data;
    buffer->plane[plane].stride = stride;
    buffer->plane[plane].mask = mask;
}
static inline zimg_image_buffer_const czimg_input(void) { zimg_image_buffer_const buffer = {ZIMG_API_VERSION}; return buffer; }
static inline zimg_image_buffer czimg_output(void) { zimg_image_buffer buffer = {ZIMG_API_VERSION}; return buffer; }
/// The part of the frame that is converted, in fractions of pixels.
static inline void czimg_set_region(zimg_image_format *format, double left, double top, double width, double height) {
    format->active_region.left = left;
    format->active_region.top = top;
    format->active_region.width = width;
    format->active_region.height = height;
}
static inline zimg_image_format czimg_format(void) {
    zimg_image_format format;
    zimg_image_format_default(&format, ZIMG_API_VERSION);
    return format;
}
static inline zimg_graph_builder_params czimg_params(void) {
    zimg_graph_builder_params params;
    zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
    return params;
}
static const unsigned czimg_buffer_max = ZIMG_BUFFER_MAX;

#endif

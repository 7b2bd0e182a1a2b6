// What Swift cannot say about libwayland: addresses of interfaces, and a message handler that takes a va_list.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "CWaylandProtocols.h"

const struct wl_interface *cwl_interface(const char *name) {
    static const struct wl_interface *const interfaces[] = {
        &wl_compositor_interface, &wl_subcompositor_interface, &wl_shm_interface, &wl_seat_interface, &wl_output_interface,
        &xdg_wm_base_interface, &wp_viewporter_interface, &wp_presentation_interface, &zwp_linux_dmabuf_v1_interface,
        &wp_fractional_scale_manager_v1_interface, &wp_single_pixel_buffer_manager_v1_interface, &zwp_idle_inhibit_manager_v1_interface,
        &zxdg_decoration_manager_v1_interface, &wp_color_representation_manager_v1_interface, &wp_content_type_manager_v1_interface,
        &wp_color_manager_v1_interface, &wp_tearing_control_manager_v1_interface, &wp_fifo_manager_v1_interface,
        &wp_commit_timing_manager_v1_interface, &wp_linux_drm_syncobj_manager_v1_interface,
    };
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++)
        if (strcmp(interfaces[i]->name, name) == 0) return interfaces[i];
    return NULL;
}

static _Thread_local char last_message[240];

static void keep_message(const char *format, va_list arguments) {
    vsnprintf(last_message, sizeof last_message, format, arguments);
    size_t length = strlen(last_message);
    if (length > 0 && last_message[length - 1] == '\n') last_message[length - 1] = 0;
}

void cwl_keep_messages(void) { wl_log_set_handler_client(keep_message); }

const char *cwl_last_message(void) { return last_message; }

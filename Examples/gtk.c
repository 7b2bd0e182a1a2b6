/* A film in a window of GTK 4: a GdkPaintable whose textures are the film's frames, in the memory that the decoder wrote.
 *
 *     cc gtk.c -o gtk $(pkg-config --cflags --libs scanout gtk4) && ./gtk film.mp4
 *
 * The paintable asks at each refresh for the frame that is due when the refresh lights up; it goes into any widget that takes one: GtkPicture here,
 * in a GtkGraphicsOffload, so that GTK may hand the frame to the compositor. Space pauses, q ends. Since GTK 4.20 textures are YUV as films are, of
 * DMA-BUFs or of plain memory; before that they are RGB, to which the library converts each frame once, and since 4.14 DMA-BUFs where the
 * conversion's memory is one. With --frames N --save FILE the program ends after N different frames and writes the last one as PNG. */
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <scanout.h>
#include <stdio.h>
#include <string.h>

/* The paintable. */
#define FILM_TYPE_PAINTABLE (film_paintable_get_type())
G_DECLARE_FINAL_TYPE(FilmPaintable, film_paintable, FILM, PAINTABLE, GObject)

struct _FilmPaintable {
    GObject parent;
    scanout_exporter *exporter; /* lent */
    GdkTexture *texture;        /* of the newest frame */
    double width, height;       /* the part of it that is meant to be seen, in pixels */
    double pixel;               /* a pixel's width to its height */
    unsigned rotation;          /* clockwise degrees until it stands upright */
    gboolean is_mirrored;       /* then left and right change places */
    unsigned frames, imports;   /* so many different ones were shown, and so many of them as DMA-BUFs */
};

static gboolean lies(const FilmPaintable *film) { return film->rotation % 180 != 0; }

static void film_paintable_snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    if (!film->texture) return;
    double wide = gdk_texture_get_width(film->texture) / film->width, high = gdk_texture_get_height(film->texture) / film->height;
    /* Nothing but a texture can be handed to the compositor. */
    if (!film->rotation && !film->is_mirrored && wide == 1 && high == 1) {
        gdk_paintable_snapshot(GDK_PAINTABLE(film->texture), snapshot, width, height);
        return;
    }
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)width / 2, (float)height / 2));
    if (film->is_mirrored) gtk_snapshot_scale(snapshot, -1, 1);
    gtk_snapshot_rotate(snapshot, (float)film->rotation);
    if (lies(film)) {
        double side = width;
        width = height, height = side;
    }
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT((float)-width / 2, (float)-height / 2));
    gdk_paintable_snapshot(GDK_PAINTABLE(film->texture), snapshot, width * wide, height * high);
    gtk_snapshot_restore(snapshot);
    gtk_snapshot_pop(snapshot);
}

static int film_paintable_width(GdkPaintable *paintable)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    return film->texture ? (int)(lies(film) ? film->height : film->width) : 0;
}

static int film_paintable_height(GdkPaintable *paintable)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    return film->texture ? (int)(lies(film) ? film->width : film->height) : 0;
}

static double film_paintable_aspect(GdkPaintable *paintable)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    if (!film->texture) return 0;
    double aspect = film->pixel * film->width / film->height;
    return lies(film) ? 1 / aspect : aspect;
}

static void film_paintable_interface(GdkPaintableInterface *interface)
{
    interface->snapshot = film_paintable_snapshot;
    interface->get_intrinsic_width = film_paintable_width;
    interface->get_intrinsic_height = film_paintable_height;
    interface->get_intrinsic_aspect_ratio = film_paintable_aspect;
}

G_DEFINE_TYPE_WITH_CODE(FilmPaintable, film_paintable, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, film_paintable_interface))

static void film_paintable_dispose(GObject *object)
{
    g_clear_object(&FILM_PAINTABLE(object)->texture);
    G_OBJECT_CLASS(film_paintable_parent_class)->dispose(object);
}

static void film_paintable_class_init(FilmPaintableClass *class) { G_OBJECT_CLASS(class)->dispose = film_paintable_dispose; }
static void film_paintable_init(FilmPaintable *film) { (void)film; }

/* The formats of films that GTK draws as they are: FFmpeg's names and GTK's own. */
static const struct {
    const char *name;
    GdkMemoryFormat memory;
} formats[] = {
#if GTK_CHECK_VERSION(4, 20, 0)
    {"yuv420p", GDK_MEMORY_G8_B8_R8_420},
    {"nv12", GDK_MEMORY_G8_B8R8_420},
    {"yuv422p", GDK_MEMORY_G8_B8_R8_422},
    {"yuv444p", GDK_MEMORY_G8_B8_R8_444},
    {"yuv420p10le", GDK_MEMORY_X6G10_X6B10_X6R10_420},
    {"p010le", GDK_MEMORY_G10X6_B10X6R10X6_420},
#endif
    {"bgra", GDK_MEMORY_B8G8R8A8},
};

/* How the memory of such frames may be laid out: in rows, or as GTK imports it. */
static uint32_t layouts(uint64_t *modifiers, uint32_t room)
{
    uint32_t count = 0;
    modifiers[count++] = 0;
#if GTK_CHECK_VERSION(4, 20, 0)
    const guint32 decoded[] = {'N' | 'V' << 8 | '1' << 16 | '2' << 24, 'P' | '0' << 8 | '1' << 16 | '0' << 24}; /* what hardware decoders make */
    GdkDmabufFormats *known = gdk_display_get_dmabuf_formats(gdk_display_get_default());
    for (gsize i = 0; i < gdk_dmabuf_formats_get_n_formats(known) && count < room; i++) {
        guint32 format;
        guint64 modifier;
        gdk_dmabuf_formats_get_format(known, i, &format, &modifier);
        if (modifier && format == decoded[0] && gdk_dmabuf_formats_contains(known, decoded[1], modifier)) modifiers[count++] = modifier;
    }
#else
    (void)room;
#endif
    return count;
}

/* Textures have whole samples of colour: in 4:2:0 one of an odd width has a pixel more, which is not meant to be seen. */
static void size_of(const scanout_frame_info *info, int *width, int *height)
{
    const scanout_plane *luma = &info->planes[0], *chroma = &info->planes[info->plane_count > 1];
    int is_halved = chroma->visible_width < luma->visible_width, is_low = chroma->visible_height < luma->visible_height;
    *width = (int)info->visible_width + (is_halved ? (int)(info->visible_width & 1) : 0);
    *height = (int)info->visible_height + (is_low ? (int)(info->visible_height & 1) : 0);
}

static void frame_is_free(void *frame) { scanout_frame_release(frame); }

#if GTK_CHECK_VERSION(4, 16, 0)
/* What the frame's samples mean (ITU-T H.273), for those in YUV; RGB is sRGB, which is GTK's default. The curve of films without HDR is
 * the display's, as in every player. */
static GdkColorState *colors_of(const scanout_frame_info *info)
{
    if (info->plane_count == 1) return gdk_color_state_ref(gdk_color_state_get_srgb());
    guint usual = info->visible_height > 576 ? 1 : 6; /* the matrix of films that do not say: BT.709, BT.601 */
    GdkCicpParams *params = gdk_cicp_params_new();
    gdk_cicp_params_set_color_primaries(params, info->primaries == 2 ? 1 : info->primaries);
    gdk_cicp_params_set_transfer_function(params, info->transfer == 16 || info->transfer == 18 ? info->transfer : 13);
    gdk_cicp_params_set_matrix_coefficients(params, info->matrix == 2 ? usual : info->matrix);
    gdk_cicp_params_set_range(params, info->range == 2 ? GDK_CICP_RANGE_FULL : GDK_CICP_RANGE_NARROW);
    GdkColorState *colors = gdk_cicp_params_build_color_state(params, NULL);
    if (!colors) { /* GTK does not know all of these: the usual ones come nearest */
        gdk_cicp_params_set_color_primaries(params, 1);
        gdk_cicp_params_set_matrix_coefficients(params, usual);
        colors = gdk_cicp_params_build_color_state(params, NULL);
    }
    g_object_unref(params);
    return colors;
}
#endif

#if GTK_CHECK_VERSION(4, 14, 0)
/* The frame's memory as GTK's renderer or the compositor imports it, lent until GTK drops the texture. NULL, and the frame is still the caller's,
 * when GTK takes no DMA-BUFs of this kind. */
static GdkTexture *imported(scanout_frame *frame, const scanout_frame_info *info)
{
    GdkDisplay *display = gdk_display_get_default();
    if (!info->is_dmabuf || !gdk_dmabuf_formats_contains(gdk_display_get_dmabuf_formats(display), info->fourcc, info->modifier)) return NULL;
    int width, height;
    size_of(info, &width, &height);
    GdkDmabufTextureBuilder *builder = gdk_dmabuf_texture_builder_new();
    gdk_dmabuf_texture_builder_set_display(builder, display);
    gdk_dmabuf_texture_builder_set_width(builder, (guint)width);
    gdk_dmabuf_texture_builder_set_height(builder, (guint)height);
    gdk_dmabuf_texture_builder_set_fourcc(builder, info->fourcc);
    gdk_dmabuf_texture_builder_set_modifier(builder, info->modifier);
    gdk_dmabuf_texture_builder_set_n_planes(builder, info->plane_count);
    for (guint i = 0; i < info->plane_count; i++) {
        gdk_dmabuf_texture_builder_set_fd(builder, i, info->planes[i].fd);
        gdk_dmabuf_texture_builder_set_offset(builder, i, (guint)info->planes[i].visible_offset);
        gdk_dmabuf_texture_builder_set_stride(builder, i, info->planes[i].pitch);
    }
#if GTK_CHECK_VERSION(4, 16, 0)
    GdkColorState *colors = colors_of(info);
    gdk_dmabuf_texture_builder_set_color_state(builder, colors);
    gdk_color_state_unref(colors);
#endif
    GdkTexture *texture = gdk_dmabuf_texture_builder_build(builder, frame_is_free, frame, NULL);
    g_object_unref(builder);
    return texture;
}
#else
static GdkTexture *imported(scanout_frame *frame, const scanout_frame_info *info) { return (void)frame, (void)info, NULL; }
#endif

/* The frame's memory as the processor sees it, which GTK uploads where it draws on a device. The frame is released when GTK drops the texture, or at
 * once when there is none: NULL. */
static GdkTexture *mapped(scanout_frame *frame, const scanout_frame_info *info)
{
    const void *start;
    int width, height;
    GdkMemoryFormat format = GDK_MEMORY_B8G8R8A8;
    size_of(info, &width, &height);
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
        if (!strcmp(formats[i].name, info->format)) format = formats[i].memory;
    if (info->modifier || scanout_frame_map(frame, &start) != SCANOUT_OK) {
        scanout_frame_release(frame);
        return NULL;
    }
    GBytes *bytes = g_bytes_new_with_free_func(start, info->byte_count, frame_is_free, frame);
#if GTK_CHECK_VERSION(4, 20, 0)
    GdkMemoryTextureBuilder *builder = gdk_memory_texture_builder_new();
    gdk_memory_texture_builder_set_bytes(builder, bytes);
    gdk_memory_texture_builder_set_format(builder, format);
    gdk_memory_texture_builder_set_width(builder, width);
    gdk_memory_texture_builder_set_height(builder, height);
    for (guint i = 0; i < info->plane_count; i++) {
        gdk_memory_texture_builder_set_offset(builder, i, info->planes[i].visible_offset);
        gdk_memory_texture_builder_set_stride_for_plane(builder, i, info->planes[i].pitch);
    }
    GdkColorState *colors = colors_of(info);
    gdk_memory_texture_builder_set_color_state(builder, colors);
    gdk_color_state_unref(colors);
    GdkTexture *texture = gdk_memory_texture_builder_build(builder);
    g_object_unref(builder);
#else
    gsize first = info->planes[0].visible_offset;
    GBytes *visible = g_bytes_new_from_bytes(bytes, first, info->byte_count - first);
    GdkTexture *texture = gdk_memory_texture_new(width, height, format, visible, info->planes[0].pitch);
    g_bytes_unref(visible);
#endif
    g_bytes_unref(bytes);
    return texture;
}

/* Takes the frame that is due at `time`, in the microseconds of g_get_monotonic_time. */
static void film_paintable_advance(FilmPaintable *film, gint64 time)
{
    scanout_frame *frame;
    scanout_frame_info info = {.size = sizeof info};
    if (scanout_exporter_frame_for(film->exporter, time * 1000, &frame) != SCANOUT_OK) return;
    scanout_frame_describe(frame, &info);
    if (!info.is_new) {
        scanout_frame_release(frame);
        return;
    }
    GdkTexture *texture = imported(frame, &info);
    if (texture) film->imports++;
    else texture = mapped(frame, &info);
    if (!texture) return;
    double pixel = info.pixel_aspect[1] ? (double)info.pixel_aspect[0] / info.pixel_aspect[1] : 1;
    gboolean resizes = film->width != info.visible_width || film->height != info.visible_height || film->pixel != pixel ||
                       film->rotation != info.rotation;
    film->width = info.visible_width, film->height = info.visible_height, film->pixel = pixel;
    film->rotation = info.rotation, film->is_mirrored = info.is_mirrored;
    film->frames++;
    g_clear_object(&film->texture);
    film->texture = texture;
    if (resizes) gdk_paintable_invalidate_size(GDK_PAINTABLE(film));
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(film));
}

/* The texture as PNG in RGB, as it is drawn: one in YUV would be saved as YUV. */
static gboolean save(GdkTexture *texture, const char *path)
{
#if GTK_CHECK_VERSION(4, 16, 0)
    gsize pitch;
    GdkTextureDownloader *downloader = gdk_texture_downloader_new(texture);
    gdk_texture_downloader_set_format(downloader, GDK_MEMORY_R8G8B8);
    gdk_texture_downloader_set_color_state(downloader, gdk_color_state_get_srgb());
    GBytes *bytes = gdk_texture_downloader_download_bytes(downloader, &pitch);
    gdk_texture_downloader_free(downloader);
    texture = gdk_memory_texture_new(gdk_texture_get_width(texture), gdk_texture_get_height(texture), GDK_MEMORY_R8G8B8, bytes, pitch);
    g_bytes_unref(bytes);
#else
    g_object_ref(texture);
#endif
    gboolean is_saved = gdk_texture_save_to_png(texture, path);
    g_object_unref(texture);
    return is_saved;
}

/* The program around it. */
static struct {
    scanout_player *player;
    GMainLoop *loop;
    FilmPaintable *film;
    unsigned frames; /* 0: to the end */
    int code;
} program;

static gboolean refresh(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    (void)widget, (void)data;
    /* When what is drawn now lights up, as far as GTK knows. */
    GdkFrameTimings *timings = gdk_frame_clock_get_current_timings(clock);
    gint64 time = timings ? gdk_frame_timings_get_predicted_presentation_time(timings) : 0;
    film_paintable_advance(program.film, time ? time : gdk_frame_clock_get_frame_time(clock));
    if (program.frames && program.film->frames >= program.frames) g_main_loop_quit(program.loop);
    return G_SOURCE_CONTINUE;
}

static gboolean news(gint descriptor, GIOCondition condition, gpointer data)
{
    scanout_event event = {.size = sizeof event};
    (void)descriptor, (void)condition, (void)data;
    while (scanout_next_event(program.player, 0, &event) == SCANOUT_OK)
        if (event.kind == SCANOUT_EVENT_ENDED || event.kind == SCANOUT_EVENT_FAILED) {
            if (event.kind == SCANOUT_EVENT_FAILED) fprintf(stderr, "gtk: %s\n", event.text), program.code = 65;
            g_main_loop_quit(program.loop);
        }
    return G_SOURCE_CONTINUE;
}

static gboolean pressed(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state, gpointer data)
{
    (void)keys, (void)code, (void)state, (void)data;
    if (key == GDK_KEY_q) g_main_loop_quit(program.loop);
    if (key == GDK_KEY_space) scanout_is_playing(program.player) ? scanout_pause(program.player) : scanout_play(program.player);
    return TRUE;
}

static gboolean closed(GtkWindow *window, gpointer data)
{
    (void)window, (void)data;
    g_main_loop_quit(program.loop);
    return TRUE;
}

int main(int count, char **words)
{
    const char *place = NULL, *picture = NULL;
    char message[500];
    for (int i = 1; i < count; i++)
        if (!strcmp(words[i], "--frames") && i + 1 < count) program.frames = (unsigned)g_ascii_strtoull(words[++i], NULL, 10);
        else if (!strcmp(words[i], "--save") && i + 1 < count) picture = words[++i];
        else place = words[i];
    if (!place) return fputs("gtk: which film?\n", stderr), 64;
    if (!gtk_init_check()) return fputs("gtk: there is no display.\n", stderr), 69;

    /* One frame is drawn, one waits in GTK's renderer, one comes. */
    scanout_exporter *exporter;
    char names[200] = "";
    uint64_t modifiers[64];
    for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
        if (i) g_strlcat(names, ",", sizeof names);
        g_strlcat(names, formats[i].name, sizeof names);
    }
    scanout_exporter_options wishes = {.size = sizeof wishes, .budget = 4, .formats = names, .modifiers = modifiers};
    wishes.modifier_count = layouts(modifiers, G_N_ELEMENTS(modifiers));
    if (scanout_exporter_new(&wishes, &exporter) != SCANOUT_OK) return fputs("gtk: the library is too old.\n", stderr), 70;
    scanout_options options = {.size = sizeof options, .exporters = &exporter, .exporter_count = 1};
    if (scanout_open(place, &options, &program.player, message, sizeof message) != SCANOUT_OK)
        return fprintf(stderr, "gtk: %s\n", message), 66;
    program.film = g_object_new(FILM_TYPE_PAINTABLE, NULL);
    program.film->exporter = exporter;
    program.loop = g_main_loop_new(NULL, FALSE);

    GtkWidget *window = gtk_window_new(), *view = gtk_picture_new_for_paintable(GDK_PAINTABLE(program.film));
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(pressed), NULL);
    gtk_widget_add_controller(window, keys);
    g_signal_connect(window, "close-request", G_CALLBACK(closed), NULL);
#if GTK_CHECK_VERSION(4, 14, 0)
    gtk_window_set_child(GTK_WINDOW(window), gtk_graphics_offload_new(view));
#else
    gtk_window_set_child(GTK_WINDOW(window), view);
#endif
    gtk_window_set_default_size(GTK_WINDOW(window), 640, 360);
    gtk_widget_add_tick_callback(view, refresh, NULL, NULL);
    g_unix_fd_add(scanout_event_fd(program.player), G_IO_IN, news, NULL);
    gtk_window_present(GTK_WINDOW(window));
    g_main_loop_run(program.loop);

    printf("%u frames, %u of them imported\n", program.film->frames, program.film->imports);
    if (picture && !(program.film->texture && save(program.film->texture, picture)))
        program.code = fprintf(stderr, "gtk: %s cannot be written.\n", picture) < 0 ? 70 : 73;
    gtk_window_destroy(GTK_WINDOW(window));
    scanout_close(program.player);
    g_object_unref(program.film);
    scanout_exporter_close(exporter);
    return program.code;
}

/* A film in a window of GTK 4: a GdkPaintable whose textures are the film's frames, in the memory that they were converted to.
 *
 *     cc gtk.c -o gtk $(pkg-config --cflags --libs scanout gtk4) && ./gtk film.mp4
 *
 * The paintable asks at each refresh for the frame that is due when the refresh lights up; it goes into any widget that takes one: GtkPicture here. Space
 * pauses, q ends. GTK 4.8 has textures of RGB only, so the exporter asks for that, and frames are converted once. With --frames N --save FILE the
 * program ends after N different frames and writes the last one as PNG. */
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
    double aspect;              /* width to height, by the film's pixels */
    unsigned frames;            /* so many different ones were shown */
};

static void film_paintable_snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    if (film->texture) gdk_paintable_snapshot(GDK_PAINTABLE(film->texture), snapshot, width, height);
}

static int film_paintable_width(GdkPaintable *paintable)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    return film->texture ? gdk_texture_get_width(film->texture) : 0;
}

static int film_paintable_height(GdkPaintable *paintable)
{
    FilmPaintable *film = FILM_PAINTABLE(paintable);
    return film->texture ? gdk_texture_get_height(film->texture) : 0;
}

static double film_paintable_aspect(GdkPaintable *paintable) { return FILM_PAINTABLE(paintable)->aspect; }

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
static void film_paintable_init(FilmPaintable *film) { film->aspect = 0; }

/* The texture's bytes are the frame's memory, which is lent until GTK drops the texture. NULL when it cannot be mapped. */
static GdkTexture *texture_of(scanout_frame *frame, const scanout_frame_info *info)
{
    const scanout_plane *plane = &info->planes[0];
    const void *start;
    if (scanout_frame_map(frame, &start) != SCANOUT_OK) {
        scanout_frame_release(frame);
        return NULL;
    }
    gsize count = (gsize)plane->pitch * (plane->visible_height - 1) + (gsize)plane->visible_width * 4;
    GBytes *bytes = g_bytes_new_with_free_func((const guint8 *)start + plane->visible_offset, count, (GDestroyNotify)scanout_frame_release, frame);
    GdkTexture *texture =
        gdk_memory_texture_new((int)info->visible_width, (int)info->visible_height, GDK_MEMORY_B8G8R8A8, bytes, plane->pitch);
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
    GdkTexture *texture = texture_of(frame, &info);
    if (!texture) return;
    double pixel = info.pixel_aspect[1] ? (double)info.pixel_aspect[0] / info.pixel_aspect[1] : 1;
    int resizes = !film->texture || gdk_texture_get_width(film->texture) != (int)info.visible_width ||
                  gdk_texture_get_height(film->texture) != (int)info.visible_height;
    film->aspect = pixel * info.visible_width / info.visible_height;
    film->frames++;
    g_clear_object(&film->texture);
    film->texture = texture;
    if (resizes) gdk_paintable_invalidate_size(GDK_PAINTABLE(film));
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(film));
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
    scanout_exporter_options wishes = {.size = sizeof wishes, .budget = 4, .formats = "bgra"};
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
    gtk_window_set_child(GTK_WINDOW(window), view);
    gtk_window_set_default_size(GTK_WINDOW(window), 640, 360);
    gtk_widget_add_tick_callback(view, refresh, NULL, NULL);
    g_unix_fd_add(scanout_event_fd(program.player), G_IO_IN, news, NULL);
    gtk_window_present(GTK_WINDOW(window));
    g_main_loop_run(program.loop);

    printf("%u frames\n", program.film->frames);
    if (picture && !(program.film->texture && gdk_texture_save_to_png(program.film->texture, picture)))
        program.code = fprintf(stderr, "gtk: %s cannot be written.\n", picture) < 0 ? 70 : 73;
    gtk_window_destroy(GTK_WINDOW(window));
    scanout_close(program.player);
    g_object_unref(program.film);
    scanout_exporter_close(exporter);
    return program.code;
}

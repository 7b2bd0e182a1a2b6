#include "CDeinterlace.h"

#include <dlfcn.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/pixdesc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NAME_OF(number) "libavfilter.so." #number
#define NAME(number) NAME_OF(number)

// The functions, looked up once.
static struct {
    __typeof__(avfilter_graph_alloc) *graph_alloc;
    __typeof__(avfilter_graph_free) *graph_free;
    __typeof__(avfilter_get_by_name) *get_by_name;
    __typeof__(avfilter_graph_create_filter) *create_filter;
    __typeof__(avfilter_link) *link;
    __typeof__(avfilter_graph_config) *config;
    __typeof__(av_buffersrc_add_frame_flags) *add_frame;
    __typeof__(av_buffersink_get_frame) *get_frame;
    char reason[256];
} api;

static void load(void) {
    // The library that the headers belong to: the same libavutil.
    void *library = dlopen(NAME(LIBAVFILTER_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(api.reason, sizeof api.reason, "%s cannot be loaded: %s", NAME(LIBAVFILTER_VERSION_MAJOR), why ? why : "unknown");
        return;
    }
    api.graph_alloc = (__typeof__(avfilter_graph_alloc) *)dlsym(library, "avfilter_graph_alloc");
    api.graph_free = (__typeof__(avfilter_graph_free) *)dlsym(library, "avfilter_graph_free");
    api.get_by_name = (__typeof__(avfilter_get_by_name) *)dlsym(library, "avfilter_get_by_name");
    api.create_filter = (__typeof__(avfilter_graph_create_filter) *)dlsym(library, "avfilter_graph_create_filter");
    api.link = (__typeof__(avfilter_link) *)dlsym(library, "avfilter_link");
    api.config = (__typeof__(avfilter_graph_config) *)dlsym(library, "avfilter_graph_config");
    api.add_frame = (__typeof__(av_buffersrc_add_frame_flags) *)dlsym(library, "av_buffersrc_add_frame_flags");
    api.get_frame = (__typeof__(av_buffersink_get_frame) *)dlsym(library, "av_buffersink_get_frame");
    if (!api.graph_alloc || !api.graph_free || !api.get_by_name || !api.create_filter || !api.link || !api.config || !api.add_frame ||
        !api.get_frame)
        snprintf(api.reason, sizeof api.reason, "%s lacks a function", NAME(LIBAVFILTER_VERSION_MAJOR));
}

struct CDFilter {
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
};

CDFilter *cd_open(int width, int height, int format, int everything, char *reason, size_t capacity) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (api.reason[0]) {
        snprintf(reason, capacity, "%s", api.reason);
        return NULL;
    }
    CDFilter *filter = av_mallocz(sizeof *filter);
    AVFilterContext *bwdif = NULL;
    char words[160];
    const char *step = "memory";
    int status = AVERROR(ENOMEM);
    if (!filter || !(filter->graph = api.graph_alloc())) goto failed;
    step = "buffer";
    snprintf(words, sizeof words, "video_size=%dx%d:pix_fmt=%d:time_base=1/1:pixel_aspect=1/1", width, height, format);
    status = api.create_filter(&filter->source, api.get_by_name("buffer"), "in", words, NULL, filter->graph);
    if (status < 0) goto failed;
    step = "bwdif";
    const AVFilter *known = api.get_by_name("bwdif");
    if (!known) goto failed;
    snprintf(words, sizeof words, "mode=send_field:parity=auto:deint=%s", everything ? "all" : "interlaced");
    status = api.create_filter(&bwdif, known, "bwdif", words, NULL, filter->graph);
    if (status < 0) goto failed;
    step = "buffersink";
    status = api.create_filter(&filter->sink, api.get_by_name("buffersink"), "out", NULL, NULL, filter->graph);
    if (status < 0) goto failed;
    step = "configuration";
    if ((status = api.link(filter->source, 0, bwdif, 0)) < 0 || (status = api.link(bwdif, 0, filter->sink, 0)) < 0) goto failed;
    if ((status = api.config(filter->graph, NULL)) < 0) goto failed;
    return filter;
failed:
    snprintf(reason, capacity, "libavfilter cannot deinterlace it (%s, %d)", step, status);
    cd_close(filter);
    return NULL;
}

void cd_close(CDFilter *filter) {
    if (!filter) return;
    if (filter->graph) api.graph_free(&filter->graph);
    av_free(filter);
}

int cd_send(CDFilter *filter, AVFrame *frame) {
    return api.add_frame(filter->source, frame, AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
}

int cd_receive(CDFilter *filter, AVFrame *frame) { return api.get_frame(filter->sink, frame) >= 0; }

AVFrame *cd_borrow(void *base, size_t count, void *owner, void (*release)(void *owner, uint8_t *base)) {
    AVFrame *frame = av_frame_alloc();
    if (!frame) return NULL;
    frame->buf[0] = av_buffer_create(base, count, release, owner, AV_BUFFER_FLAG_READONLY);
    if (!frame->buf[0]) av_frame_free(&frame);
    return frame;
}

void cd_describe(AVFrame *frame, int width, int height, int format, int64_t pts, int isInterlaced, int isTopFirst) {
    frame->width = width;
    frame->height = height;
    frame->format = format;
    frame->pts = pts;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    if (isInterlaced) frame->flags |= AV_FRAME_FLAG_INTERLACED;
    if (isTopFirst) frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
    frame->interlaced_frame = isInterlaced;
    frame->top_field_first = isTopFirst;
#endif
}

// Door to PipeWire. Its method calls and the builders of its parameters are macros and inline functions with GNU extensions, invisible to Swift.
#ifndef CPIPEWIRE_SHIM_H
#define CPIPEWIRE_SHIM_H
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <errno.h>
#include <stdint.h>

/// No properties yet; the stream or the context that takes them frees them.
static inline struct pw_properties *cpipewire_properties(void) { return pw_properties_new(NULL, NULL); }

/// The properties' text of a key; NULL when it is not there.
static inline const char *cpipewire_lookup(const struct spa_dict *properties, const char *key) {
    return properties ? spa_dict_lookup(properties, key) : NULL;
}

/// Connects a stream for playback of interleaved 32-bit floats. `positions` are `enum spa_audio_channel`. 0, or a negative errno.
static inline int cpipewire_connect_playback(
    struct pw_stream *stream, uint32_t rate, uint32_t channels, const uint32_t *positions, enum pw_stream_flags flags) {
    uint8_t memory[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(memory, sizeof(memory));
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_F32, .rate = rate, .channels = channels};
    const struct spa_pod *parameters[1];
    for (uint32_t i = 0; i < channels && i < SPA_AUDIO_MAX_CHANNELS; i++) info.position[i] = positions[i];
    parameters[0] = spa_format_audio_raw_build(&builder, SPA_PARAM_EnumFormat, &info);
    return pw_stream_connect(stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, parameters, 1);
}

/// Waits until a stream is connected or has failed, with the loop locked. 0, or a negative errno after so many nanoseconds.
static inline int cpipewire_wait_for_connection(struct pw_thread_loop *loop, struct pw_stream *stream, int64_t nanoseconds) {
    struct timespec limit;
    int result = pw_thread_loop_get_time(loop, &limit, nanoseconds);
    while (result >= 0 && pw_stream_get_state(stream, NULL) == PW_STREAM_STATE_CONNECTING) {
        int waited = pw_thread_loop_timed_wait_full(loop, &limit);
        if (waited != 0) result = waited < 0 ? waited : -ETIMEDOUT;
    }
    return result;
}

static inline int cpipewire_add_core_listener(
    struct pw_core *core, struct spa_hook *hook, const struct pw_core_events *events, void *data) {
    return pw_core_add_listener(core, hook, events, data);
}

/// The daemon answers with `done` after everything that was asked before. The number that it will say, or a negative errno.
static inline int cpipewire_sync(struct pw_core *core, uint32_t object) { return pw_core_sync(core, object, 0); }

static inline struct pw_registry *cpipewire_registry(struct pw_core *core) { return pw_core_get_registry(core, PW_VERSION_REGISTRY, 0); }

static inline int cpipewire_add_registry_listener(
    struct pw_registry *registry, struct spa_hook *hook, const struct pw_registry_events *events, void *data) {
    return pw_registry_add_listener(registry, hook, events, data);
}

static inline void cpipewire_destroy_registry(struct pw_registry *registry) { pw_proxy_destroy((struct pw_proxy *)registry); }

static inline void cpipewire_enter(struct pw_loop *loop) { pw_loop_enter(loop); }
static inline void cpipewire_leave(struct pw_loop *loop) { pw_loop_leave(loop); }

/// Does what is due on a loop, or waits for it. A negative errno when it fails.
static inline int cpipewire_iterate(struct pw_loop *loop, int milliseconds) { return pw_loop_iterate(loop, milliseconds); }
#endif

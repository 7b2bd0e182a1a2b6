// Door to ALSA. The *_alloca macros are invisible to Swift; use the *_malloc functions.
#ifndef CALSA_SHIM_H
#define CALSA_SHIM_H
#include <alsa/asoundlib.h>
#include <stdarg.h>

static inline void calsa_say_nothing(const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file; (void)line; (void)function; (void)error; (void)format;
}

/// Keeps the library from writing its own diagnostics to standard error: errors are returned, and told in our words.
static inline void calsa_silence_library(void) { snd_lib_error_set_handler(calsa_say_nothing); }

/// Has a device that is set up start only when it is asked to, and stamp its position with CLOCK_MONOTONIC. 0, or a negative errno.
static inline int calsa_start_on_request(snd_pcm_t *pcm) {
    snd_pcm_sw_params_t *software;
    snd_pcm_uframes_t boundary = 0;
    int result = snd_pcm_sw_params_malloc(&software);
    if (result < 0) return result;
    result = snd_pcm_sw_params_current(pcm, software);
    if (result >= 0) {
        snd_pcm_sw_params_get_boundary(software, &boundary);
        snd_pcm_sw_params_set_start_threshold(pcm, software, boundary);
        snd_pcm_sw_params_set_tstamp_mode(pcm, software, SND_PCM_TSTAMP_ENABLE);
        snd_pcm_sw_params_set_tstamp_type(pcm, software, SND_PCM_TSTAMP_TYPE_MONOTONIC);
        result = snd_pcm_sw_params(pcm, software);
    }
    snd_pcm_sw_params_free(software);
    return result;
}
#endif

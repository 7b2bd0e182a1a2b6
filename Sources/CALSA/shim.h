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
#endif

// Door to ALSA. The *_alloca macros are invisible to Swift; use the *_malloc functions.
#ifndef CALSA_SHIM_H
#define CALSA_SHIM_H
#include <alsa/asoundlib.h>
#endif

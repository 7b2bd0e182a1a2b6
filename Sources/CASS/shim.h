// Door to libass (0.15 and newer). Holds what Swift's importer drops; no policy.
#ifndef CASS_SHIM_H
#define CASS_SHIM_H

#include <ass/ass.h>

static inline void cass_drop_message(int level, const char *format, va_list arguments, void *data) {
    (void)level, (void)format, (void)arguments, (void)data;
}

/// A library that writes nothing to standard error, which belongs to the program. A function that takes a va_list is not imported.
static inline ASS_Library *cass_library(void) {
    ASS_Library *library = ass_library_init();
    if (library) ass_set_message_cb(library, cass_drop_message, NULL);
    return library;
}

#endif

// Door to libva. Holds what Swift's importer drops; no policy.
#ifndef CVA_SHIM_H
#define CVA_SHIM_H

#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>

#endif

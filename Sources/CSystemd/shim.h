// Door to libsystemd's D-Bus functions (sd-bus). No policy.
#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H

#include <systemd/sd-bus.h>

#endif

// Door to libwayland-client and libxkbcommon.
#ifndef CWAYLANDCLIENT_SHIM_H
#define CWAYLANDCLIENT_SHIM_H
#include <wayland-client.h>
#include <xkbcommon/xkbcommon.h>
#endif

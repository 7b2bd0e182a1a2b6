// The protocols of protocols/ as C (output of scripts/protocols), and what Swift's importer cannot give: the addresses of the interfaces,
// which a proxy keeps. (Taking the address of an imported global in Swift gives that of a copy.)
#ifndef CWAYLANDPROTOCOLS_H
#define CWAYLANDPROTOCOLS_H

#include <wayland-client.h>
#include "color-management-v1-client-protocol.h"
#include "color-representation-v1-client-protocol.h"
#include "commit-timing-v1-client-protocol.h"
#include "content-type-v1-client-protocol.h"
#include "fifo-v1-client-protocol.h"
#include "fractional-scale-v1-client-protocol.h"
#include "idle-inhibit-unstable-v1-client-protocol.h"
#include "linux-dmabuf-v1-client-protocol.h"
#include "linux-drm-syncobj-v1-client-protocol.h"
#include "presentation-time-client-protocol.h"
#include "single-pixel-buffer-v1-client-protocol.h"
#include "tearing-control-v1-client-protocol.h"
#include "viewporter-client-protocol.h"
#include "xdg-decoration-unstable-v1-client-protocol.h"
#include "xdg-shell-client-protocol.h"

/// The interfaces that are bound from the registry; NULL for others.
const struct wl_interface *cwl_interface(const char *name);

/// Gives a proxy its table of functions, one for each event: any of the listener structs. The table must outlive the proxy.
static inline void cwl_listen(void *proxy, const void *listener, void *data) {
    wl_proxy_add_listener((struct wl_proxy *)proxy, (void (**)(void))(uintptr_t)listener, data);
}

/// Has libwayland's messages kept, one a thread, instead of written to standard error.
void cwl_keep_messages(void);
/// The last of them on this thread; empty when there was none.
const char *cwl_last_message(void);

#endif

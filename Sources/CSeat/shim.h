// Door to libseat (a seat's devices from seatd or logind) and to the kernel's keyboards (evdev).
#ifndef CSEAT_SHIM_H
#define CSEAT_SHIM_H
#include <libseat.h>
#include <linux/input.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

/// What the manager has told since the last look, in its order: 1 the seat is ours, 0 it is not any more. Kept until it is taken.
struct cseat_news {
    int count;
    uint8_t is_ours[16];
};

static inline void cseat_add(void *news, uint8_t is_ours) {
    struct cseat_news *told = (struct cseat_news *)news;
    // The manager waits for an answer to each refusal, so that more than two are never told at once.
    if (told->count < (int)sizeof told->is_ours) told->is_ours[told->count++] = is_ours;
}
static inline void cseat_enabled(struct libseat *seat, void *news) { (void)seat; cseat_add(news, 1); }
static inline void cseat_disabled(struct libseat *seat, void *news) { (void)seat; cseat_add(news, 0); }

/// `libseat_open_seat` with news that outlive the seat.
static inline struct libseat *cseat_open(struct cseat_news *news) {
    static const struct libseat_seat_listener listener = {.enable_seat = cseat_enabled, .disable_seat = cseat_disabled};
    // libseat does not write it, though older versions take it without const.
    return libseat_open_seat((struct libseat_seat_listener *)&listener, news);
}

/// The path that the other end of a Unix socket is bound to; empty when it has none.
static inline void cseat_peer(int fd, char path[108]) {
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    path[0] = 0;
    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0 || address.sun_family != AF_UNIX) return;
    for (int i = 0; i < 107 && (path[i] = address.sun_path[i]) != 0; i++) path[i + 1] = 0;
}

/// Whether an input device has one of these keys.
static inline int cseat_has_key(int fd, const uint16_t *codes, int count) {
    uint8_t bits[KEY_MAX / 8 + 1] = {0};
    if (ioctl(fd, EVIOCGBIT(EV_KEY, sizeof bits), bits) < 0) return 0;
    for (int i = 0; i < count; i++)
        if (codes[i] <= KEY_MAX && (bits[codes[i] / 8] >> codes[i] % 8 & 1)) return 1;
    return 0;
}
#endif

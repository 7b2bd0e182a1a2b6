#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int unix_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

int clinux_unix_connect(const char *path) {
    struct sockaddr_un address;
    if (unix_address(&address, path) < 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result;
    do result = connect(fd, (struct sockaddr *)&address, sizeof address);
    while (result < 0 && errno == EINTR);
    if (result == 0) return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

int clinux_unix_listen(const char *path) {
    struct sockaddr_un address;
    if (unix_address(&address, path) < 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    // The mode of the socket becomes the mode of the file, so that there is no moment in which others may connect.
    int result = fchmod(fd, 0600);
    if (result == 0) result = bind(fd, (struct sockaddr *)&address, sizeof address);
    if (result < 0 && errno == EADDRINUSE) {
        struct stat status;
        int other = clinux_unix_connect(path);
        if (other >= 0) {
            close(other);
            errno = EADDRINUSE;
        } else if (errno == ECONNREFUSED && lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) {
            unlink(path);
            result = bind(fd, (struct sockaddr *)&address, sizeof address);
        } else {
            errno = EADDRINUSE;
        }
    }
    if (result == 0) result = listen(fd, 16);
    if (result == 0) return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

int clinux_unix_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int clinux_unix_peer_user(int socket, uint32_t *user) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -1;
    *user = peer.uid;
    return 0;
}

enum { FD_LIMIT = 16 };

long clinux_send(int socket, const void *bytes, size_t count, const int *fds, int fd_count, int wait) {
    struct iovec vector = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    union {
        char bytes[CMSG_SPACE(FD_LIMIT * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    if (fd_count > FD_LIMIT) {
        errno = EINVAL;
        return -1;
    }
    if (fd_count > 0) {
        size_t size = sizeof(int) * (size_t)fd_count;
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(header), fds, size);
    }
    long result;
    do result = sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    while (result < 0 && errno == EINTR);
    return result;
}

long clinux_receive(int socket, void *bytes, size_t capacity, int *fds, int *fd_count, int *is_cut) {
    struct iovec vector = {bytes, capacity};
    union {
        char bytes[CMSG_SPACE(FD_LIMIT * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    long result;
    do result = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (result < 0 && errno == EINTR);
    int limit = *fd_count, found = 0;
    *fd_count = 0;
    *is_cut = 0;
    if (result < 0) return result;
    *is_cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < number; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (found < limit) {
                fds[found++] = fd;
            } else {
                close(fd);
                *is_cut = 1;
            }
        }
    }
    *fd_count = found;
    return result;
}

int clinux_file_identity(int fd, uint64_t *device, uint64_t *inode, int64_t *size) {
    struct stat status;
    if (fstat(fd, &status) < 0) return -1;
    *device = status.st_dev;
    *inode = status.st_ino;
    *size = status.st_size;
    return 0;
}

#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

// Kernel headers before 6.0 lack the sync-file conversion of DMA-BUFs; the layouts are fixed ABI.
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file { uint32_t flags; int32_t fd; };
struct dma_buf_import_sync_file { uint32_t flags; int32_t fd; };
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

static int retry(int fd, unsigned long request, void *argument) {
    int result;
    do result = ioctl(fd, request, argument);
    while (result == -1 && (errno == EINTR || errno == EAGAIN));
    return result;
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void clinux_eventfd_signal(int fd) {
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) == -1 && errno == EINTR) {}
}

void clinux_eventfd_drain(int fd) {
    uint64_t count;
    while (read(fd, &count, sizeof count) == -1 && errno == EINTR) {}
}

int clinux_poll(void *descriptors, unsigned long count, int64_t timeout) {
    struct timespec span = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
    return ppoll(descriptors, count, timeout < 0 ? NULL : &span, NULL);
}

int clinux_memfd(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int clinux_memfd_seal_shrink(int fd) { return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); }

void clinux_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void clinux_set_thread_name(const char *name) {
    char kept[16] = {0};
    strncpy(kept, name, sizeof kept - 1);
    pthread_setname_np(pthread_self(), kept);
}

int clinux_udmabuf_create(int udmabuf, int memfd, uint64_t offset, uint64_t size) {
    struct udmabuf_create create = {.memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .offset = offset, .size = size};
    return retry(udmabuf, UDMABUF_CREATE, &create);
}

int clinux_dma_heap_alloc(int heap, uint64_t size) {
    struct dma_heap_allocation_data data = {.len = size, .fd_flags = O_RDWR | O_CLOEXEC};
    return retry(heap, DMA_HEAP_IOCTL_ALLOC, &data) == -1 ? -1 : (int)data.fd;
}

int clinux_dmabuf_sync(int fd, int start, int access) {
    struct dma_buf_sync sync = {.flags = (uint64_t)access | (start ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END)};
    return retry(fd, DMA_BUF_IOCTL_SYNC, &sync);
}

int clinux_dmabuf_export_sync_file(int fd, int access) {
    struct dma_buf_export_sync_file data = {.flags = (uint32_t)access, .fd = -1};
    return retry(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &data) == -1 ? -1 : data.fd;
}

int clinux_dmabuf_import_sync_file(int fd, int sync_file, int access) {
    struct dma_buf_import_sync_file data = {.flags = (uint32_t)access, .fd = sync_file};
    return retry(fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &data);
}

int clinux_sync_file_merge(int a, int b) {
    struct sync_merge_data data = {.name = "player", .fd2 = b, .fence = -1};
    return retry(a, SYNC_IOC_MERGE, &data) == -1 ? -1 : data.fence;
}

#define _GNU_SOURCE
#include "clinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <linux/vt.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Kernel headers before 6.0 lack the sync-file conversion of DMA-BUFs; the layouts are fixed ABI.
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file { uint32_t flags; int32_t fd; };
struct dma_buf_import_sync_file { uint32_t flags; int32_t fd; };
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

// Timelines ("syncobj") of DRM devices: fixed ABI of drm.h, which not every machine's kernel headers bring.
struct timeline_handle { uint32_t handle, flags; };
struct timeline_fd { uint32_t handle, flags; int32_t fd; uint32_t pad; };
struct timeline_array { uint64_t handles, points; uint32_t count, flags; };
struct timeline_transfer { uint32_t source, destination; uint64_t source_point, destination_point; uint32_t flags, pad; };
struct timeline_eventfd { uint32_t handle, flags; uint64_t point; int32_t fd; uint32_t pad; };
struct drm_capability { uint64_t capability, value; };
#define DRM_GET_CAPABILITY _IOWR('d', 0x0C, struct drm_capability)
#define TIMELINE_CREATE _IOWR('d', 0xBF, struct timeline_handle)
#define TIMELINE_DESTROY _IOWR('d', 0xC0, struct timeline_handle)
#define TIMELINE_TO_FD _IOWR('d', 0xC1, struct timeline_fd)
#define TIMELINE_FROM_FD _IOWR('d', 0xC2, struct timeline_fd)
#define TIMELINE_QUERY _IOWR('d', 0xCB, struct timeline_array)
#define TIMELINE_TRANSFER _IOWR('d', 0xCC, struct timeline_transfer)
#define TIMELINE_SIGNAL _IOWR('d', 0xCD, struct timeline_array)
#define TIMELINE_EVENTFD _IOWR('d', 0xCF, struct timeline_eventfd)
enum { CAPABILITY_TIMELINE = 0x14, IMPORT_SYNC_FILE = 1, EXPORT_SYNC_FILE = 1 };

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

int64_t clinux_clock(int clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int clinux_condition_wait(void *condition, void *mutex, int64_t deadline) {
    struct timespec limit = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    return pthread_cond_timedwait(condition, mutex, &limit);
}

int clinux_memfd(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int clinux_memfd_seal_shrink(int fd) { return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); }

int clinux_memfd_seal_only_shrink(int fd) { return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL); }

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

// The first version of struct sched_attr, for which the C library has a name only since glibc 2.41.
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

void clinux_prompt_thread(void) {
    struct scheduling found = {.size = sizeof found};
    // Policy 0 is SCHED_OTHER; its threads have no turn of a length of their own before Linux 6.12.
    if (syscall(SYS_sched_getattr, 0, &found, sizeof found, 0) == -1 || found.policy != 0 || found.runtime == 0) return;
    struct scheduling wanted = {.size = sizeof wanted, .nice = found.nice, .runtime = found.runtime / 2};
    syscall(SYS_sched_setattr, 0, &wanted, 0);
}

const char *clinux_file_of(const void *address) {
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fname : NULL;
}

// Defined by what scripts/lib/late_libraries.py writes, in libscanout.so only.
extern int late_library_load(const char *name) __attribute__((weak));

int clinux_library_is_there(const char *name) { return !late_library_load || late_library_load(name); }

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

int clinux_has_timelines(int drm) {
    struct drm_capability data = {.capability = CAPABILITY_TIMELINE};
    if (retry(drm, DRM_GET_CAPABILITY, &data) == -1 || data.value == 0) return 0;
    // Handle 0 is nobody's: a kernel that knows the request says ENOENT, one that does not EINVAL or ENOTTY.
    struct timeline_eventfd probe = {.handle = 0, .fd = -1};
    return retry(drm, TIMELINE_EVENTFD, &probe) == -1 && errno == ENOENT;
}

uint32_t clinux_timeline_create(int drm) {
    struct timeline_handle data = {0};
    return retry(drm, TIMELINE_CREATE, &data) == -1 ? 0 : data.handle;
}

void clinux_timeline_destroy(int drm, uint32_t handle) {
    struct timeline_handle data = {.handle = handle};
    retry(drm, TIMELINE_DESTROY, &data);
}

int clinux_timeline_fd(int drm, uint32_t handle) {
    struct timeline_fd data = {.handle = handle, .fd = -1};
    return retry(drm, TIMELINE_TO_FD, &data) == -1 ? -1 : data.fd;
}

static int on_point(int drm, unsigned long request, uint32_t handle, uint64_t *point) {
    struct timeline_array data = {.handles = (uint64_t)(uintptr_t)&handle, .points = (uint64_t)(uintptr_t)point, .count = 1};
    return retry(drm, request, &data);
}

int clinux_timeline_signal(int drm, uint32_t handle, uint64_t point) { return on_point(drm, TIMELINE_SIGNAL, handle, &point); }

int clinux_timeline_import(int drm, uint32_t handle, uint64_t point, int sync_file) {
    uint32_t fence = clinux_timeline_create(drm);
    if (fence == 0) return -1;
    struct timeline_fd import = {.handle = fence, .flags = IMPORT_SYNC_FILE, .fd = sync_file};
    struct timeline_transfer transfer = {.source = fence, .destination = handle, .destination_point = point};
    int result = retry(drm, TIMELINE_FROM_FD, &import);
    if (result == 0) result = retry(drm, TIMELINE_TRANSFER, &transfer);
    int error = errno;
    clinux_timeline_destroy(drm, fence);
    errno = error;
    return result;
}

uint32_t clinux_timeline_open(int drm, int fd) {
    struct timeline_fd data = {.fd = fd};
    return retry(drm, TIMELINE_FROM_FD, &data) == -1 ? 0 : data.handle;
}

int clinux_timeline_export(int drm, uint32_t handle, uint64_t point) {
    uint32_t fence = clinux_timeline_create(drm);
    if (fence == 0) return -1;
    struct timeline_transfer transfer = {.source = handle, .destination = fence, .source_point = point};
    struct timeline_fd export = {.handle = fence, .flags = EXPORT_SYNC_FILE, .fd = -1};
    int result = retry(drm, TIMELINE_TRANSFER, &transfer);
    if (result == 0) result = retry(drm, TIMELINE_TO_FD, &export);
    int error = errno;
    clinux_timeline_destroy(drm, fence);
    errno = error;
    return result == 0 ? export.fd : -1;
}

uint64_t clinux_timeline_query(int drm, uint32_t handle) {
    uint64_t point = 0;
    return on_point(drm, TIMELINE_QUERY, handle, &point) == -1 ? 0 : point;
}

int clinux_timeline_eventfd(int drm, uint32_t handle, uint64_t point, int eventfd) {
    struct timeline_eventfd data = {.handle = handle, .point = point, .fd = eventfd};
    return retry(drm, TIMELINE_EVENTFD, &data);
}

int clinux_vt_is_console(int fd) {
    struct vt_mode mode;
    return ioctl(fd, VT_GETMODE, &mode) == 0;
}

int clinux_vt_take(int fd, int leaving, int returning) {
    struct vt_mode mode = {.mode = VT_PROCESS, .relsig = (short)leaving, .acqsig = (short)returning};
    return ioctl(fd, VT_SETMODE, &mode);
}

void clinux_vt_give_back(int fd) {
    struct vt_mode mode = {.mode = VT_AUTO};
    ioctl(fd, VT_SETMODE, &mode);
}

void clinux_vt_answer(int fd, int leave) { ioctl(fd, VT_RELDISP, (long)(leave ? 1 : VT_ACKACQ)); }

static volatile sig_atomic_t signal_pipe = -1;

static void tell(int number) {
    int kept = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe holds enough news already.
    ssize_t written = write(signal_pipe, &byte, 1);
    (void)written;
    errno = kept;
}

void clinux_signals_to_pipe(int one, int other, int pipe) {
    struct sigaction action = {.sa_handler = pipe >= 0 ? tell : SIG_DFL, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    // First the pipe, then the handler; on the way back the handler goes first.
    if (pipe >= 0) signal_pipe = pipe;
    sigaction(one, &action, NULL);
    sigaction(other, &action, NULL);
    if (pipe < 0) signal_pipe = pipe;
    // Whoever started the program may have left them blocked, which is inherited.
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, one);
    sigaddset(&both, other);
    if (pipe >= 0) pthread_sigmask(SIG_UNBLOCK, &both, NULL);
}

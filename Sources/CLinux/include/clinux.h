// Kernel and GNU interfaces that Swift's Glibc module lacks. No policy: each function is one system call.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>
#include <stddef.h>
#include <time.h>

/// eventfd(2) with EFD_CLOEXEC | EFD_NONBLOCK; -1 with errno on failure.
int clinux_eventfd(void);
/// Adds one to the eventfd's counter; waking a full counter is no error.
void clinux_eventfd_signal(int fd);
/// Empties the eventfd's counter.
void clinux_eventfd_drain(int fd);

/// ppoll(2) with a timeout in nanoseconds (negative waits for ever) over an array of struct pollfd; -1 with errno on failure.
int clinux_poll(void *descriptors, unsigned long count, int64_t timeout);

/// clock_gettime(2) in nanoseconds. In C because the members of `struct timespec` belong to another module for Swift in some builds.
int64_t clinux_clock(int clock);
/// pthread_cond_timedwait(3) on a pthread_cond_t and a pthread_mutex_t, until `deadline` in nanoseconds of the condition's clock; 0, or an error
/// number such as ETIMEDOUT.
int clinux_condition_wait(void *condition, void *mutex, int64_t deadline);

/// memfd_create(2) with MFD_CLOEXEC | MFD_ALLOW_SEALING; -1 with errno on failure.
int clinux_memfd(const char *name);
/// Seals a memfd against shrinking (F_SEAL_SHRINK), which udmabuf and wl_shm readers rely on.
int clinux_memfd_seal_shrink(int fd);
/// As clinux_memfd_seal_shrink, and no other seal can be added (F_SEAL_SEAL).
int clinux_memfd_seal_only_shrink(int fd);

/// malloc_trim(3): gives free memory of the heap back to the kernel.
void clinux_trim_heap(void);

/// Names the calling thread (at most 15 bytes are kept).
void clinux_set_thread_name(const char *name);
/// Asks for turns of the calling thread that are half as long as usual, and so come earlier (the slice of sched_setattr(2)). Its share of the processors
/// stays the same, and everybody may ask. Does nothing before Linux 6.12, and to a thread whose scheduling is not the ordinary one.
void clinux_prompt_thread(void);

/// dladdr(3): the path of the program or library that holds the code at `address`, for as long as it is loaded; NULL when unknown.
const char *clinux_file_of(const void *address);

/// Whether a library can be used, by the linker's name ("asound"): libscanout.so loads some when they are first needed, and they may be missing. 1 where
/// it is linked.
int clinux_library_is_there(const char *name);

/// UDMABUF_CREATE on /dev/udmabuf: a DMA-BUF over `size` bytes of the memfd; a new fd, or -1 with errno.
int clinux_udmabuf_create(int udmabuf, int memfd, uint64_t offset, uint64_t size);
/// DMA_HEAP_IOCTL_ALLOC: a DMA-BUF of `size` bytes from an open heap; a new fd, or -1 with errno.
int clinux_dma_heap_alloc(int heap, uint64_t size);

enum { CLINUX_SYNC_READ = 1, CLINUX_SYNC_WRITE = 2, CLINUX_SYNC_RW = 3 };
/// DMA_BUF_IOCTL_SYNC begin (start != 0) or end of CPU access; 0, or -1 with errno.
int clinux_dmabuf_sync(int fd, int start, int access);
/// DMA_BUF_IOCTL_EXPORT_SYNC_FILE: the fences that access must wait for, as a sync_file; -1 with errno.
int clinux_dmabuf_export_sync_file(int fd, int access);
/// DMA_BUF_IOCTL_IMPORT_SYNC_FILE: adds a sync_file's fence to the DMA-BUF; 0, or -1 with errno.
int clinux_dmabuf_import_sync_file(int fd, int sync_file, int access);
/// SYNC_IOC_MERGE: a sync_file that signals when both have; a new fd, or -1 with errno.
int clinux_sync_file_merge(int a, int b);

/// Whether an open DRM device has timelines (DRM_CAP_SYNCOBJ_TIMELINE) and tells of their points by eventfd (Linux 6.6).
int clinux_has_timelines(int drm);
/// DRM_IOCTL_SYNCOBJ_CREATE: a new timeline's handle on an open DRM device; 0 with errno on failure.
uint32_t clinux_timeline_create(int drm);
/// DRM_IOCTL_SYNCOBJ_DESTROY.
void clinux_timeline_destroy(int drm, uint32_t handle);
/// DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD: a descriptor that other processes import; -1 with errno.
int clinux_timeline_fd(int drm, uint32_t handle);
/// DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE: a handle on this device for a timeline's descriptor, of whichever device it is; 0 with errno on failure.
uint32_t clinux_timeline_open(int drm, int fd);
/// A sync_file that signals when the point is reached (DRM_IOCTL_SYNCOBJ_TRANSFER, _HANDLE_TO_FD); -1 with errno, EINVAL while nobody has said what
/// reaches the point.
int clinux_timeline_export(int drm, uint32_t handle, uint64_t point);
/// DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL: the point has been reached; 0, or -1 with errno.
int clinux_timeline_signal(int drm, uint32_t handle, uint64_t point);
/// The point is reached when the sync_file signals (DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, _TRANSFER); 0, or -1 with errno.
int clinux_timeline_import(int drm, uint32_t handle, uint64_t point, int sync_file);
/// DRM_IOCTL_SYNCOBJ_QUERY: the last point reached; 0 with none.
uint64_t clinux_timeline_query(int drm, uint32_t handle);
/// DRM_IOCTL_SYNCOBJ_EVENTFD: the eventfd is signalled when the point is reached; 0, or -1 with errno.
int clinux_timeline_eventfd(int drm, uint32_t handle, uint64_t point, int eventfd);
/// Whether the descriptor is a virtual console (VT_GETMODE).
int clinux_vt_is_console(int fd);
/// VT_SETMODE: from now on the kernel announces switches away from and back to the console by these signals; 0, or -1 with errno.
int clinux_vt_take(int fd, int leaving, int returning);
/// VT_SETMODE: the kernel switches by itself again.
void clinux_vt_give_back(int fd);
/// VT_RELDISP: answers an announced switch: leave != 0 lets the other console have the monitor, else it is taken back.
void clinux_vt_answer(int fd, int leave);
/// sigaction(2): writes the number of either signal as one byte to `pipe` when it comes; -1 restores the default. One pipe in a process.
void clinux_signals_to_pipe(int one, int other, int pipe);

/// A listening, non-blocking AF_UNIX stream socket at `path`, mode 0600; takes the place of a socket nobody listens on. A new fd, or -1 with errno.
int clinux_unix_listen(const char *path);
/// A connected AF_UNIX stream socket; a new fd, or -1 with errno.
int clinux_unix_connect(const char *path);
/// accept4(2) with SOCK_CLOEXEC | SOCK_NONBLOCK; a new fd, or -1 with errno.
int clinux_unix_accept(int socket);
/// SO_PEERCRED: the peer's user; 0, or -1 with errno.
int clinux_unix_peer_user(int socket, uint32_t *user);
/// sendmsg(2) without SIGPIPE, with up to 16 borrowed descriptors (SCM_RIGHTS); MSG_DONTWAIT unless `wait`. Bytes sent, or -1 with errno.
long clinux_send(int socket, const void *bytes, size_t count, const int *fds, int fd_count, int wait);
/// recvmsg(2) without waiting. At most `*fd_count` descriptors (16 at most; close-on-exec) are stored, their number in `*fd_count`; more are closed.
/// `*is_cut`: bytes of a packet, or descriptors, were lost. Bytes received, 0 at the end, or -1 with errno.
long clinux_receive(int socket, void *bytes, size_t capacity, int *fds, int *fd_count, int *is_cut);
/// A name for the file behind a descriptor that two descriptors of one file share, and its size; 0, or -1 with errno.
int clinux_file_identity(int fd, uint64_t *device, uint64_t *inode, int64_t *size);

#endif

// Processes that are not trusted: starting one, talking to it, and what it can give up. No policy: each function is a few system calls.
#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/// socketpair(2) of AF_UNIX, SOCK_SEQPACKET, close-on-exec, with room for `buffer` bytes each way; 0, or -1 with errno.
int clinux_packet_pair(int *first, int *second, int buffer);
/// Whether a descriptor is one end of such a pair (getsockopt(2), SO_TYPE).
int clinux_is_packet_socket(int fd);

/// Adds F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_SEAL to a memfd; 0, or -1 with errno.
int clinux_memfd_seal_size(int fd);
/// Whether `fd` is a DRM device's primary or control node, which drives monitors: character device 226, below number 128.
int clinux_drives_monitors(int fd);
/// Whether a descriptor is a DMA-BUF, by its file system.
int clinux_is_dmabuf(int fd);
/// Whether the memory behind a descriptor stays as large as it is: a memfd sealed against shrinking, or a DMA-BUF.
int clinux_cannot_shrink(int fd);
/// The size of shared memory (lseek(2), which moves its position), -1 with errno. fstat(3) needs a system call that takes paths.
int64_t clinux_size(int fd);
/// Opens a file to read, if it lies in `folder` or below it, whatever `..`, links and absolute names in `name` say (openat2(2), Linux 5.6);
/// -1 with errno.
int clinux_open_beneath(const char *folder, const char *name);

/// Whether `fd` is open.
int clinux_is_open(int fd);
/// Starts `path` with `arguments` (ends with NULL), an empty environment but for `environment`, /dev/null as standard input, output and error,
/// `first` as descriptor 3, `second` as 4, `third` as 5 unless it is -1, and nothing else open (posix_spawn(3)). 0 and the process, or the
/// errno value.
int clinux_spawn(const char *path, char *const *arguments, char *const *environment, int first, int second, int third, int *pid);
/// Waits for the end of a child process (waitpid(2)); its status, or -1 with errno.
int clinux_reap(int pid, int *status);
/// As clinux_reap without waiting: 1 when it has ended, 0 when it runs, -1 with errno.
int clinux_reap_now(int pid, int *status);
/// Whether a child process is stopped, as by SIGSTOP (waitid(2)).
int clinux_is_stopped(int pid);
/// Lets `pid` use this many seconds of processor from its start (prlimit(2), RLIMIT_CPU, soft); 0, or -1 with errno.
int clinux_limit_cpu_of(int pid, uint64_t seconds);
/// Seconds of processor that `pid` has used so far (its CPU-time clock), -1 when it cannot be told.
int64_t clinux_cpu_seconds_of(int pid);

// What a process gives up. Each returns 0, or -1 with errno.

/// PR_SET_NO_NEW_PRIVS: no program started from here gains rights.
int clinux_no_new_privileges(void);
/// PR_SET_PDEATHSIG: the process is killed when the thread that started it ends. A change of users or of capabilities undoes it.
int clinux_die_with_parent(void);
/// A process of root's becomes nobody's (setresuid(2)) and keeps its capabilities until clinux_drop_capabilities. -1 with EPERM where root has not the capabilities
/// with which the process that started it could still end it.
int clinux_leave_root(void);
/// Drops every capability of the calling thread for good: in effect, permitted, ambient and of programs that it would start (capset(2)).
int clinux_drop_capabilities(void);
/// PR_SET_DUMPABLE 0: no core file, and no other process of this user may look inside.
int clinux_not_dumpable(void);
/// close_range(2) from `first` to the end.
int clinux_close_from(unsigned first);
/// A user namespace of its own, in which the user is mapped to itself and nothing else (unshare(2), /proc/self/{setgroups,uid_map,gid_map}).
int clinux_own_user_namespace(void);
/// Namespaces without a network, and with System V objects, host name and control groups of their own.
int clinux_own_network_namespace(void);
/// A mount namespace of its own, which shows the files that it showed before (unshare(2)).
int clinux_own_mount_namespace(void);
/// Makes the root of such a namespace an empty, read-only file system, for every thread (mount(2), pivot_root(2)).
int clinux_empty_root(void);
/// Whether the process has no thread but this one (the links of /proc/self/task).
int clinux_is_single_thread(void);
/// The highest Landlock version of this kernel; 0 where it has none or has it turned off.
int clinux_landlock_version(void);
/// A Landlock domain in which no file can be opened but for reading in these folders and below and, where the version has it, no TCP port bound or
/// reached, no abstract socket and no process outside reached by a signal. Holds for the calling thread and those that it starts from here on.
/// The folders' real paths, without symbolic links; those that are not there are passed over.
int clinux_landlock_reading(const char *const *folders, size_t count);
/// The program was built with a sanitizer, which needs terabytes of address space for its shadow of memory.
int clinux_has_sanitizer(void);
/// setrlimit(2) of data, processor seconds, open files, processes, core size (0) and the size of written files. Zero leaves the first four as
/// they are.
int clinux_limit_resources(uint64_t data, uint64_t cpu_seconds, uint64_t open_files, uint64_t processes, uint64_t file);

/// fork(2), whose child ends at once, ptrace(2) of the parent, and ioctl(2) that types a letter on a terminal (TIOCSTI): -1 when refused. For
/// showing that they are.
int clinux_try_fork(void);
int clinux_try_terminal(void);
int clinux_try_ptrace(void);
/// As above, by argument: the parent as owner of a descriptor's signals (F_SETOWN), another signal than SIGIO for it (F_SETSIG), signals at all
/// (O_ASYNC); the parent's processors (sched_setaffinity(2)) and its processor time (clock_gettime(2)); a mutex that lends priority
/// (FUTEX_LOCK_PI); another seal on memory (F_ADD_SEALS); the machine's load (sysinfo(2)); memory that no limit counts (mmap(2), shared and
/// anonymous).
int clinux_try_owner(void);
int clinux_try_signal(void);
int clinux_try_async(void);
int clinux_try_affinity(void);
int clinux_try_clock(void);
int clinux_try_futex(void);
int clinux_try_seals(int fd);
int clinux_try_sysinfo(void);
int clinux_try_shared(void);

#endif

#define _GNU_SOURCE
#include "clinux_process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// DMA_BUF_MAGIC of linux/magic.h.
enum { DMA_BUF_FILE_SYSTEM = 0x444d4142 };

int clinux_packet_pair(int *first, int *second, int buffer) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1) return -1;
    for (int i = 0; i < 2; i++) setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    *first = pair[0];
    *second = pair[1];
    return 0;
}

int clinux_is_packet_socket(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

int clinux_memfd_seal_size(int fd) { return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL); }

int clinux_drives_monitors(int fd) {
    struct stat node;
    return fstat(fd, &node) == 0 && S_ISCHR(node.st_mode) && major(node.st_rdev) == 226 && minor(node.st_rdev) < 128;
}

int clinux_is_dmabuf(int fd) {
    struct statfs system;
    return fstatfs(fd, &system) == 0 && system.f_type == DMA_BUF_FILE_SYSTEM;
}

int clinux_cannot_shrink(int fd) {
    int seals = fcntl(fd, F_GET_SEALS);
    return seals != -1 ? (seals & F_SEAL_SHRINK) != 0 : clinux_is_dmabuf(fd);
}

int64_t clinux_size(int fd) { return lseek(fd, 0, SEEK_END); }

int clinux_open_beneath(const char *folder, const char *name) {
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int place = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place == -1) return -1;
    int result = (int)syscall(SYS_openat2, place, name, &how, sizeof how), code = errno;
    close(place);
    errno = code;
    return result;
}

int clinux_is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

int clinux_spawn(const char *path, char *const *arguments, char *const *environment, int first, int second, int third, int *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, every;
    // Copies above the numbers that are about to be overwritten.
    int a = fcntl(first, F_DUPFD_CLOEXEC, 10), b = fcntl(second, F_DUPFD_CLOEXEC, 10);
    int c = third == -1 ? -1 : fcntl(third, F_DUPFD_CLOEXEC, 10), result = errno;
    if (a == -1 || b == -1 || (c == -1 && third != -1)) {
        if (a != -1) close(a);
        if (b != -1) close(b);
        return result;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    posix_spawn_file_actions_adddup2(&actions, a, 3);
    posix_spawn_file_actions_adddup2(&actions, b, 4);
    if (c != -1) posix_spawn_file_actions_adddup2(&actions, c, 5);
    posix_spawn_file_actions_addclosefrom_np(&actions, c == -1 ? 5 : 6);
    sigemptyset(&none);
    sigfillset(&every);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &every);
    // A group of its own: the terminal's Ctrl-C is for the program that started it.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    result = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(a);
    close(b);
    if (c != -1) close(c);
    return result;
}

int clinux_reap(int pid, int *status) {
    int result;
    do result = waitpid(pid, status, 0);
    while (result == -1 && errno == EINTR);
    return result == -1 ? -1 : 0;
}

int clinux_is_stopped(int pid) {
    siginfo_t news = {0};
    return waitid(P_PID, (id_t)pid, &news, WSTOPPED | WNOHANG | WNOWAIT) == 0 && news.si_pid == pid;
}

int clinux_reap_now(int pid, int *status) {
    int result;
    do result = waitpid(pid, status, WNOHANG);
    while (result == -1 && errno == EINTR);
    return result > 0 ? 1 : result;
}

int clinux_limit_cpu_of(int pid, uint64_t seconds) {
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_CPU, NULL, &limit) == -1) return -1;
    if (limit.rlim_max != RLIM_INFINITY && seconds > limit.rlim_max) seconds = limit.rlim_max;
    limit.rlim_cur = seconds;
    return prlimit(pid, RLIMIT_CPU, &limit, NULL);
}

int64_t clinux_cpu_seconds_of(int pid) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) == -1) return -1;
    return used.tv_sec;
}

// MARK: What a process gives up

int clinux_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int clinux_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

int clinux_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// The program that started the process must still be able to end it (CAP_KILL) and to move its limits (CAP_SYS_RESOURCE).
static const uint64_t caps_to_leave_root = 1ull << CAP_KILL | 1ull << CAP_SETGID | 1ull << CAP_SETUID | 1ull << CAP_SYS_ADMIN
    | 1ull << CAP_SYS_RESOURCE;

int clinux_leave_root(void) {
    if (geteuid() != 0) return 0;
    enum { nobody = 65534 };
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];
    if (syscall(SYS_capget, &header, caps) == -1) return -1;
    uint64_t permitted = caps[0].permitted | (uint64_t)caps[1].permitted << 32;
    if ((permitted & caps_to_leave_root) != caps_to_leave_root) {
        errno = EPERM;
        return -1;
    }
    // What root may do is still needed for the namespaces; capabilities go with clinux_drop_capabilities.
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == -1 || setgroups(0, NULL) == -1 || setresgid(nobody, nobody, nobody) == -1) return -1;
    if (setresuid(nobody, nobody, nobody) == -1) return -1;
    for (int i = 0; i < 2; i++) caps[i].effective = caps[i].permitted;
    if (syscall(SYS_capset, &header, caps) == -1) return -1;
    // Its files in /proc, by which it enters a user namespace, become its own.
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

int clinux_drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    // Ends at the first that the kernel does not know, or where the process may not.
    for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++) {}
    return (int)syscall(SYS_capset, &header, none);
}

int clinux_close_from(unsigned first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0) == 0) return 0;
    if (errno != ENOSYS) return -1;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (long fd = first; fd < most; fd++) close((int)fd);
    return 0;
}

static int write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd == -1) return -1;
    ssize_t count = write(fd, text, strlen(text));
    int code = errno;
    close(fd);
    errno = code;
    return count == -1 ? -1 : 0;
}

int clinux_own_user_namespace(void) {
    char map[64];
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWUSER) == -1) return -1;
    // Without the map the process is nobody, which it may well be: what failed here is told, and nothing is lost.
    if (write_text("/proc/self/setgroups", "deny") == -1 && errno != ENOENT) return -1;
    snprintf(map, sizeof map, "%u %u 1", user, user);
    if (write_text("/proc/self/uid_map", map) == -1) return -1;
    snprintf(map, sizeof map, "%u %u 1", group, group);
    return write_text("/proc/self/gid_map", map);
}

int clinux_own_network_namespace(void) { return unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP); }

int clinux_own_mount_namespace(void) {
    if (unshare(CLONE_NEWNS) == -1) return -1;
    // Nothing done here is seen outside.
    return mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL);
}

int clinux_empty_root(void) {
    // /proc exists wherever a user namespace could be mapped, and any directory will do.
    const char *place = "/proc";
    if (mount("none", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,nr_inodes=2,mode=555") == -1) return -1;
    if (chdir(place) == -1) return -1;
    if (syscall(SYS_pivot_root, ".", ".") == -1) return -1;
    // The old root lies over the new one now.
    if (umount2(".", MNT_DETACH) == -1 || chdir("/") == -1) return -1;
    return mount("none", "/", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_BIND, NULL);
}

int clinux_is_single_thread(void) {
    struct stat tasks;
    // One link for itself, one for its name, one for each thread.
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

int clinux_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? 0 : (int)version;
}

// The kernel's headers may be older than the kernel: the attribute of version 6 in full, of which older versions take the beginning.
struct ruleset { uint64_t files, network, scope; };

// A domain that grants nothing of what this kernel's Landlock knows; below zero where there is none.
static int no_rights(void) {
    int version = clinux_landlock_version();
    if (version < 1) { errno = ENOSYS; return -1; }
    // 13 rights over files in version 1, then refer (2), truncate (3), ioctl_dev (5); bind and connect over TCP (4);
    // abstract sockets and signals (6).
    struct ruleset rules = {.files = (1u << 13) - 1};
    size_t size = sizeof rules.files;
    if (version >= 2) rules.files |= 1u << 13;
    if (version >= 3) rules.files |= 1u << 14;
    if (version >= 4) { rules.network = 3; size = sizeof rules.files + sizeof rules.network; }
    if (version >= 5) rules.files |= 1u << 15;
    if (version >= 6) { rules.scope = 3; size = sizeof rules; }
    return (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
}

int clinux_landlock_reading(const char *const *folders, size_t count) {
    int domain = no_rights();
    if (domain < 0) return -1;
    for (size_t i = 0; i < count; i++) {
        // A folder that is not there cannot be read.
        int place = open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (place == -1) continue;
        struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = place};
        long result = syscall(SYS_landlock_add_rule, domain, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        int code = errno;
        close(place);
        errno = code;
        if (result == 0) continue;
        close(domain);
        errno = code;
        return -1;
    }
    long result = syscall(SYS_landlock_restrict_self, domain, 0);
    int code = errno;
    close(domain);
    errno = code;
    return result == 0 ? 0 : -1;
}

extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

int clinux_has_sanitizer(void) { return __asan_init || __tsan_init; }

static int set_limit(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) == -1) return -1;
    if (limit.rlim_max != RLIM_INFINITY && value > limit.rlim_max) value = limit.rlim_max;
    limit.rlim_cur = value;
    // The processor's is moved by the owner as decoding goes on, so only its soft limit is set.
    if (resource != RLIMIT_CPU) limit.rlim_max = value;
    return setrlimit(resource, &limit);
}

int clinux_limit_resources(uint64_t data, uint64_t cpu_seconds, uint64_t open_files, uint64_t processes, uint64_t file) {
    if (data && set_limit(RLIMIT_DATA, data) == -1) return -1;
    if (cpu_seconds && set_limit(RLIMIT_CPU, cpu_seconds) == -1) return -1;
    if (open_files && set_limit(RLIMIT_NOFILE, open_files) == -1) return -1;
    if (processes && set_limit(RLIMIT_NPROC, processes) == -1) return -1;
    if (set_limit(RLIMIT_CORE, 0) == -1) return -1;
    return set_limit(RLIMIT_FSIZE, file);
}

int clinux_try_fork(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child == -1 ? -1 : 0;
}

int clinux_try_terminal(void) {
    char letter = 'x';
    return ioctl(0, TIOCSTI, &letter) == -1 && errno == EPERM ? -1 : 0;
}

int clinux_try_ptrace(void) { return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == -1 ? -1 : 0; }

// The first process stands for any other: not even getppid(2) is allowed.
int clinux_try_owner(void) { return fcntl(0, F_SETOWN, 1); }

int clinux_try_signal(void) { return fcntl(0, F_SETSIG, SIGKILL); }

int clinux_try_async(void) { return fcntl(0, F_SETFL, O_ASYNC); }

int clinux_try_affinity(void) {
    unsigned long processors[16] = {1};
    return syscall(SYS_sched_setaffinity, 0, sizeof processors, processors) == -1 ? -1 : 0;
}

int clinux_try_clock(void) {
    struct timespec used;
    // Its processor time, as clock_getcpuclockid(3) names it.
    return syscall(SYS_clock_gettime, (clockid_t)(~(unsigned)1 << 3 | 2), &used) == -1 ? -1 : 0;
}

int clinux_try_futex(void) {
    static uint32_t word;
    return syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == -1 ? -1 : 0;
}

int clinux_try_seals(int fd) { return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE); }

int clinux_try_sysinfo(void) {
    struct sysinfo machine;
    return syscall(SYS_sysinfo, &machine) == -1 ? -1 : 0;
}

int clinux_try_shared(void) {
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

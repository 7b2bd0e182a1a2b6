internal import CSeccomp
internal import Glibc
internal import Media

/// The system calls that decoding needs. Others fail with EPERM, so that a library that tries one can go on; those that only an attacker
/// needs kill the process.
///
/// The corresponding C library is libseccomp.
enum SystemCallFilter {
    /// Memory, threads, time, and the two sockets.
    private static let allowed = [
        "read", "write", "readv", "writev", "close", "fstat", "lseek", "recvmsg", "sendmsg", "shutdown", "poll", "ppoll",
        "munmap", "mremap", "madvise", "brk",
        "futex_waitv", "set_robust_list", "rseq", "sched_yield", "membarrier",
        "exit", "exit_group", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
        "gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "getrusage", "uname",
        "nanosleep", "gettimeofday", "time", "getrandom",
        // 32-bit machines' names for the same.
        "ppoll_time64", "fstat64", "_llseek",
    ]

    /// System calls that no decoder makes, not even to find out whether they work: they kill the process.
    private static let deadly = [
        "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd",
        "kill", "tkill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
        "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
        "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen", "fsmount",
        "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key",
        "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
        "setuid", "setgid", "setresuid", "setresgid", "setgroups", "capset", "personality", "seccomp",
    ]

    /// What a driver needs in addition, all of it about open descriptors: memory to share, signals between threads, whether two
    /// descriptors are the same.
    private static let allowedForDrivers = ["memfd_create", "ftruncate", "fallocate", "eventfd2", "dup"]

    /// Filters every thread, also those started later.
    static func install(_ profile: Confinement.Profile) throws(SystemError) {
        guard let filter = unsafe seccomp_init(cseccomp_errno(EPERM)) else { throw SystemError(ENOMEM, "make a filter of system calls") }
        defer { unsafe seccomp_release(filter) }
        for name in allowed { try unsafe add(filter, cseccomp_allow, name) }
        for name in deadly { try unsafe add(filter, cseccomp_kill, name) }
        try unsafe allowArguments(filter, profile)
        // Memory may be mapped and changed, but nothing written can become code. What is shared and anonymous is left out: no limit counts it.
        try unsafe add(filter, cseccomp_allow, "mprotect", argument: 2, mask: cseccomp_prot_exec, equals: 0)
        for name in ["mmap", "mmap2"] {
            for flag in [cseccomp_map_shared, cseccomp_map_anonymous] {
                try unsafe add(filter, cseccomp_allow, name, argument: 2, mask: cseccomp_prot_exec, equals: 0, and: 3, mask: flag, equals: 0)
            }
        }
        // Threads, not processes. The flags of clone3 lie in memory, where a filter cannot see them: the C library then uses clone.
        try unsafe add(
            filter, cseccomp_allow, "clone", argument: 0, mask: cseccomp_clone_thread | cseccomp_clone_namespaces, equals: cseccomp_clone_thread)
        try unsafe add(filter, cseccomp_errno(ENOSYS), "clone3")
        // A thread's name; a word to the memory's exporter; a signal to itself, as abort(3) sends it.
        try unsafe add(filter, cseccomp_allow, "prctl", argument: 0, mask: .max, equals: cseccomp_pr_set_name)
        if profile == .strict {
            try unsafe add(filter, cseccomp_allow, "ioctl", argument: 1, mask: 0xffff_ffff, equals: cseccomp_dma_buf_sync)
        }
        if profile == .reading {
            // Only for reading. Which files that can be is Landlock's to say.
            try unsafe add(filter, cseccomp_allow, "openat", argument: 2, mask: cseccomp_more_than_reading, equals: 0)
            try unsafe allowStatus(filter)
        }
        try unsafe add(filter, cseccomp_allow, "tgkill", argument: 0, mask: 0xffff_ffff, equals: UInt64(getpid()))
        if profile == .hardware { try unsafe allowDriver(filter) }
        guard unsafe cseccomp_all_threads(filter) == 0 else { throw SystemError(EINVAL, "filter every thread's system calls") }
        let status = unsafe seccomp_load(filter)
        guard status == 0 else { throw SystemError(-status, "load a filter of system calls") }
    }

    /// The device's requests, of which the kernel accepts those marked `DRM_RENDER_ALLOW`, and those of DMA-BUFs and fences.
    private static func allowDriver(_ filter: scmp_filter_ctx) throws(SystemError) {
        for name in allowedForDrivers { try unsafe add(filter, cseccomp_allow, name) }
        for family in [cseccomp_ioctl_drm, cseccomp_ioctl_dma_buf, cseccomp_ioctl_sync_file] {
            try unsafe add(filter, cseccomp_allow, "ioctl", argument: 1, mask: cseccomp_ioctl_family, equals: family)
        }
        try unsafe allowStatus(filter)
        // Whether two of its own descriptors are one file.
        try unsafe add(filter, cseccomp_allow, "kcmp", argument: 0, mask: 0xffff_ffff, equals: UInt64(getpid()))
    }

    /// fstat(3). The call could also have a path: what it tells then is the size and age of files that cannot be opened.
    private static func allowStatus(_ filter: scmp_filter_ctx) throws(SystemError) {
        try unsafe add(filter, cseccomp_allow, "newfstatat", argument: 3, mask: cseccomp_at_empty_path, equals: cseccomp_at_empty_path)
    }

    /// System calls that are harmless for some arguments and reach other processes for others.
    private static func allowArguments(_ filter: scmp_filter_ctx, _ profile: Confinement.Profile) throws(SystemError) {
        let int: UInt64 = 0xffff_ffff
        // Not F_SETOWN, F_SETSIG and O_ASYNC, by which the kernel signals any process of the user. Only a driver makes memory that it may seal.
        var commands = [cseccomp_dup, cseccomp_get_fd, cseccomp_set_fd, cseccomp_get_fl].map { UInt64($0) }
        commands += [cseccomp_dup_cloexec, cseccomp_get_seals].map { UInt64($0) }
        if profile == .hardware { commands.append(UInt64(cseccomp_add_seals)) }
        for name in ["fcntl", "fcntl64"] {
            for command in commands { try unsafe add(filter, cseccomp_allow, name, argument: 1, mask: int, equals: command) }
            try unsafe add(
                filter, cseccomp_allow, name, argument: 1, mask: int, equals: UInt64(cseccomp_set_fl), and: 2, mask: cseccomp_async,
                equals: 0)
        }
        // Waiting and waking. Not the operations that lend priority to a thread, which may be any on the machine.
        for name in ["futex", "futex_time64"] {
            for operation in futexOperations { try unsafe add(filter, cseccomp_allow, name, argument: 1, mask: 0x7f, equals: operation) }
        }
        // The clocks that have a number. The others, with a number below zero, are those of processes and devices.
        for name in ["clock_gettime", "clock_getres", "clock_nanosleep", "clock_gettime64", "clock_getres_time64", "clock_nanosleep_time64"] {
            try unsafe add(filter, cseccomp_allow, name, argument: 0, mask: 0xffff_fff0, equals: 0)
        }
        // On which processors a thread may run, by the thread's number, which pthread_getattr_np(3) asks for. It cannot be changed.
        try unsafe add(filter, cseccomp_allow, "sched_getaffinity")
    }

    /// FUTEX_WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET and WAKE_BITSET of linux/futex.h.
    private static let futexOperations: [UInt64] = [0, 1, 3, 4, 5, 9, 10]

    private static func add(
        _ filter: scmp_filter_ctx, _ action: UInt32, _ name: String, argument first: UInt32, mask firstMask: UInt64, equals firstValue: UInt64,
        and second: UInt32, mask secondMask: UInt64, equals secondValue: UInt64
    ) throws(SystemError) {
        let number = unsafe cseccomp_number(name)
        guard number != __NR_SCMP_ERROR else { return }
        let status = unsafe cseccomp_rule_masked_twice(filter, action, number, first, firstMask, firstValue, second, secondMask, secondValue)
        guard status == 0 else { throw SystemError(-status, "filter \(name)") }
    }

    private static func add(
        _ filter: scmp_filter_ctx, _ action: UInt32, _ name: String, argument: UInt32? = nil, mask: UInt64 = 0, equals value: UInt64 = 0
    ) throws(SystemError) {
        let number = unsafe cseccomp_number(name)
        // Unknown to this version of the library: the kernel's answer is then EPERM, as for every other.
        guard number != __NR_SCMP_ERROR else { return }
        let status: Int32
        if let argument {
            status = unsafe cseccomp_rule_masked(filter, action, number, argument, mask, value)
        } else {
            status = unsafe cseccomp_rule(filter, action, number)
        }
        guard status == 0 else { throw SystemError(-status, "filter \(name)") }
    }
}

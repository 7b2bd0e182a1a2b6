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
        "read", "write", "readv", "writev", "close", "fstat", "lseek", "recvmsg", "sendmsg", "shutdown", "poll", "ppoll", "fcntl",
        "munmap", "mremap", "madvise", "brk",
        "futex", "futex_waitv", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "sched_setaffinity", "membarrier",
        "exit", "exit_group", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
        "gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "getrusage", "sysinfo", "uname",
        "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "getrandom",
        // 32-bit machines' names for the same.
        "futex_time64", "clock_gettime64", "clock_nanosleep_time64", "ppoll_time64", "fstat64", "_llseek", "fcntl64",
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
        // Memory may be mapped and changed, but nothing written can become code.
        for name in ["mmap", "mmap2", "mprotect"] { try unsafe add(filter, cseccomp_allow, name, argument: 2, mask: cseccomp_prot_exec, equals: 0) }
        // Threads, not processes. The flags of clone3 lie in memory, where a filter cannot see them: the C library then uses clone.
        try unsafe add(
            filter, cseccomp_allow, "clone", argument: 0, mask: cseccomp_clone_thread | cseccomp_clone_namespaces, equals: cseccomp_clone_thread)
        try unsafe add(filter, cseccomp_errno(ENOSYS), "clone3")
        // A thread's name; a word to the memory's exporter; a signal to itself, as abort(3) sends it.
        try unsafe add(filter, cseccomp_allow, "prctl", argument: 0, mask: .max, equals: cseccomp_pr_set_name)
        if profile == .strict {
            try unsafe add(filter, cseccomp_allow, "ioctl", argument: 1, mask: 0xffff_ffff, equals: cseccomp_dma_buf_sync)
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
        // fstat(3). The call could also have a path, but there are no files that it could name.
        try unsafe add(filter, cseccomp_allow, "newfstatat", argument: 3, mask: cseccomp_at_empty_path, equals: cseccomp_at_empty_path)
        // Whether two of its own descriptors are one file.
        try unsafe add(filter, cseccomp_allow, "kcmp", argument: 0, mask: 0xffff_ffff, equals: UInt64(getpid()))
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

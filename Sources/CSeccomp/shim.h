// Door to libseccomp: a filter of system calls.
#ifndef CSECCOMP_SHIM_H
#define CSECCOMP_SHIM_H
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sched.h>
#include <linux/sync_file.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

// Function-like macros are invisible to Swift.
static inline uint32_t cseccomp_errno(int code) { return SCMP_ACT_ERRNO(code); }
static const uint32_t cseccomp_allow = SCMP_ACT_ALLOW;
static const uint32_t cseccomp_kill = SCMP_ACT_KILL_PROCESS;

/// The system call's number on this machine by its name; negative where the library knows none.
static inline int cseccomp_number(const char *name) { return seccomp_syscall_resolve_name(name); }

/// A rule without conditions, or with one: the masked argument equals a value.
static inline int cseccomp_rule(scmp_filter_ctx filter, uint32_t action, int number) {
    return seccomp_rule_add_array(filter, action, number, 0, NULL);
}
static inline int cseccomp_rule_masked(scmp_filter_ctx filter, uint32_t action, int number, unsigned argument, uint64_t mask, uint64_t value) {
    struct scmp_arg_cmp condition = SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, value);
    return seccomp_rule_add_array(filter, action, number, 1, &condition);
}

/// A rule with two conditions, both of which must hold.
static inline int cseccomp_rule_masked_twice(
    scmp_filter_ctx filter, uint32_t action, int number, unsigned first, uint64_t first_mask, uint64_t first_value, unsigned second,
    uint64_t second_mask, uint64_t second_value) {
    struct scmp_arg_cmp conditions[] = {
        SCMP_CMP(first, SCMP_CMP_MASKED_EQ, first_mask, first_value), SCMP_CMP(second, SCMP_CMP_MASKED_EQ, second_mask, second_value),
    };
    return seccomp_rule_add_array(filter, action, number, 2, conditions);
}

static const uint64_t cseccomp_prot_exec = PROT_EXEC;
static const uint64_t cseccomp_map_shared = MAP_SHARED;
/// MAP_ANONYMOUS and O_ASYNC, which the C library shows to GNU programs only.
static const uint64_t cseccomp_map_anonymous = 0x20;
static const uint64_t cseccomp_async = 020000;
/// Every flag of openat(2) but O_CLOEXEC and the kernel's O_LARGEFILE, which may be there.
static const uint64_t cseccomp_more_than_reading = 0xffffffff & ~(uint64_t)(O_CLOEXEC | 0100000);
/// Commands of fcntl(2) that concern the descriptor only.
enum { cseccomp_dup = F_DUPFD, cseccomp_get_fd = F_GETFD, cseccomp_set_fd = F_SETFD, cseccomp_get_fl = F_GETFL, cseccomp_set_fl = F_SETFL };
/// F_DUPFD_CLOEXEC, F_ADD_SEALS and F_GET_SEALS of linux/fcntl.h.
enum { cseccomp_dup_cloexec = 1030, cseccomp_add_seals = 1033, cseccomp_get_seals = 1034 };
static const uint64_t cseccomp_clone_thread = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
/// Every flag with which clone(2) would make a namespace.
static const uint64_t cseccomp_clone_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
static const uint64_t cseccomp_pr_set_name = PR_SET_NAME;
static const uint64_t cseccomp_dma_buf_sync = DMA_BUF_IOCTL_SYNC;
/// The bits of an ioctl request that name its family, and the families of DRM, DMA-BUF and sync_file (_IOC_TYPE of their headers).
static const uint64_t cseccomp_ioctl_family = (uint64_t)_IOC_TYPEMASK << _IOC_TYPESHIFT;
static const uint64_t cseccomp_ioctl_drm = (uint64_t)'d' << _IOC_TYPESHIFT;
static const uint64_t cseccomp_ioctl_dma_buf = (uint64_t)DMA_BUF_BASE << _IOC_TYPESHIFT;
static const uint64_t cseccomp_ioctl_sync_file = (uint64_t)SYNC_IOC_MAGIC << _IOC_TYPESHIFT;
/// AT_EMPTY_PATH, which the C library shows to GNU programs only.
static const uint64_t cseccomp_at_empty_path = 0x1000;

/// Makes the filter hold for every thread that there is, too.
static inline int cseccomp_all_threads(scmp_filter_ctx filter) { return seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1); }
#endif

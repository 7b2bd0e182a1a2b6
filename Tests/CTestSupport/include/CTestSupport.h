#ifndef CTESTSUPPORT_H
#define CTESTSUPPORT_H

/// Starts a program in a process group of its own, with no signal ignored and nothing open but its three standard streams.
///
/// `is_deaf`: whether SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked until the program takes them; otherwise no signal is.
/// `streams`: the descriptors that become 0, 1 and 2; -1 keeps this process's. `folder`: its working directory, or NULL for that of this process.
/// 0 and the process in `pid`, or an error number: posix_spawn(3), posix_spawn_file_actions_addclosefrom_np(3).
int ctest_spawn(
    const char *path, char *const *arguments, char *const *environment, const int streams[3], const char *folder, int is_deaf,
    int *pid);

#endif

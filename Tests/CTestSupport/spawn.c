#define _GNU_SOURCE
#include "CTestSupport.h"

#include <signal.h>
#include <spawn.h>
#include <stddef.h>

int ctest_spawn(
    const char *path, char *const *arguments, char *const *environment, const int streams[3], const char *folder, int is_deaf,
    int *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t blocked, every;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    for (int number = 0; number < 3; number++)
        if (streams[number] != -1) posix_spawn_file_actions_adddup2(&actions, streams[number], number);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (folder) posix_spawn_file_actions_addchdir_np(&actions, folder);
    sigemptyset(&blocked);
    for (int index = 0; is_deaf && index < 4; index++) sigaddset(&blocked, requests[index]);
    sigfillset(&every);
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setsigdefault(&attributes, &every);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int result = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

#define _GNU_SOURCE
#include "CEnding.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

// Everything that a handler reads is set before `is_set` says so.
static struct termios terminal;
static atomic_int has_terminal;
static char path[PATH_MAX];
static dev_t path_device;
static ino_t path_inode;
static atomic_int has_path;
static atomic_int requests;
static long patience_microseconds;

int ending_requested(void) { return atomic_load(&requests) > 0; }

void ending_keep_terminal(const void *settings) {
    atomic_store(&has_terminal, 0);
    if (!settings) return;
    memcpy(&terminal, settings, sizeof terminal);
    atomic_store(&has_terminal, 1);
}

void ending_keep_socket(const char *name) {
    struct stat status;
    atomic_store(&has_path, 0);
    if (!name || strlen(name) >= sizeof path || lstat(name, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
    strcpy(path, name);
    path_device = status.st_dev;
    path_inode = status.st_ino;
    atomic_store(&has_path, 1);
}

// Only functions of signal-safety(7).
void ending_now(int code) {
    struct stat status;
    if (atomic_exchange(&has_terminal, 0)) {
        pid_t group = tcgetpgrp(STDIN_FILENO);
        if (group < 0 || group == getpgrp()) tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    }
    if (atomic_exchange(&has_path, 0) && lstat(path, &status) == 0 && status.st_dev == path_device && status.st_ino == path_inode) unlink(path);
    _exit(code);
}

static void on_request(int number) {
    (void)number;
    int saved = errno;
    if (atomic_fetch_add(&requests, 1) > 0) ending_now(0);
    struct itimerval timer = {.it_value = {.tv_sec = patience_microseconds / 1000000, .tv_usec = patience_microseconds % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    errno = saved;
}

static void on_alarm(int number) {
    (void)number;
    ending_now(0);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
    // The program that started this one may have blocked it.
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

void ending_on_signals(int milliseconds) {
    patience_microseconds = (long)milliseconds * 1000;
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_request);
    handle(SIGTERM, on_request);
    // Ignored for a program that is to outlive its terminal: nohup(1).
    const int optional[] = {SIGHUP, SIGQUIT};
    for (int index = 0; index < 2; index++) {
        struct sigaction found;
        if (sigaction(optional[index], NULL, &found) == 0 && found.sa_handler != SIG_IGN) handle(optional[index], on_request);
    }
}

static const int faults[] = {SIGABRT, SIGILL, SIGTRAP, SIGSEGV, SIGBUS};
enum { FAULTS = sizeof faults / sizeof faults[0] };
static struct sigaction before[FAULTS];
static char sentence[256];
static int shortage_code;

static void on_fault(int number) {
    if (errno == ENOMEM) {
        ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
        (void)written;
        ending_now(shortage_code);
    }
    for (int index = 0; index < FAULTS; index++) {
        if (faults[index] == number) sigaction(number, &before[index], NULL);
    }
    // A fault comes again when the instruction is repeated; an abort must be.
    if (number == SIGABRT) raise(number);
}

void ending_on_shortage(const char *text, int code) {
    strncpy(sentence, text, sizeof sentence - 1);
    shortage_code = code;
    for (int index = 0; index < FAULTS; index++) {
        struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
        sigemptyset(&action.sa_mask);
        sigaction(faults[index], &action, &before[index]);
    }
}

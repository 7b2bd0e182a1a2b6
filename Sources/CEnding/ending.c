#define _GNU_SOURCE
#include "CEnding.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// Each `has_…` is set after what it stands for, and cleared before that changes: a handler may run between any two instructions.
static struct termios terminal;
static int terminal_descriptor;
static atomic_int has_terminal;
static struct {
    char path[PATH_MAX];
    dev_t device;
    ino_t inode;
    atomic_int is_kept;
} sockets[ENDING_SOCKETS];
static atomic_int requests;
// When the first request came, in nanoseconds of CLOCK_MONOTONIC.
static atomic_llong first_request;
// timeout(1), a terminal that closes and other programs send what they send to a process to its group too, so that it comes twice, at most as far
// apart as this. A person is slower.
enum { ECHO_NANOSECONDS = 100000000 };
static long patience_microseconds;
// Counts what `ending_wait` has not seen yet. A semaphore, because a handler may post it and it needs no descriptor.
static sem_t news;

void ending_wake(void) { sem_post(&news); }

void ending_wait(long long deadline) {
    if (deadline < 0) {
        sem_wait(&news);
        return;
    }
    struct timespec time = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    sem_clockwait(&news, CLOCK_MONOTONIC, &time);
}

int ending_requested(void) { return atomic_load(&requests) > 0; }

void ending_keep_terminal(int descriptor, const void *settings) {
    atomic_store(&has_terminal, 0);
    if (!settings) return;
    terminal_descriptor = descriptor;
    memcpy(&terminal, settings, sizeof terminal);
    atomic_store(&has_terminal, 1);
}

void ending_keep_socket(int which, const char *name) {
    struct stat status;
    if (which < 0 || which >= ENDING_SOCKETS) return;
    atomic_store(&sockets[which].is_kept, 0);
    if (!name || strlen(name) >= PATH_MAX || lstat(name, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
    strcpy(sockets[which].path, name);
    sockets[which].device = status.st_dev;
    sockets[which].inode = status.st_ino;
    atomic_store(&sockets[which].is_kept, 1);
}

// Only functions of signal-safety(7).
void ending_now(int code) {
    struct stat status;
    if (atomic_exchange(&has_terminal, 0)) {
        pid_t group = tcgetpgrp(terminal_descriptor);
        if (group < 0 || group == getpgrp()) tcsetattr(terminal_descriptor, TCSANOW, &terminal);
    }
    for (int which = 0; which < ENDING_SOCKETS; which++) {
        if (!atomic_exchange(&sockets[which].is_kept, 0) || lstat(sockets[which].path, &status) != 0) continue;
        if (status.st_dev == sockets[which].device && status.st_ino == sockets[which].inode) unlink(sockets[which].path);
    }
    _exit(code);
}

// 0: nobody has said why the program ends; otherwise the code that was said, and one bit more, because 0 is a code.
static atomic_int claimed;
enum { CLAIMED = 256 };

int ending_claim(int code) {
    int nobody = 0;
    return atomic_compare_exchange_strong(&claimed, &nobody, CLAIMED | code);
}

static long long monotonic_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void on_request(int number) {
    (void)number;
    int saved = errno;
    long long now = monotonic_now(), none = 0;
    if (!atomic_compare_exchange_strong(&first_request, &none, now)) {
        if (now - none > ECHO_NANOSECONDS) ending_now(0);
        errno = saved;
        return;
    }
    atomic_store(&requests, 1);
    struct itimerval timer = {.it_value = {.tv_sec = patience_microseconds / 1000000, .tv_usec = patience_microseconds % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    ending_wake();
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
    sem_init(&news, 0, 0);
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

// What programs end themselves with: abort(), the Swift runtime, libdispatch. SIGSEGV, because the Swift runtime has no memory for the sentence that
// it would end with, and writes it all the same; libdispatch follows a null pointer.
static const int faults[] = {SIGABRT, SIGILL, SIGTRAP, SIGSEGV};
enum { FAULTS = sizeof faults / sizeof faults[0] };
static struct sigaction before[FAULTS];
static char memory_sentence[256], descriptor_sentence[256];
static int shortage_code;

// 64 MB: more than any single allocation of a player that works, less than a machine with memory refuses.
enum { PROBE = 64 << 20 };

// The sentence for the last system call's error, if the system still refuses the same; otherwise NULL, because the error may be an old one.
static const char *shortage(int error) {
    if (error == ENOMEM) {
        void *memory = mmap(NULL, PROBE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return memory_sentence;
        munmap(memory, PROBE);
    }
    if (error == EMFILE || error == ENFILE) {
        int descriptor = open("/", O_PATH | O_CLOEXEC);
        if (descriptor < 0) return errno == error ? descriptor_sentence : NULL;
        close(descriptor);
    }
    return NULL;
}

static void on_fault(int number, siginfo_t *information, void *context) {
    (void)context;
    const char *sentence = shortage(errno);
    if (sentence && !ending_claim(shortage_code)) ending_now(atomic_load(&claimed) & ~CLAIMED);
    if (sentence) {
        ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
        (void)written;
        ending_now(shortage_code);
    }
    for (int index = 0; index < FAULTS; index++) {
        if (faults[index] == number) sigaction(number, &before[index], NULL);
    }
    // The instruction that faulted is repeated and faults again. A signal that was sent, as by abort(), or that follows its instruction is sent again.
    if (information->si_code > 0 && number != SIGTRAP) return;
    raise(number);
    // The Swift runtime's handler prints a backtrace, makes room for the fault, and returns: nothing would repeat what was sent.
    struct sigaction left;
    if (sigaction(number, NULL, &left) == 0 && left.sa_handler == SIG_DFL) raise(number);
}

void ending_on_shortage(const char *memory, const char *descriptors, int code) {
    strncpy(memory_sentence, memory, sizeof memory_sentence - 1);
    strncpy(descriptor_sentence, descriptors, sizeof descriptor_sentence - 1);
    shortage_code = code;
    for (int index = 0; index < FAULTS; index++) {
        struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_NODEFER | SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        sigaction(faults[index], &action, &before[index]);
    }
}

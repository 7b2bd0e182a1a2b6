// How a program ends that is asked to and cannot: in signal handlers, which need neither a thread nor memory.

#ifndef CENDING_H
#define CENDING_H

// SIGINT, SIGTERM, SIGHUP and SIGQUIT become a request to end; the last two only where they are not ignored already. Unless the program ends
// within `milliseconds` it is ended with code 0, at once on a second signal (one that comes within a tenth of a second is
// the same one, sent to the process and to its group). The program must not use ITIMER_REAL itself.
void ending_on_signals(int milliseconds);
// Whether such a signal has come.
int ending_requested(void);
// Sleeps until a signal asks for the end, `ending_wake` is called, or `deadline` has passed: nanoseconds of CLOCK_MONOTONIC; below 0: no deadline.
// It may return early. One thread at a time, after `ending_on_signals`.
void ending_wait(long long deadline);
// Ends the sleep of `ending_wait`, or the next one. From any thread.
void ending_wake(void);
// Where an abort, a trap or a SIGSEGV follows a call that failed for want of memory or descriptors (errno), and the system still refuses them,
// writes the sentence for it and ends with `code`. Any other, and every SIGBUS, stays what it was. The sentences are copied.
void ending_on_shortage(const char *memory, const char *descriptors, int code);
// For a program that is about to say why it ends with `code`: 1 for the first thread that asks, which may say so; 0 where another thread says
// it already and will end the program.
int ending_claim(int code);
// What the end restores: the settings (struct termios) of this terminal; NULL: none. The settings are copied; the descriptor stays the caller's and
// open.
void ending_keep_terminal(int descriptor, const void *settings);
// What the end removes: this socket, as long as the path names the same one; NULL: none. The path is copied. Each `which` below
// ENDING_SOCKETS is a socket of its own.
enum { ENDING_SOCKETS = 2 };
void ending_keep_socket(int which, const char *path);
// Restores, removes, and ends at once. May be called in a signal handler.
_Noreturn void ending_now(int code);

#endif

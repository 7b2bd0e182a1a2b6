// How a program ends that is asked to and cannot: in signal handlers, which need neither a thread nor memory.

#ifndef CENDING_H
#define CENDING_H

// SIGINT, SIGTERM, SIGHUP and SIGQUIT become a request to end; the last two only where they are not ignored already. Unless the program ends
// within `milliseconds` it is ended with code 0, at once on a second signal. The program must not use ITIMER_REAL itself.
void ending_on_signals(int milliseconds);
// Whether such a signal has come.
int ending_requested(void);
// Where a fault or an abort follows an allocation that failed (errno is ENOMEM), writes `text`, which is copied, and ends with `code`.
void ending_on_shortage(const char *text, int code);
// What the end restores: the settings (struct termios) of the terminal at standard input; NULL: none. The settings are copied.
void ending_keep_terminal(const void *settings);
// What the end removes: this socket, as long as the path names the same one; NULL: none. The path is copied.
void ending_keep_socket(const char *path);
// Restores, removes, and ends at once. May be called in a signal handler.
_Noreturn void ending_now(int code);

#endif

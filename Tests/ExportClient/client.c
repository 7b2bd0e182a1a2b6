// A client of exported frames that shares no code with the library: it reads GStreamer's unixfd protocol from a socket, keeps frames as
// its manner has it, and looks again and again whether one that it holds has changed.
//
//     export-client SOCKET MANNER SEED TALLY
//     export-client SOCKET measure
//
// MANNER: prompt, late, never, twice, foreign, deaf. TALLY is a file of two numbers of 64 bits that all clients add to: frames seen, and
// frames that changed in a client's hands. "measure" waits for the socket to be there, gives every frame back without looking at it, and
// prints at the end "FRAMES MEDIAN P99": microseconds from the moment a frame is for (its pts) to its arrival.
// Exit codes: 0 the server is gone or has ended the connection, 3 a frame changed, 64 usage, 66 cannot connect, 70 no memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NEW_BUFFER = 0, RELEASE_BUFFER = 1, END = 3, HOLD_LIMIT = 64 };

struct frame {
    uint64_t id, sum;
    const uint64_t *words;
    size_t size;
};

static struct frame held[HOLD_LIMIT];
static int held_count;
static uint64_t *tally;
static int server;
static uint64_t dice;

static uint64_t roll(uint64_t sides) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (dice >> 33) % sides;
}

static uint64_t checksum(const struct frame *frame) {
    uint64_t sum = frame->size;
    for (size_t i = 0; i < frame->size / 8; i++) sum = (sum << 5 | sum >> 59) ^ frame->words[i];
    return sum;
}

// The server closes the connection before it takes back what the client held.
static int is_over(void) {
    struct pollfd look = {server, POLLIN | POLLRDHUP, 0};
    return poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

static void look_again(int index) {
    if (checksum(&held[index]) == held[index].sum) return;
    if (is_over()) exit(0);
    __atomic_add_fetch(&tally[1], 1, __ATOMIC_SEQ_CST);
    fprintf(stderr, "frame %llu changed\n", (unsigned long long)held[index].id);
    exit(3);
}

static void say_released(uint64_t id) {
    uint32_t header[2] = {RELEASE_BUFFER, 8};
    unsigned char message[16];
    memcpy(message, header, 8);
    memcpy(message + 8, &id, 8);
    if (send(server, message, sizeof message, MSG_NOSIGNAL) != sizeof message) exit(0);
}

static uint64_t give_back(int index) {
    uint64_t id = held[index].id;
    look_again(index);
    munmap((void *)held[index].words, held[index].size);
    held[index] = held[--held_count];
    say_released(id);
    return id;
}

// Reads all of it, and the descriptor that comes along.
static void take(void *bytes, size_t count, int *fd) {
    for (size_t got = 0; got < count;) {
        struct iovec vector = {(char *)bytes + got, count - got};
        union {
            char bytes[CMSG_SPACE(16 * sizeof(int))];
            struct cmsghdr align;
        } control;
        struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
        ssize_t length = recvmsg(server, &message, MSG_CMSG_CLOEXEC);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) exit(0);
        got += (size_t)length;
        for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
            if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(header), sizeof *fd);
    }
}

static unsigned char payload[1 << 16];

// One message of the server's; the descriptor of its memory when it was a frame, else -1.
static int receive_message(uint32_t header[2]) {
    int fd = -1;
    take(header, 8, &fd);
    if (header[1] > sizeof payload) exit(0);
    take(payload, header[1], &fd);
    return header[0] == NEW_BUFFER ? fd : -1;
}

// One message of the server's; true when it was a frame.
static int receive(void) {
    uint32_t header[2];
    uint64_t memory[2];
    int fd = receive_message(header);
    if (fd < 0) return 0;
    if (held_count == HOLD_LIMIT) exit(70);
    struct frame *frame = &held[held_count++];
    memcpy(&frame->id, payload, 8);
    memcpy(memory, payload + 56, 16);
    frame->size = memory[0] + memory[1];
    void *address = mmap(NULL, frame->size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (address == MAP_FAILED) exit(70);
    frame->words = address;
    frame->sum = checksum(frame);
    __atomic_add_fetch(&tally[0], 1, __ATOMIC_SEQ_CST);
    return 1;
}

enum { SPAN_LIMIT = 1 << 20 };
static double spans[SPAN_LIMIT];
static int span_count;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_spans(void) {
    qsort(spans, (size_t)span_count, sizeof *spans, compare);
    printf("%d %.1f %.1f\n", span_count, span_count ? spans[span_count / 2] : 0, span_count ? spans[span_count * 99 / 100] : 0);
}

static int measure(const struct sockaddr_un *address) {
    int tries = 0;
    while (connect(server, (const struct sockaddr *)address, sizeof *address) < 0) {
        if (++tries == 2000) return 66;
        usleep(5000);
    }
    atexit(print_spans);
    for (;;) {
        uint32_t header[2];
        uint64_t id, pts;
        struct timespec now;
        int fd = receive_message(header);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (header[0] == END) return 0;
        if (fd < 0) continue;
        close(fd);
        memcpy(&id, payload, 8);
        memcpy(&pts, payload + 8, 8);
        if (span_count < SPAN_LIMIT) spans[span_count++] = (now.tv_sec * 1e9 + (double)now.tv_nsec - (double)pts) / 1000;
        say_released(id);
    }
}

int main(int count, char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count < 3 || strlen(words[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, words[1]);
    server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (count == 3 && !strcmp(words[2], "measure")) return measure(&address);
    if (count != 5) return 64;
    const char *manner = words[2];
    dice = strtoull(words[3], NULL, 10);
    int file = open(words[4], O_RDWR | O_CLOEXEC);
    tally = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || tally == MAP_FAILED) return 66;
    if (connect(server, (struct sockaddr *)&address, sizeof address) < 0) return 66;

    if (!strcmp(manner, "deaf"))
        for (;;) pause();
    uint64_t frames = 0, first = 0;
    for (;;) {
        struct pollfd news = {server, POLLIN, 0};
        int is_new = poll(&news, 1, 1) > 0 && receive();
        if (is_new && frames++ == 0) first = held[0].id;
        for (int i = 0; i < held_count; i++) look_again(i);
        if (!strcmp(manner, "prompt")) {
            while (held_count > 0) give_back(0);
        } else if (!strcmp(manner, "late")) {
            if (held_count > 0 && roll(8) == 0) give_back((int)roll((uint64_t)held_count));
        } else if (!strcmp(manner, "twice") && held_count > 1) {
            say_released(give_back(0));
            break;
        } else if (!strcmp(manner, "foreign") && held_count > 1) {
            // Those from before this client came are with the others, or with nobody.
            say_released(first - 1 - roll(4));
            break;
        }
    }
    // What was said ends the connection; from here on nothing is held.
    char rest[4096];
    while (recv(server, rest, sizeof rest, 0) > 0) {}
    return 0;
}

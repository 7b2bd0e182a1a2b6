// A thread of the driver's own, as real drivers have some from the start: it shows what a process that confines itself later takes from it.
#define _GNU_SOURCE
#include "driver.h"
#include <fcntl.h>
#include <unistd.h>

static void *run(void *argument) {
    Driver *driver = argument;
    while (true) {
        while (sem_wait(&driver->asks)) {}
        if (!driver->has_thread) return NULL;
        int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        driver->could_open = fd >= 0;
        if (fd >= 0) close(fd);
        sem_post(&driver->answers);
    }
}

void thread_begin(Driver *driver) {
    sem_init(&driver->asks, 0, 0);
    sem_init(&driver->answers, 0, 0);
    driver->has_thread = true;
    if (pthread_create(&driver->thread, NULL, run, driver)) driver->has_thread = false;
}

bool thread_can_open(Driver *driver) {
    if (!driver->has_thread) return false;
    sem_post(&driver->asks);
    while (sem_wait(&driver->answers)) {}
    return driver->could_open;
}

void thread_end(Driver *driver) {
    if (!driver->has_thread) return;
    driver->has_thread = false;
    sem_post(&driver->asks);
    pthread_join(driver->thread, NULL);
    sem_destroy(&driver->asks);
    sem_destroy(&driver->answers);
}

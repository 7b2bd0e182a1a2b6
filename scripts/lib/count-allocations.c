// Counts a program's allocations on the heap and prints them when it ends; for LD_PRELOAD. Those asked for by the program itself (with
// what is linked into it, such as Swift's runtime) are told from those of the libraries it loads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static char *first, *last; // the program's code
static atomic_long own, libraries;
static char early[4096]; // for dlsym itself, which may call calloc
static size_t early_used;

static int find_program(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size, (void)context;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD || !(object->dlpi_phdr[i].p_flags & PF_X)) continue;
        first = (char *)object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        last = first + object->dlpi_phdr[i].p_memsz;
    }
    return 1; // the program is the first object
}

__attribute__((constructor)) static void begin(void) {
    if (next_malloc) return;
    next_calloc = dlsym(RTLD_NEXT, "calloc");
    next_realloc = dlsym(RTLD_NEXT, "realloc");
    next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    dl_iterate_phdr(find_program, NULL);
    next_malloc = dlsym(RTLD_NEXT, "malloc");
}

__attribute__((destructor)) static void end(void) { fprintf(stderr, "allocations: %ld own, %ld of libraries\n", own, libraries); }

static void count(char *caller) {
    if (!next_malloc) begin();
    atomic_fetch_add(caller >= first && caller < last ? &own : &libraries, 1);
}

void *malloc(size_t size) {
    count(__builtin_return_address(0));
    return next_malloc(size);
}

void *calloc(size_t number, size_t size) {
    if (!next_calloc) {
        void *result = early + early_used;
        early_used += (number * size + 15) & ~(size_t)15;
        if (early_used > sizeof early) abort();
        return result;
    }
    count(__builtin_return_address(0));
    return next_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count(__builtin_return_address(0));
    return next_realloc(old, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count(__builtin_return_address(0));
    return next_posix_memalign(result, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(__builtin_return_address(0));
    return next_aligned_alloc(alignment, size);
}

"""Writes functions that stand for those of other libraries and load these when the first is called: late_libraries.py OBJECT NAME...

OBJECT is what libscanout.so is linked of, each NAME one of its libraries as the linker calls it (wayland-client). The C file on standard output
defines every symbol of those libraries that OBJECT uses. Linked with it, nothing needs them any more: they are loaded when the first of their
functions is called, so that a program that only takes frames runs where they are missing. Structures that a library exports (Wayland's interfaces)
are copied when it is loaded.

`late_library_load(NAME)`, which the modules call before the first function, says whether a library can be loaded: it is there
and has all of them. x86-64 only.
"""

import re
import subprocess
import sys

HEAD = r"""// Written by scripts/lib/late_libraries.py.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library { const char *name, *file; void *handle; unsigned first_object, object_count; };
struct function { const char *name; unsigned library; };
struct object { const char *name; void *place; size_t size; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
"""

TAIL = r"""
// The library's handle; NULL when it is missing, or lacks a function or a structure. Structures are there before anybody gets the handle.
static void *load(struct library *library) {
    pthread_mutex_lock(&lock);
    void *handle = library->handle;
    if (!handle && (handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL))) {
        int is_whole = 1;
        for (size_t i = 0; is_whole && i < sizeof functions / sizeof *functions; i++)
            if (&libraries[functions[i].library] == library) is_whole = dlsym(handle, functions[i].name) != NULL;
        for (unsigned i = library->first_object; is_whole && i < library->first_object + library->object_count; i++) {
            const void *original = dlsym(handle, objects[i].name);
            if (original) memcpy(objects[i].place, original, objects[i].size);
            else is_whole = 0;
        }
        if (!is_whole) {
            dlclose(handle);
            handle = NULL;
        }
        library->handle = handle;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

// Whether a library, by the linker's name, can be loaded.
__attribute__((visibility("hidden"))) int late_library_load(const char *name) {
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strcmp(libraries[i].name, name) == 0) return load(&libraries[i]) != NULL;
    return 1;
}

// The real function. Who calls without having asked late_library_load gets a sentence and the end.
__attribute__((visibility("hidden"), used)) void *late_library_resolve(unsigned long index) {
    void *handle = load(&libraries[functions[index].library]);
    void *address = handle ? dlsym(handle, functions[index].name) : NULL;
    if (!address) {
        fprintf(stderr, "libscanout: %s of %s is needed and missing.\n", functions[index].name, libraries[functions[index].library].file);
        abort();
    }
    __atomic_store_n(&late_library_addresses[index], address, __ATOMIC_RELEASE);
    return address;
}

// Keeps what a call passes in registers, as the psABI has it, while the function is looked for.
__asm__(
    ".text\n.p2align 4\n.type late_library_enter,@function\nlate_library_enter:\n.cfi_startproc\n.cfi_def_cfa_offset 16\n"
    "pushq %rax\npushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\nsubq $136, %rsp\n.cfi_adjust_cfa_offset 192\n"
    "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\nmovups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n"
    "movups %xmm4, 64(%rsp)\nmovups %xmm5, 80(%rsp)\nmovups %xmm6, 96(%rsp)\nmovups %xmm7, 112(%rsp)\n"
    "movq 192(%rsp), %rdi\ncall late_library_resolve\nmovq %rax, %r11\n"
    "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\nmovups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"
    "movups 64(%rsp), %xmm4\nmovups 80(%rsp), %xmm5\nmovups 96(%rsp), %xmm6\nmovups 112(%rsp), %xmm7\n"
    "addq $136, %rsp\npopq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\npopq %rax\naddq $8, %rsp\n.cfi_def_cfa_offset 8\n"
    "jmp *%r11\n.cfi_endproc\n.size late_library_enter,.-late_library_enter\n");
"""

#: One function: a jump to the real one, or the way to find it.
FUNCTION = (
    '__asm__(".text\\n.p2align 4\\n.globl {name}\\n.hidden {name}\\n.type {name},@function\\n{name}:\\n.cfi_startproc\\nendbr64\\n"\n'
    '    "movq late_library_addresses+{place}(%rip), %r11\\ntestq %r11, %r11\\nje 1f\\njmp *%r11\\n1: pushq ${index}\\n.cfi_adjust_cfa_offset 8\\n"\n'
    '    "jmp late_library_enter\\n.cfi_endproc\\n.size {name},.-{name}\\n");\n')


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def wanted(path):
    """What the object uses and does not have."""
    return {line.split()[-1] for line in run("nm", "--undefined-only", path).splitlines()}


def library(name):
    """The file's name at run time, its functions, and its structures with their sizes."""
    path = run("cc", "-print-file-name=lib%s.so" % name).strip()
    file = re.search(r"soname: \[(.*)\]", run("readelf", "--dynamic", "--wide", path))
    if not file:
        sys.exit("late_libraries: %s has no name for programs." % path)
    functions, objects = set(), {}
    for line in run("readelf", "--dyn-syms", "--wide", path).splitlines():
        cells = line.split()
        if len(cells) < 8 or cells[6] in ("UND", "Ndx") or cells[4] not in ("GLOBAL", "WEAK"):
            continue
        symbol = cells[7].split("@")[0]
        if cells[3] == "FUNC":
            functions.add(symbol)
        elif cells[3] == "OBJECT":
            objects[symbol] = int(cells[2], 0)
    return file.group(1), functions, objects


def main(path, names):
    missing = wanted(path)
    libraries, functions, objects = [], [], []
    for number, name in enumerate(names):
        file, has, structures = library(name)
        mine = sorted(missing & structures.keys())
        libraries.append('    {"%s", "%s", NULL, %d, %d},' % (name, file, len(objects), len(mine)))
        objects += [(symbol, structures[symbol]) for symbol in mine]
        functions += [(symbol, number) for symbol in sorted(missing & has)]
        missing -= has | structures.keys()
    print(HEAD)
    for symbol, size in objects:
        print('__attribute__((visibility("hidden"), aligned(16))) char %s[%d];' % (symbol, size))
    print("static const struct object objects[] = {")
    print("\n".join('    {"%s", %s, %d},' % (symbol, symbol, size) for symbol, size in objects) + "\n    {NULL, NULL, 0},\n};")
    print("static struct library libraries[] = {\n%s\n};" % "\n".join(libraries))
    print("static const struct function functions[] = {\n%s\n};" % "\n".join('    {"%s", %d},' % pair for pair in functions))
    print('__attribute__((visibility("hidden"), used)) void *late_library_addresses[%d];' % len(functions))
    print(TAIL)
    for index, (symbol, _) in enumerate(functions):
        print(FUNCTION.format(name=symbol, place=8 * index, index=index))


main(sys.argv[1], sys.argv[2:])

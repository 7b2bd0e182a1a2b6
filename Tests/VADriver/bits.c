// Writing bit streams, most significant bit first.
#include "driver.h"
#include <stdlib.h>
#include <string.h>

static void reserve(Bits *bits, size_t more) {
    size_t needed = bits->size + more + AV_INPUT_BUFFER_PADDING_SIZE;
    if (needed <= bits->capacity) return;
    bits->capacity = needed * 2;
    bits->data = realloc(bits->data, bits->capacity);
    if (!bits->data) abort();
}

void bits_bytes(Bits *bits, const void *data, size_t size) {
    reserve(bits, size);
    memcpy(bits->data + bits->size, data, size);
    bits->size += size;
}

void bits_put(Bits *bits, unsigned count, uint32_t value) {
    while (count-- > 0) {
        bits->pending = bits->pending << 1 | (value >> count & 1);
        if (++bits->pending_bits == 8) {
            uint8_t byte = (uint8_t)bits->pending;
            bits_bytes(bits, &byte, 1);
            bits->pending = bits->pending_bits = 0;
        }
    }
}

void bits_ue(Bits *bits, uint32_t value) {
    unsigned length = 0;
    while ((value + 1) >> (length + 1)) length++;
    bits_put(bits, length, 0);
    bits_put(bits, length + 1, value + 1);
}

void bits_se(Bits *bits, int32_t value) { bits_ue(bits, value > 0 ? 2 * (uint32_t)value - 1 : 2 * (uint32_t)-value); }

void bits_align(Bits *bits) {
    while (bits->pending_bits) bits_put(bits, 1, 0);
}

void bits_clear(Bits *bits) { bits->size = bits->pending = bits->pending_bits = 0; }

void bits_free(Bits *bits) {
    free(bits->data);
    memset(bits, 0, sizeof *bits);
}

void bits_nal(Bits *out, uint8_t header, const Bits *payload) {
    const uint8_t start[] = {0, 0, 0, 1, header}, escape = 3;
    bits_bytes(out, start, sizeof start);
    unsigned zeros = 0;
    for (size_t i = 0; i < payload->size; i++) {
        if (zeros == 2 && payload->data[i] <= 3) {
            bits_bytes(out, &escape, 1);
            zeros = 0;
        }
        bits_bytes(out, payload->data + i, 1);
        zeros = payload->data[i] ? 0 : zeros + 1;
    }
}

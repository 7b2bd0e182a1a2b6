#!/usr/bin/env python3
"""Draws the test film and its sound, frame by frame, with nothing but Python's own library.

    film.py picture --size 640x360 --frames 300 [--fps 30] [--first 0] [--chroma 420|444] [--depth 8|10] [--crop WxH]
    film.py sound --seconds 10 [--rate 48000]

They write raw planar YCbCr and raw stereo s16le to standard output, for ffmpeg to encode: see make-assets. The picture, in parts of its width W and height H:

    rows 0 … H/9        the frame number for machines: 20 cells of W/20, black or white, left to right:
                        white black | 12 bits, highest first | 4 bits check = XOR of the three nibbles, XOR 9 | black white
    rows H/9 … 5H/6     for people: drifting stripes, a bouncing ball, the frame number in digits; the stripes
                        turn white (the flash) for the first FLASH_SECONDS of every second
    rows 5H/6 … H       75 % colour bars, BT.709 limited range: the values of BARS

The sound: a 1 kHz beep of 50 ms in both channels at every whole second, beginning with the flash; at a quarter past, a blip
of 500 Hz on the left only; at half past, one of 2 kHz on the right only. Tests/TestSupport reads all of this back.
"""

import argparse
import array
import math
import sys

FLASH_SECONDS = 0.066
BARS = [  # Y, Cb, Cr of white, yellow, cyan, green, magenta, red, blue, black at 75 %
    (180, 128, 128), (168, 44, 136), (145, 147, 44), (133, 63, 52), (63, 193, 204), (51, 109, 212), (28, 212, 120), (16, 128, 128),
]
BLACK, WHITE, GREY = 16, 235, 128

DIGITS = [  # 5 × 7 dots each, a row a number
    (14, 17, 19, 21, 25, 17, 14), (4, 12, 4, 4, 4, 4, 14), (14, 17, 1, 2, 4, 8, 31), (31, 2, 4, 2, 1, 17, 14), (2, 6, 10, 18, 31, 2, 2),
    (31, 16, 30, 1, 1, 17, 14), (6, 8, 16, 30, 17, 17, 14), (31, 1, 2, 4, 8, 8, 8), (14, 17, 17, 14, 17, 17, 14), (14, 17, 17, 15, 1, 2, 12),
]


def code_cells(number):
    """The 20 cells of a frame number, True is white."""
    check = (number >> 8 ^ number >> 4 ^ number ^ 9) & 15
    bits = [(number >> i) & 1 for i in range(11, -1, -1)] + [(check >> i) & 1 for i in range(3, -1, -1)]
    return [True, False] + [b == 1 for b in bits] + [False, True]


class Plane:
    """One plane of samples, painted row by row with slices."""

    def __init__(self, width, height, depth):
        self.width, self.height, self.depth = width, height, depth
        self.rows = [None] * height

    def level(self, value):
        """An 8-bit level at this plane's depth."""
        return value << (self.depth - 8)

    def run(self, value, length):
        return array.array("H" if self.depth > 8 else "B", [self.level(value)]) * max(0, length)

    def fill(self, x0, y0, x1, y1, value):
        x0, x1, y0, y1 = max(0, x0), min(self.width, x1), max(0, y0), min(self.height, y1)
        if x1 <= x0:
            return
        span = self.run(value, x1 - x0)
        for y in range(y0, y1):
            self.rows[y][x0:x1] = span

    def write(self, out, crop):
        width, height = crop
        for row in self.rows[:height]:
            out.write(row[:width].tobytes())


def stripes(plane, low, high, period):
    """One long row of a smooth wave from low to high, to cut drifting rows from."""
    length = plane.width * 2 + period * 2
    values = [round(low + (high - low) * (0.5 - 0.5 * math.cos(2 * math.pi * x / period))) for x in range(period)]
    repeated = (values * (length // period + 1))[:length]
    return array.array("H" if plane.depth > 8 else "B", [plane.level(v) for v in repeated])


def picture(options):
    width, height = options.size
    sub = 2 if options.chroma == "420" else 1
    crop = options.crop or options.size
    luma = Plane(width, height, options.depth)
    chroma = [Plane(width // sub, height // sub, options.depth) for _ in range(2)]
    waves = [stripes(luma, 40, 110, width // 2)] + [stripes(p, 100, 156, p.width) for p in chroma]
    top, bottom = height // 9, height * 5 // 6
    out = sys.stdout.buffer

    for n in range(options.first, options.first + options.frames):
        flash = (n / options.fps) % 1.0 < FLASH_SECONDS
        for index, plane in enumerate([luma] + chroma):
            period = width // 2 if index == 0 else plane.width
            drift = n * 4 // (1 if index == 0 else sub)
            plain = plane.run(WHITE if index == 0 else GREY, plane.width)
            for y in range(plane.height):
                start = (drift + y) % period if index != 2 else (period * 2 - drift + y) % period
                plane.rows[y] = plain[:] if flash else waves[index][start:start + plane.width]

        # The ball swings from side to side once in two seconds and bounces once a second.
        phase = n / options.fps
        radius = height // 14
        cx = round(width * (0.5 + 0.4 * math.sin(math.pi * phase)))
        cy = round(bottom - radius - (bottom - top) * 0.45 * abs(math.sin(math.pi * phase)))
        for dy in range(-radius, radius):
            half = int(math.sqrt(radius * radius - dy * dy))
            luma.fill(cx - half, cy + dy, cx + half, cy + dy + 1, 150)
            if (cy + dy) % sub == 0:
                for plane, value in zip(chroma, (70, 190)):
                    plane.fill((cx - half) // sub, (cy + dy) // sub, (cx + half) // sub, (cy + dy) // sub + 1, value)

        # The number for people, white on black.
        dot = max(1, height // 30)
        text = "%04d" % n
        x0, y0 = width // 2 - 12 * dot, top + (bottom - top) // 2 - 5 * dot
        luma.fill(x0 - dot, y0 - dot, x0 + 24 * dot, y0 + 8 * dot, BLACK)
        for plane in chroma:
            plane.fill((x0 - dot) // sub, (y0 - dot) // sub, (x0 + 24 * dot) // sub, (y0 + 8 * dot) // sub, GREY)
        for place, character in enumerate(text):
            for row, dots in enumerate(DIGITS[int(character)]):
                for column in range(5):
                    if dots >> (4 - column) & 1:
                        x, y = x0 + (place * 6 + column) * dot, y0 + row * dot
                        luma.fill(x, y, x + dot, y + dot, WHITE)

        for i, white in enumerate(code_cells(n)):
            luma.fill(width * i // 20, 0, width * (i + 1) // 20, top, WHITE if white else BLACK)
        for plane in chroma:
            plane.fill(0, 0, plane.width, top // sub, GREY)

        for i, (y, cb, cr) in enumerate(BARS):
            luma.fill(width * i // 8, bottom, width * (i + 1) // 8, height, y)
            for plane, value in zip(chroma, (cb, cr)):
                plane.fill(plane.width * i // 8, bottom // sub, plane.width * (i + 1) // 8, plane.height, value)

        luma.write(out, crop)
        for plane in chroma:
            plane.write(out, ((crop[0] + sub - 1) // sub, (crop[1] + sub - 1) // sub))


def sound(options):
    rate = options.rate
    samples = array.array("h", [0]) * (rate * options.seconds * 2)
    sounds = [  # start in the second, length, Hz, loudness left, right
        (0.0, 0.050, 1000, 0.5, 0.5), (0.25, 0.030, 500, 0.15, 0.0), (0.5, 0.030, 2000, 0.0, 0.15),
    ]
    for second in range(options.seconds):
        for start, length, frequency, left, right in sounds:
            first, count = round((second + start) * rate), round(length * rate)
            for i in range(count):
                fade = min(1.0, (count - i) / (0.002 * rate))  # a hard start, to be timed by; a soft end, to please
                value = 32767 * fade * math.sin(2 * math.pi * frequency * i / rate)
                samples[(first + i) * 2] = round(left * value)
                samples[(first + i) * 2 + 1] = round(right * value)
    if sys.byteorder == "big":
        samples.byteswap()
    sys.stdout.buffer.write(samples.tobytes())


def size(text):
    width, height = text.split("x")
    return int(width), int(height)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("picture")
    command.set_defaults(run=picture)
    command.add_argument("--size", type=size, required=True)
    command.add_argument("--frames", type=int, required=True)
    command.add_argument("--first", type=int, default=0)
    command.add_argument("--fps", type=float, default=30)
    command.add_argument("--chroma", choices=["420", "444"], default="420")
    command.add_argument("--depth", type=int, choices=[8, 10], default=8)
    command.add_argument("--crop", type=size)
    command = commands.add_parser("sound")
    command.set_defaults(run=sound)
    command.add_argument("--seconds", type=int, required=True)
    command.add_argument("--rate", type=int, default=48000)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()

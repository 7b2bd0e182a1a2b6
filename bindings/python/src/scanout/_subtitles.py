"""What subtitles are on at a moment of a film."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass

from . import _library as l
from ._values import time

_library = l.library


@dataclass(frozen=True)
class SubtitleLine:
    """A line of text, or an image."""

    #: Nanoseconds of film time from which and until which it is on; None: until the next one, which is not read yet.
    start: int
    end: int | None
    #: Without tags; empty for an image.
    text: str
    #: With the override tags of ASS, which other formats of text are turned into; None for an image.
    ass: str | None
    #: The name of its style in an ASS script.
    style: str | None
    #: Left, top, width and height of an image on `canvas`.
    place: tuple[int, int, int, int] | None
    #: The size that `place` is counted on; None: the film does not say.
    canvas: tuple[int, int] | None


@dataclass(frozen=True)
class Subtitles:
    """What is on, and how it looks on a canvas."""

    #: Of all lines, one below the other; empty: nothing is on, or only images.
    text: str
    lines: tuple[SubtitleLine, ...]
    #: Nanoseconds of film time between which nothing changes, as far as the film has been read; None: nothing is known before, or behind.
    start: int | None
    end: int | None
    #: Of the picture: the same as last time where it is the same.
    serial: int
    #: Left, top, width and height of the picture on the canvas; None: there is nothing to draw.
    place: tuple[int, int, int, int] | None
    #: Of shape (height, width, 4), blue, green, red and alpha, premultiplied: `numpy.asarray(subtitles.pixels)`. Its own copy, which stays.
    pixels: memoryview | None


def take(handle: int) -> Subtitles:
    """A copy of what the library lends, which is given back."""
    try:
        info, line = l.sized(l.SubtitlesInfo), l.sized(l.SubtitleLineInfo)
        _library.scanout_subtitles_describe(handle, info)
        lines = []
        while _library.scanout_subtitles_get_line(handle, len(lines), line) == l.OK:
            lines.append(_line(line))
        place, pixels = None, None
        if info.pixels:
            place = (info.x, info.y, info.width, info.height)
            pixels = memoryview(c.string_at(info.pixels, info.pitch * info.height)).cast("B", (info.height, info.width, 4))
        return Subtitles(_text(info.text) or "", tuple(lines), time(info.start), time(info.end), info.serial, place, pixels)
    finally:
        _library.scanout_subtitles_release(handle)


def _line(info: l.SubtitleLineInfo) -> SubtitleLine:
    place = (info.x, info.y, info.width, info.height) if info.is_image else None
    canvas = (info.canvas_width, info.canvas_height) if info.canvas_width else None
    return SubtitleLine(info.start, time(info.end), _text(info.text) or "", _text(info.ass), _text(info.style), place, canvas)


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode(errors="replace")

"""What a film holds, as its container describes it."""

from __future__ import annotations

import ctypes as c
import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import _library as l
from ._values import time


class TrackKind(enum.IntEnum):
    """What a track carries."""

    OTHER = 0
    VIDEO = 1
    AUDIO = 2
    SUBTITLE = 3
    COVER = 4


@dataclass(frozen=True)
class Track:
    """One track of a film."""

    kind: TrackKind
    #: In the container, from 0.
    id: int
    #: By which Player and Player.show_subtitles choose it, from 1 within its kind; 0: it cannot be chosen.
    number: int
    #: FFmpeg's name.
    codec: str
    language: str | None
    title: str | None
    #: Nanoseconds; None: not said.
    duration: int | None
    #: Bits a second; 0: unknown.
    bit_rate: int
    is_default: bool
    is_decodable: bool
    is_selected: bool
    is_forced: bool
    is_hearing_impaired: bool
    #: Of frames, in pixels that are meant to be seen, before they are rotated; 0: unknown.
    width: int
    height: int
    #: Frames a second; None: unknown.
    frame_rate: Fraction | None
    #: Width to height of a pixel; None: unknown, which means square.
    pixel_aspect: Fraction | None
    #: Clockwise degrees until the frame stands upright.
    rotation: int
    #: Of sound, in Hz; 0: unknown.
    sample_rate: int
    channel_count: int
    channel_layout: str | None

    @classmethod
    def _of(cls, info: l.TrackInfo) -> Track:
        kind = TrackKind(info.kind) if info.kind in TrackKind._value2member_map_ else TrackKind.OTHER
        return cls(
            kind, info.id, info.number, text(info.codec) or "", text(info.language), text(info.title), time(info.duration), info.bit_rate,
            bool(info.is_default), bool(info.is_decodable), bool(info.is_selected), bool(info.is_forced), bool(info.is_hearing_impaired),
            info.width, info.height, ratio(info.frame_rate), ratio(info.pixel_aspect), info.rotation, info.sample_rate, info.channel_count,
            text(info.channel_layout))


@dataclass(frozen=True)
class Chapter:
    """A part of a film that has a name; times in nanoseconds."""

    start: int
    end: int
    title: str


@dataclass(frozen=True)
class Film:
    """What a container says of its film."""

    #: FFmpeg's name.
    container: str
    title: str | None
    #: Nanoseconds; None: it has no known end.
    duration: int | None
    is_seekable: bool
    tracks: tuple[Track, ...]
    chapters: tuple[Chapter, ...]
    #: The container's tags: "title", "artist" …
    metadata: dict[str, str]


def describe(player: int) -> Film | None:
    """What the film of an open player holds; None where there is no container."""
    library, info = l.library, l.sized(l.FilmInfo)
    if library.scanout_get_film(player, info) != l.OK:
        return None

    def every(function: Any, kind: Any) -> list[Any]:
        found: list[Any] = []
        while True:
            item = l.sized(kind)
            if function(player, len(found), c.byref(item)) != l.OK:
                return found
            found.append(item)

    return Film(
        text(info.container) or "", text(info.title), time(info.duration), bool(info.is_seekable),
        tuple(Track._of(track) for track in every(library.scanout_get_track, l.TrackInfo)),
        tuple(Chapter(item.start, item.end, text(item.title) or "") for item in every(library.scanout_get_chapter, l.ChapterInfo)),
        {text(item.name) or "": text(item.text) or "" for item in every(library.scanout_get_metadata, l.MetadataInfo)})


def text(string: bytes | None) -> str | None:
    return None if string is None else string.decode(errors="replace")


def ratio(pair: Any) -> Fraction | None:
    return Fraction(pair[0], pair[1]) if pair[0] and pair[1] else None

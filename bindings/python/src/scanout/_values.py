"""What a player reports."""

from __future__ import annotations

import ctypes as c
import enum
from dataclasses import dataclass
from typing import Any

from . import _library as l


class State(enum.IntEnum):
    """What a player is doing."""

    IDLE = 0
    OPENING = 1
    PREPARING = 2
    PLAYING = 3
    PAUSED = 4
    WAITING = 5
    ENDED = 6
    FAILED = 7


class EventKind(enum.IntEnum):
    """What has happened; scanout.h describes each."""

    UNKNOWN = 0
    ENDED = 1
    FAILED = 2
    NOTICE = 3
    DETAIL = 4
    CLOSE = 5
    KEY = 6
    SHOWN = 7
    SOUGHT = 8
    OPENED = 9
    STATE = 10
    SUBTITLES = 11
    CACHE = 12


@dataclass(frozen=True)
class Event:
    """Something that has happened."""

    kind: EventKind
    #: A sentence, the name of a key, of SUBTITLES what they say, or nothing.
    text: str
    #: Below 0 for a failure.
    result: int
    #: Of SOUGHT: the seek's number.
    serial: int
    #: Of STATE: the new one.
    state: State
    #: Of CACHE: how much is there of what is to be fetched ahead.
    percent: int

    @classmethod
    def _of(cls, info: l.EventInfo) -> Event:
        kind = EventKind(info.kind) if info.kind in EventKind._value2member_map_ else EventKind.UNKNOWN
        state = State(info.state) if info.state in State._value2member_map_ else State.IDLE
        return cls(kind, info.text.decode(errors="replace"), info.result, info.serial, state, info.percent)


@dataclass(frozen=True)
class Statistics:
    """What a player has done so far."""

    stalls: int
    #: Nanoseconds that the film waited for its source.
    stalled: int
    frames_decoded: int
    frames_shown: int
    frames_dropped: int
    bytes_copied: int
    #: Of a film on a web server, as what follows: bytes that have come, those included that came twice. 0 for other films.
    bytes_fetched: int
    #: In memory or on disk from where the film is being read, without a hole.
    bytes_ahead: int
    #: The same in nanoseconds of the film; None: not known.
    time_ahead: int | None
    #: That came in the last three seconds.
    bytes_per_second: int
    #: Of what is to be fetched ahead; 100 also where all is there up to the film's end.
    percent_ahead: int


@dataclass(frozen=True)
class ExportStatistics:
    """What became of the frames."""

    offered: int
    delivered: int
    late: int
    over_budget: int
    flushed: int
    #: 0 where the decoder's memory has a descriptor.
    bytes_copied: int


def of_struct(kind: Any, info: c.Structure) -> Any:
    """A value of a dataclass whose members have the names of the struct's."""
    return kind(**{name: getattr(info, name) for name in kind.__dataclass_fields__})


def time(nanoseconds: int) -> int | None:
    return None if nanoseconds == l.NO_TIME else nanoseconds

"""A film's decoded sound."""

from __future__ import annotations

import ctypes as c
import time as clock
from collections.abc import Iterator
from dataclasses import dataclass

from . import _library as l
from ._errors import ArgumentError, check
from ._handle import Handle

_library = l.library


@dataclass(frozen=True)
class SoundBlock:
    """A piece of a film's sound: at most 4096 frames of 32-bit floats, 1.0 the loudest."""

    #: Of shape (frames, channels): `numpy.asarray(block.samples)`. The block's own copy, which stays.
    samples: memoryview
    sample_rate: int
    #: Nanoseconds of film time, of the first frame.
    film_time: int
    #: The seek that it follows, as `Player.seek` returned it; 0 before the first.
    serial: int
    #: It does not continue the block before.
    is_discontinuous: bool

    @property
    def time(self) -> float:
        """Seconds of film time, of the first frame."""
        return self.film_time / 1_000_000_000


class Sound:
    """The sound of a player's film: `for block in player.sound`. One thread at a time."""

    def __init__(self, sample_rate: int, channel_count: int) -> None:
        if sample_rate < 0 or channel_count < 0:
            raise ArgumentError("sample_rate and channel_count are above 0, or 0: the film's own.")
        self._place = c.c_void_p()
        check(_library.scanout_sound_new(
            l.sized(l.SoundOptions, sample_rate=sample_rate, channel_count=channel_count), self._place))
        assert self._place.value is not None
        self._handle = Handle(self._place.value, _library.scanout_sound_close)

    def __iter__(self) -> Iterator[SoundBlock]:
        """Every block up to the end; after a seek there is sound again."""
        while (block := self.next()) is not None:
            yield block

    def next(self, timeout: float | None = None) -> SoundBlock | None:
        """The next block that has not been taken yet; None at the end. Raises TimeoutError when none comes within `timeout` seconds."""
        deadline = None if timeout is None else clock.monotonic_ns() + round(timeout * 1e9)
        block = l.sized(l.SoundBlockInfo)
        while True:
            rest = l.SLICE if deadline is None else max(min(deadline - clock.monotonic_ns(), l.SLICE), 0)
            with self._handle as handle:
                result = _library.scanout_sound_wait(handle, rest, block)
                check(result)
                if result == l.OK:
                    return self._copy(block)
            if result == l.END:
                return None
            if deadline is not None and clock.monotonic_ns() >= deadline:
                raise TimeoutError("No sound came in time.")

    @staticmethod
    def _copy(block: l.SoundBlockInfo) -> SoundBlock:
        shape = block.frame_count, block.channel_count
        samples = memoryview(c.string_at(block.samples, 4 * shape[0] * shape[1])).cast("f", shape)
        return SoundBlock(samples, block.sample_rate, block.film_time, block.serial, bool(block.is_discontinuous))

"""Frames that come one after the other: of a player, or of another process."""

from __future__ import annotations

import asyncio
import threading
import time as clock
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from . import _library as l
from ._errors import ArgumentError
from ._frame import Frame


class FrameSource(ABC):
    """`for frame in source`, `async for frame in source`, `next_frame`."""

    def __iter__(self) -> Iterator[Frame]:
        """Every frame up to the end; after a seek there are frames again."""
        return _Frames(self)

    def __aiter__(self) -> AsyncIterator[Frame]:
        """The same without blocking the event loop."""
        return _AsyncFrames(self)

    def next_frame(self, timeout: float | None = None) -> Frame | None:
        """The next frame that has not been taken yet; None at the end. Raises TimeoutError when none comes within `timeout` seconds."""
        deadline = None if timeout is None else clock.monotonic_ns() + in_nanoseconds(timeout)
        while True:
            frame, is_over = self._take(rest(deadline))
            if frame is not None:
                return frame
            if is_over:
                self._raise_failure()
                return None
            if deadline is not None and clock.monotonic_ns() >= deadline:
                raise TimeoutError("No frame came in time.")

    @abstractmethod
    def _take(self, timeout: int) -> tuple[Frame | None, bool]:
        """The next frame, waiting up to `timeout` nanoseconds, and whether there are no more."""

    @abstractmethod
    def _raise_failure(self) -> None:
        """At the end of the frames: raises when that is not the end of the film."""


def in_nanoseconds(seconds: float) -> int:
    if not -9e9 < seconds < 9e9:
        raise ArgumentError(f"{seconds} s is no time of a film.")
    return round(seconds * 1_000_000_000)


def rest(deadline: int | None) -> int:
    """How long a call may wait until `deadline` of time.monotonic_ns(); Python looks for signals after it."""
    return l.SLICE if deadline is None else max(min(deadline - clock.monotonic_ns(), l.SLICE), 0)


class _Frames:
    """The frames of a source, for `for`."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source

    def __iter__(self) -> _Frames:
        return self

    def __next__(self) -> Frame:
        frame = self._source.next_frame()
        if frame is None:
            raise StopIteration
        return frame


class _AsyncFrames:
    """The frames of a source, for `async for`. A thread waits where none is ready."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source
        self._thread: ThreadPoolExecutor | None = None
        #: The thread's wait. A task that was cancelled leaves it behind, with the frame that it may have taken, for the next one.
        self._waiting: Future[tuple[Frame | None, bool]] | None = None
        self._given_up = threading.Event()

    def __aiter__(self) -> _AsyncFrames:
        return self

    async def __anext__(self) -> Frame:
        # Others get their turn also where frames are always ready.
        await asyncio.sleep(0)
        frame: Frame | None = None
        is_over = False
        while frame is None and not is_over:
            if self._waiting is None:
                frame, is_over = self._source._take(0)
                if frame is None and is_over:
                    await asyncio.to_thread(self._source._raise_failure)
                if frame is None and not is_over:
                    self._begin()
            else:
                frame, is_over = await self._end()
        if frame is None:
            if self._thread:
                self._thread.shutdown(wait=False)
                self._thread = None
            raise StopAsyncIteration
        return frame

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "scanout")
        self._given_up.clear()

        def wait() -> tuple[Frame | None, bool]:
            while not self._given_up.is_set():
                try:
                    frame = self._source.next_frame(l.SLICE / 1e9)
                except TimeoutError:
                    continue
                return frame, frame is None
            return None, False

        self._waiting = self._thread.submit(wait)

    async def _end(self) -> tuple[Frame | None, bool]:
        assert self._waiting is not None
        try:
            # The thread's wait goes on when this one is cancelled, to its next look at `_given_up`.
            outcome = await asyncio.shield(asyncio.wrap_future(self._waiting))
        except asyncio.CancelledError:
            self._given_up.set()
            raise
        except BaseException:
            self._waiting = None
            raise
        self._waiting = None
        return outcome

"""Frames of another process."""

from __future__ import annotations

import ctypes as c
import os
import threading
import weakref
from types import TracebackType

from . import _library as l
from ._errors import ArgumentError, DataError, OpenError, check, check_open
from ._frame import Frame
from ._handle import Handle
from ._source import FrameSource

_library = l.library


class Remote(FrameSource):
    """The frames of a film that another process plays: `for frame in remote`, `async for frame in remote`, `next_frame`.

    A frame that you hold counts at the server, and stays as it is until it is given back: whoever holds as many as the server allows gets no others.
    All members may be used from any thread. `close`, or the end of a `with` block, ends the connection as soon as the last frame is given back.
    """

    def __init__(self, path: str | os.PathLike[str], film: str | None = None) -> None:
        """As `connect`."""
        if film is not None and "\0" in film:
            raise ArgumentError("A name has no zero in it.")
        place, message = c.c_void_p(), c.create_string_buffer(1000)
        address = os.fsencode(path)
        if film is None:
            result = _library.scanout_remote_open(address, place, message, len(message))
        else:
            result = _library.scanout_remote_open_film(address, film.encode(), place, message, len(message))
        check_open(result, message)
        assert place.value is not None
        self._handle = Handle(place.value, _library.scanout_remote_close, "connection")
        self._finaliser = weakref.finalize(self, self._handle.close)
        self._path = os.fsdecode(path)
        self._held: set[int] = set()
        #: The library takes one wait at a time.
        self._waiting = threading.Lock()
        self._is_lost = False

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Takes no more frames. Frames and arrays that are still held stay as they are."""
        self._finaliser()

    def _take(self, timeout: int) -> tuple[Frame | None, bool]:
        place = c.c_void_p()
        with self._waiting, self._handle as remote:
            result = _library.scanout_remote_wait(remote, timeout, place)
            if place.value is not None:
                return Frame(place.value, self._held), False
        if result == DataError.result:
            self._is_lost = True
            return None, True
        check(result)
        return None, result == l.END

    def _raise_failure(self) -> None:
        if self._is_lost:
            raise DataError(f"{self._path}: the server is gone before the film's end, or sends what it should not.")


def connect(path: str | os.PathLike[str], film: str | None = None) -> Remote:
    """Connects to a socket that a `Server`, `scanout --export unixfd:PATH` or GStreamer's unixfdsink serves.

    film: the name of one of several (`Server.add`); None: the one without a name. Blocks up to five seconds until the server has answered that it has
        it. Raises OpenError where nobody serves, or nothing of that name.
    """
    return Remote(path, film)


def served_films(path: str | os.PathLike[str]) -> list[str]:
    """The names of the films at a socket, without the first one, which has none.

    Blocks up to five seconds. Raises OpenError where nobody serves, or only what has no names, as GStreamer does.
    """
    size = 1 << 12
    while True:
        names = c.create_string_buffer(size)
        result = _library.scanout_remote_get_films(os.fsencode(path), names, size)
        if result != ArgumentError.result or size >= 1 << 24:
            break
        size <<= 2
    if result == OpenError.result:
        raise OpenError(f"{os.fsdecode(path)}: nobody serves films by their names there.")
    check(result)
    return [name.decode(errors="replace") for name in names.raw.split(b"\0\0", 1)[0].split(b"\0") if name]

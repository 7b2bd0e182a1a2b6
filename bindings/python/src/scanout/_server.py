"""Frames for other processes, over a Unix socket."""

from __future__ import annotations

import ctypes as c
import os
import time as clock
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

from . import _library as l
from ._errors import ArgumentError, ClosedError, DataError, check, check_open
from ._handle import Handle
from ._source import in_nanoseconds, rest
from ._values import of_struct

_library = l.library


@dataclass(frozen=True)
class ServerStatistics:
    """What a server has done so far."""

    #: Connected now.
    clients: int
    clients_served: int
    #: Counted for each client.
    frames_sent: int
    #: That a client did not get because it held as many as it may.
    frames_skipped: int


class Server:
    """A socket at which other processes take a film's frames, in the memory into which the decoder wrote them.

        with scanout.Server(path) as server, scanout.Player("film.mkv", server=server):
            server.wait()

    Programs of this user take them with `scanout.connect`, `scanout_remote_open` or GStreamer's unixfdsrc. All members may be used from any thread.
    The end of a `with` block closes it.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, sends_every_frame: bool = False, client_limit: int = 4, client_budget: int = 4, formats: str = "",
        modifiers: Sequence[int] = (), size: tuple[int, int] | None = None, row_alignment: int = 0, device: int = 0
    ) -> None:
        """Opens the socket and serves on a thread of the library. A socket that nobody listens on is replaced.

        sends_every_frame: waits for the first client, and makes the film wait for slow ones. Else frames are sent when they are due, and a client
            that is late misses some.
        client_limit, client_budget: programs served at once, and frames that each may hold at once: 1 to 64.
        formats, modifiers, size, row_alignment, device: what the frames are to be, as for Player, because programs cannot ask for it themselves.
        """
        if not (1 <= client_limit <= 64 and 1 <= client_budget <= 64):
            raise ArgumentError("client_limit and client_budget are 1 to 64.")
        wishes = _wishes(formats, modifiers, size, row_alignment, device)
        options = l.sized(
            l.ServerOptions, client_limit=client_limit, client_budget=client_budget, sends_every_frame=int(sends_every_frame),
            frames=c.pointer(wishes))
        place, message = c.c_void_p(), c.create_string_buffer(1000)
        check_open(_library.scanout_server_new(os.fsencode(path), options, place, message, len(message)), message)
        assert place.value is not None
        #: Where the socket is.
        self.path = os.fsdecode(path)
        self._handle = Handle(place.value, _library.scanout_server_close, "server")
        self._finaliser = weakref.finalize(self, self._handle.close)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends every connection and removes the socket, before or after the players are closed. Blocks for some milliseconds."""
        self._finaliser()

    @contextmanager
    def _lending(self) -> Iterator[int]:
        """The exporter for a player that is opened meanwhile."""
        with self._handle as server:
            yield int(_library.scanout_server_exporter(server))

    def add(
        self, name: str, *, formats: str = "", modifiers: Sequence[int] = (), size: tuple[int, int] | None = None, row_alignment: int = 0,
        device: int = 0
    ) -> ServedFilm:
        """Another film, for programs that ask for it by `name`, of 1 to 255 bytes; all others get the first one, which has no name."""
        place = c.c_void_p()
        with self._handle as server:
            result = _library.scanout_server_add(server, _name(name), _wishes(formats, modifiers, size, row_alignment, device), place)
        if result != l.OK or place.value is None:
            raise ArgumentError(f"The server takes no film {name!r}: it has one of that name, the name is too long, or a wish makes no sense.")
        return ServedFilm(self, name, place.value)

    def set_continues(self, continues: bool) -> None:
        """Whether another film follows the first one, so that programs get its frames without an end between.

        To be said before a film ends, and False before the last one does.
        """
        with self._handle as server:
            check(_library.scanout_server_set_continues(server, int(continues)))

    def wait(self, timeout: float | None = None) -> None:
        """Returns when each film has ended and every program has given back what it held, or is gone.

        Raises TimeoutError when that is not so within `timeout` seconds, and DataError where the socket's protocol has no name for the film's
        format. A player that is closed earlier drops what programs have not got yet. Where films follow each other, the event ENDED of the player
        says that this one has begun and ended.
        """
        deadline = None if timeout is None else clock.monotonic_ns() + in_nanoseconds(timeout)
        while True:
            with self._handle as server:
                result = _library.scanout_server_wait(server, rest(deadline))
            if result == DataError.result:
                raise DataError("The film has a format that cannot be served: say with `formats` what it is to be converted to.")
            check(result)
            if result == l.OK:
                return
            if deadline is not None and clock.monotonic_ns() >= deadline:
                raise TimeoutError("The film has not ended in time.")

    @property
    def statistics(self) -> ServerStatistics:
        """What it has done so far."""
        info = l.sized(l.ServerStatisticsInfo)
        with self._handle as server:
            check(_library.scanout_server_get_statistics(server, info))
        found: ServerStatistics = of_struct(ServerStatistics, info)
        return found


class ServedFilm:
    """A film of a server that has a name: `Player("left.mkv", server=film)`."""

    def __init__(self, server: Server, name: str, exporter: int) -> None:
        self._server, self._exporter = server, exporter
        #: That programs ask for.
        self.name = name
        self._is_removed = False

    def remove(self) -> None:
        """Takes the film away: its programs hear that it has ended, and keep what they hold. Close its player before."""
        if not self._is_removed:
            self._is_removed = True
            with self._server._handle as server:
                check(_library.scanout_server_remove(server, _name(self.name)))

    @contextmanager
    def _lending(self) -> Iterator[int]:
        with self._server._handle:
            if self._is_removed:
                raise ClosedError(f"The film {self.name} has been removed.")
            yield self._exporter


def _name(name: str) -> bytes:
    if "\0" in name:
        raise ArgumentError("A name has no zero in it.")
    return name.encode()


def _wishes(formats: str, modifiers: Sequence[int], size: tuple[int, int] | None, row_alignment: int, device: int) -> l.ExporterOptions:
    width, height = size or (0, 0)
    wishes: l.ExporterOptions = l.sized(
        l.ExporterOptions, row_alignment=row_alignment, formats=formats.encode() if formats else None,
        modifiers=(c.c_uint64 * len(modifiers))(*modifiers), modifier_count=len(modifiers), width=width, height=height, device=device)
    return wishes

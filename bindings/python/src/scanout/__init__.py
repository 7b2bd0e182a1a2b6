"""Decoded frames of films, in the memory into which the decoder wrote them.

    with scanout.Player("film.mkv") as player:
        for frame in player:
            with frame:
                luma = numpy.asarray(frame.planes[0])

Times are whole nanoseconds where a name says so or a member is called `…_time`, and else seconds.
"""

from ._errors import ArgumentError, BudgetError, CancelledError, ClosedError, DataError, DeviceError, Error, InternalError, OpenError
from ._film import Chapter, Film, Track, TrackKind
from ._frame import Color, Frame, HDR, Plane
from ._log import LogLevel, set_log_handler
from ._network import Network
from ._player import Player
from ._remote import Remote, connect, served_films
from ._server import ServedFilm, Server, ServerStatistics
from ._sound import Sound, SoundBlock
from ._source import FrameSource
from ._subtitles import SubtitleLine, Subtitles
from ._values import Event, EventKind, ExportStatistics, State, Statistics

__all__ = [
    "ArgumentError", "BudgetError", "CancelledError", "Chapter", "ClosedError", "Color", "DataError", "DeviceError", "Error", "Event",
    "EventKind", "ExportStatistics", "Film", "Frame", "FrameSource", "HDR", "InternalError", "LogLevel", "Network", "OpenError", "Plane", "Player",
    "Remote", "ServedFilm", "Server", "ServerStatistics", "Sound", "SoundBlock", "State", "Statistics", "SubtitleLine", "Subtitles", "Track",
    "TrackKind", "connect", "served_films", "set_log_handler",
]

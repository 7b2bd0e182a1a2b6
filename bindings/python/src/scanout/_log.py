"""What all players do and find, as sentences."""

from __future__ import annotations

import atexit
import enum
import threading
from collections.abc import Callable
from typing import Any

from . import _library as l
from ._errors import check


class LogLevel(enum.IntEnum):
    """How much a sentence matters."""

    #: An opening, or playback, has failed.
    ERROR = 1
    #: It goes on, and something is not as it should be.
    WARNING = 2
    #: What was chosen and why.
    INFO = 3
    #: Each change of a player's state, and each seek.
    DEBUG = 4


_lock = threading.Lock()
#: What the library calls now.
_current: Any = None


def set_log_handler(handler: Callable[[LogLevel, str], object] | None, level: LogLevel = LogLevel.INFO) -> None:
    """Calls `handler` for each sentence up to `level`; it replaces the one before, and None removes it.

    It runs on threads of the library: for one player in order, for several at the same time. It should return soon, and must neither close a player
    nor set a handler. When this returns, the handler before is not running any more. Python prints what a handler raises.

        logger = logging.getLogger("film")
        levels = {scanout.LogLevel.ERROR: logging.ERROR, scanout.LogLevel.WARNING: logging.WARNING}
        scanout.set_log_handler(lambda level, text: logger.log(levels.get(level, logging.DEBUG), text))
    """
    global _current

    def call(context: int | None, number: int, text: bytes) -> None:
        if handler is not None:
            handler(LogLevel(number), text.decode(errors="replace"))

    with _lock:
        made = l.LogHandler(call) if handler is not None else l.LogHandler(0)
        check(l.library.scanout_set_log_handler(int(level), made, None))
        # Only now: the one before may have run until here.
        _current = made


atexit.register(set_log_handler, None)

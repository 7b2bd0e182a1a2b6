"""A handle of the library that one thread may close while others use it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ._errors import ClosedError


class Handle:
    """`with handle as number:` keeps it open for a call; calls are short. After `close` that raises ClosedError.

    A weak reference's finaliser may call `close`, so that it refers to nothing else.
    """

    def __init__(self, number: int, close: Callable[[int], None], name: str = "player") -> None:
        self._number, self._close, self._name = number, close, name
        self._changed = threading.Condition(threading.RLock())
        self._users = 0
        self._is_closed = False

    def __enter__(self) -> int:
        with self._changed:
            if self._is_closed:
                raise ClosedError(f"The {self._name} has been closed.")
            self._users += 1
        return self._number

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._users -= 1
            if not self._users:
                self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """Waits for the calls that are under way. Only the first call does anything."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._changed.wait_for(lambda: not self._users)
        self._close(self._number)

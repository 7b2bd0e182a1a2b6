"""Failures, with the library's own sentence."""

from __future__ import annotations

import ctypes as c
from typing import Any

from ._library import library


class Error(Exception):
    """Something that the library refused; `result` is its scanout_result."""

    result: int = 0

    def __init__(self, sentence: str, result: int | None = None) -> None:
        super().__init__(sentence)
        if result is not None:
            self.result = result


class ArgumentError(Error, ValueError):
    """A value makes no sense."""

    result = -1


class OpenError(Error):
    """The film does not exist or cannot be read."""

    result = -2


class DataError(Error):
    """Nothing in the film can be played, or it is damaged or cut short."""

    result = -3


class DeviceError(Error):
    """The display or decoder that was asked for does not exist or is gone."""

    result = -4


class InternalError(Error):
    """The operating system refused something that it normally grants."""

    result = -5


class CancelledError(Error):
    """Opening was cancelled."""

    result = -6


class ClosedError(Error, ValueError):
    """The player, server or connection has been closed, or the frame given back."""


class BudgetError(Error, BufferError):
    """All frames that may be held are held, so that no other can come."""


def error(result: int, sentence: str = "") -> Error:
    """The exception for a scanout_result."""
    for kind in (ArgumentError, OpenError, DataError, DeviceError, InternalError, CancelledError):
        if kind.result == result:
            break
    else:
        return Error(sentence or meaning(result), result)
    return kind(sentence or meaning(result), result)


def meaning(result: int) -> str:
    text = library.scanout_error_string(result)
    return str(text.decode()) if text else ""


def check(result: int) -> None:
    """Raises for a failure."""
    if result < 0:
        raise error(result)


def check_open(result: int, message: c.Array[Any]) -> None:
    """Raises for anything but success, with the sentence that the call wrote."""
    if result:
        raise error(result, message.value.decode(errors="replace"))

"""Soft time limits: an alarm raises in the student's code, so that the box survives; the hard limit kills the box."""

from __future__ import annotations

import signal
import time
from typing import Callable, Optional, TypeVar

from .alarm_thread import ThreadAlarm

T = TypeVar("T")
_REPEAT_S = 0.25
"""Seconds until the alarm is raised again: a student's bare `except:` may swallow the first one."""
_monotonic, _set_handler = time.monotonic, signal.signal
_set_timer = getattr(signal, "setitimer", None)
"""None on Windows."""
_ALARM, _TIMER = getattr(signal, "SIGALRM", 0), getattr(signal, "ITIMER_REAL", 0)


class SoftTimeout(BaseException):
    """The time limit passed; it is a BaseException, so that no `except Exception` swallows it."""

    def __str__(self) -> str:
        return "the time limit has passed"


class _Clock:
    """The current deadline; None while code of viva runs."""

    deadline: Optional[float] = None
    by_thread: Optional[ThreadAlarm] = None
    """The thread that keeps the limits where signals cannot."""


def without_signals(*, by_thread: bool = True) -> None:
    """Keep limits by a thread, or by signals again: only the main thread can use signals, and Windows has no timer."""
    by_thread = by_thread or _set_timer is None
    if by_thread != (_Clock.by_thread is not None):
        _Clock.by_thread = ThreadAlarm(SoftTimeout, _REPEAT_S) if by_thread else None


def within(seconds: Optional[float], run: Callable[[], T]) -> T:
    """Run under a limit, within the limit that applies already; other threads than the main one need `without_signals`.

    If the outer limit has passed too, it is not raised again at the end: the caller sees `time_is_up()` and can still
    finish its reply, since the examiner waits a little longer.

    Raises:
        SoftTimeout: A limit passed. Whatever `run` raises passes through as well.
    """
    if seconds is None:
        return run()
    outer = _Clock.deadline
    inner = _monotonic() + seconds
    try:
        _arm(inner if outer is None else min(inner, outer))
        return run()
    finally:
        _arm(outer if outer is not None and outer > _monotonic() else None)
        _Clock.deadline = outer


def time_is_up() -> bool:
    """Return whether the limit around the current code has passed."""
    return _Clock.deadline is not None and _Clock.deadline <= _monotonic()


def left_s() -> Optional[float]:
    """Return the wall seconds until the limit around the current code passes; None without a limit."""
    return None if _Clock.deadline is None else max(0.0, _Clock.deadline - _monotonic())


def off() -> None:
    """Remove any limit, where code of viva continues after the student's."""
    _arm(None)


def _arm(deadline: Optional[float]) -> None:
    _Clock.deadline = deadline
    if _Clock.by_thread is not None or _set_timer is None:
        without_signals()
        assert _Clock.by_thread is not None  # made on the line above
        _Clock.by_thread.arm(deadline)
        return
    if deadline is None:
        _set_timer(_TIMER, 0)
        return
    _set_handler(_ALARM, _ring)  # each time, because the student may have replaced it
    _set_timer(_TIMER, max(deadline - _monotonic(), 1e-6), _REPEAT_S)


def _ring(*_signal: object) -> None:
    if time_is_up():
        raise SoftTimeout

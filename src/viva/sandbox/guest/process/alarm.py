"""Soft time limits: an alarm that raises in the student's code, so that the box survives; the hard limit is a kill."""

from __future__ import annotations

import signal
import time
from typing import Any, Callable, Optional, TypeVar

from .alarm_thread import ThreadAlarm

T = TypeVar("T")
_AGAIN_S = 0.25
"""A student's bare `except:` may swallow the first one."""
_monotonic, _set_handler = time.monotonic, signal.signal
_set_timer = getattr(signal, "setitimer", None)
"""None on Windows."""
_ALARM, _TIMER = getattr(signal, "SIGALRM", 0), getattr(signal, "ITIMER_REAL", 0)


class SoftTimeout(BaseException):
    """The time limit passed; no BaseException of the student's own, so that no `except Exception` swallows it."""

    def __str__(self) -> str:
        return "the time limit has passed"


class _Clock:
    """The deadline that holds now; None while our own code runs."""

    deadline: Optional[float] = None
    by_thread: Optional[ThreadAlarm] = None
    """What keeps the limits where signals cannot."""


def without_signals(wanted: bool = True) -> None:
    """Whether limits are kept by a thread: needed beside the main thread; where there is no timer it is always so."""
    wanted = wanted or _set_timer is None
    if wanted != (_Clock.by_thread is not None):
        _Clock.by_thread = ThreadAlarm(SoftTimeout, _AGAIN_S) if wanted else None


def within(seconds: Optional[float], run: Callable[[], T]) -> T:
    """Run under a limit, inside whatever limit holds already; main thread only, or else `without_signals`.

    When the outer limit has passed too, it is not raised again on the way out: the caller sees `time_is_up()` and can
    still finish its reply, since the examiner waits a little longer.

    Raises:
        SoftTimeout: a limit passed; also whatever `run` raises.
    """
    if seconds is None:
        return run()
    outer = _Clock.deadline
    mine = _monotonic() + seconds
    try:
        _arm(mine if outer is None else min(mine, outer))
        return run()
    finally:
        _arm(outer if outer is not None and outer > _monotonic() else None)
        _Clock.deadline = outer


def time_is_up() -> bool:
    """Whether the limit around the present code has passed."""
    return _Clock.deadline is not None and _Clock.deadline <= _monotonic()


def left_s() -> Optional[float]:
    """Wall seconds until the limit around the present code passes; None without one."""
    return None if _Clock.deadline is None else max(0.0, _Clock.deadline - _monotonic())


def off() -> None:
    """No limit, whatever was set: called where our own code begins again."""
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
    _set_handler(_ALARM, _ring)  # each time: the student may have put another
    _set_timer(_TIMER, max(deadline - _monotonic(), 1e-6), _AGAIN_S)


def _ring(*_signal: Any) -> None:
    if time_is_up():
        raise SoftTimeout

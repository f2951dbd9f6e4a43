"""Soft time limits: an alarm raises in the student's code, so that the box survives; the hard limit kills the box.

The alarm is a signal, so it needs a timer, which Windows lacks, and the main thread. Without them only the hard limit
ends code that does not return.
"""

from __future__ import annotations

import signal
import threading
from typing import Callable, Optional, TypeVar

from .counted_time import CountedTime, of_this_process

T = TypeVar("T")
_REPEAT_S = 0.25
"""Seconds until the alarm is raised again: a student's bare `except:` may swallow the first one."""
_SHORTEST_S = 0.01
"""The shortest wait of an alarm that rang early, because the process had slept or waited for a processor."""
_set_handler = signal.signal
_set_timer = getattr(signal, "setitimer", None)
"""None on Windows."""
_this_thread, _main_thread = threading.current_thread, threading.main_thread
_ALARM, _TIMER = getattr(signal, "SIGALRM", 0), getattr(signal, "ITIMER_REAL", 0)


class SoftTimeout(BaseException):
    """The time limit passed; it is a BaseException, so that no `except Exception` swallows it."""

    def __str__(self) -> str:
        if _Clock.inputs > 1:
            return f"the time limit has passed; the code called input() {_Clock.inputs} times, and no one answers here"
        return "the time limit has passed"


class _Clock:
    """The current deadline in counted time; None while code of viva runs."""

    counted: Optional[CountedTime] = None
    deadline: Optional[float] = None
    inputs = 0
    """How often the current request has called `input()`: a loop may repeat it until it gets an answer."""


def within(seconds: Optional[float], run: Callable[[], T]) -> T:
    """Run under a limit, within the limit that applies already.

    If the outer limit has passed too, it is not raised again at the end: the caller sees `time_is_up()` and can still
    finish its reply, since the examiner waits a little longer.

    Raises:
        SoftTimeout: A limit passed. Whatever `run` raises passes through as well.
    """
    if seconds is None:
        return run()
    outer = _Clock.deadline
    inner = now() + seconds
    try:
        _arm(inner if outer is None else min(inner, outer))
        return run()
    finally:
        _arm(outer if outer is not None and outer > now() else None)
        _Clock.deadline = outer


def time_is_up() -> bool:
    """Return whether the limit around the current code has passed."""
    return _Clock.deadline is not None and _Clock.deadline <= now()


def left_s() -> Optional[float]:
    """Return the counted seconds until the limit around the current code passes; None without a limit."""
    return None if _Clock.deadline is None else max(0.0, _Clock.deadline - now())


def now() -> float:
    """Return the counted time of this process (counted_time.py)."""
    if _Clock.counted is None:
        _Clock.counted = of_this_process()
    return _Clock.counted.now()


def begin_anew() -> None:
    """Forget the limit and the clock of the process that forked this one; its timers do not reach this one."""
    _Clock.counted = _Clock.deadline = None


def off() -> None:
    """Remove any limit, where code of viva continues after the student's."""
    _Clock.inputs = 0
    _arm(None)


def note_input() -> None:
    """Count a call of `input()`, for the message of a time limit."""
    _Clock.inputs += 1


def _arm(deadline: Optional[float]) -> None:
    _Clock.deadline = deadline
    if _set_timer is None or _this_thread() is not _main_thread():
        return
    if deadline is None:
        _set_timer(_TIMER, 0)
        return
    _set_handler(_ALARM, _ring)  # each time, because the student may have replaced it
    _set_timer(_TIMER, max(deadline - now(), 1e-6), _REPEAT_S)


def _ring(*_signal: object) -> None:
    if time_is_up():
        raise SoftTimeout
    left = left_s()
    if left is not None and _set_timer is not None:
        _set_timer(_TIMER, max(left, _SHORTEST_S), _REPEAT_S)

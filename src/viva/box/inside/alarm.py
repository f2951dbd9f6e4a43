"""Soft time limits: an alarm that raises in the student's code, so that the box survives; the hard limit is a kill."""

from __future__ import annotations

import signal
import time
from typing import Any, Callable, Optional, TypeVar

T = TypeVar("T")
_AGAIN_S = 0.25
"""A student's bare `except:` may swallow the first one."""
_monotonic, _set_timer, _set_handler = time.monotonic, signal.setitimer, signal.signal
_ALARM, _TIMER = signal.SIGALRM, signal.ITIMER_REAL


class SoftTimeout(BaseException):
    """The time limit passed; no BaseException of the student's own, so that no `except Exception` swallows it."""


class _Clock:
    """The deadline that holds now; None while our own code runs."""

    deadline: Optional[float] = None


def within(seconds: Optional[float], run: Callable[[], T]) -> T:
    """Run under a limit, inside whatever limit holds already; main thread only.

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
    _Clock.deadline = None
    _set_timer(_TIMER, 0)


def _arm(deadline: Optional[float]) -> None:
    _Clock.deadline = deadline
    if deadline is None:
        _set_timer(_TIMER, 0)
        return
    _set_handler(_ALARM, _ring)  # each time: the student may have put another
    _set_timer(_TIMER, max(deadline - _monotonic(), 1e-6), _AGAIN_S)


def _ring(*_signal: Any) -> None:
    if time_is_up():
        raise SoftTimeout("the time limit has passed")

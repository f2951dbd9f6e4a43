"""A time limit without signals, for Windows and other threads: a thread raises in the thread that armed it.

It stops Python code only: a call that sleeps or computes in C is stopped when it returns.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
from typing import Callable, Optional, Type

_getpid, _get_ident = os.getpid, threading.get_ident
_start = _thread.start_new_thread
"""Used instead of threading.Thread, which would call `sys.excepthook`, which the student may have replaced."""
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_SHORTEST_S = 0.01
"""The shortest wait, where the clock runs more slowly than the wall clock."""


class ThreadAlarm:
    """Raises `error` in the armed thread when the deadline passes, and repeats it until it is disarmed."""

    def __init__(self, error: Type[BaseException], repeat_s: float, now: Callable[[], float]) -> None:
        """Prepare.

        Args:
            error: what it raises.
            repeat_s: wall seconds until it raises again.
            now: the clock of the deadlines; it may run more slowly than the wall clock.
        """
        self._error, self._repeat_s, self._now = error, repeat_s, now
        self._changed = threading.Condition(threading.RLock())
        self._deadline: Optional[float] = None
        self._target = 0
        self._raised = False
        """Whether it has raised since it was last disarmed; the error may still be pending."""
        self._watched_in = 0
        """The process in which the thread runs; after a fork it runs only in the parent."""

    def arm(self, deadline: Optional[float]) -> None:
        """Set the deadline of the calling thread; None removes it. A pending error is cancelled."""
        while True:
            try:
                return self._arm(deadline)
            except self._error:
                self._release_lock()
                if deadline is not None:
                    raise
                # The last error came during disarming, when the limited code had already finished.

    def _arm(self, deadline: Optional[float]) -> None:
        with self._changed:
            self._deadline = deadline
            if deadline is not None:
                self._target = _get_ident()
                self._start_thread()
                self._changed.notify()
                return
            raised, self._raised = self._raised, False
        if raised:
            self._cancel()

    def _start_thread(self) -> None:
        if self._watched_in != _getpid():
            _start(self._watch, ())
            self._watched_in = _getpid()

    def _cancel(self) -> None:
        """Cancel a pending error: raise once more, which replaces it, and catch that at once.

        Clearing it with a null would make the interpreter check for it at every step, and under a trace forever.
        """
        if self._target != _get_ident():
            _raise_in(ctypes.c_ulong(self._target), None)
            return
        try:
            if _raise_in(ctypes.c_ulong(self._target), ctypes.py_object(self._error)):
                while True:
                    pass
        except self._error:
            return

    def _release_lock(self) -> None:
        """Release the lock if this thread holds it: the error may have come between taking it and the `with` block."""
        try:
            while True:
                self._changed.release()
        except RuntimeError:
            return  # this thread does not hold it

    def _watch(self) -> None:
        with self._changed:
            while True:
                if self._deadline is None:
                    self._changed.wait()
                    continue
                left_s = self._deadline - self._now()
                if left_s > 0:
                    self._changed.wait(max(left_s, _SHORTEST_S))
                    continue
                self._raised = True
                _raise_in(ctypes.c_ulong(self._target), ctypes.py_object(self._error))
                self._changed.wait(self._repeat_s)

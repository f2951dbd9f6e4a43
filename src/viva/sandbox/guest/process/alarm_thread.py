"""A time limit without signals, for Windows and beside a main thread: a thread that raises in the one that armed it.

It reaches Python code only: a call that sleeps or computes in C is stopped when it comes back.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
import time
from typing import Optional, Type

_monotonic, _getpid, _get_ident = time.monotonic, os.getpid, threading.get_ident
_start = _thread.start_new_thread
"""threading.Thread would ask `sys.excepthook`, which the student may have put aside."""
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc


class ThreadAlarm:
    """Raises `error` in the armed thread when the deadline passes, and again until it is disarmed."""

    def __init__(self, error: Type[BaseException], again_s: float) -> None:
        self._error, self._again_s = error, again_s
        self._changed = threading.Condition(threading.RLock())
        self._deadline: Optional[float] = None
        self._target = 0
        self._struck = False
        """Whether it has struck since it was last disarmed; the error may still be on its way."""
        self._watched_in = 0
        """The process whose thread watches; a fork has none."""

    def arm(self, deadline: Optional[float]) -> None:
        """From now on this deadline holds for the calling thread; None for none. What is on its way is called back."""
        while True:
            try:
                return self._arm(deadline)
            except self._error:
                self._let_go()
                if deadline is not None:
                    raise
                # The last one struck while it was being disarmed: what had to be in time is over.

    def _arm(self, deadline: Optional[float]) -> None:
        with self._changed:
            self._deadline = deadline
            if deadline is not None:
                self._target = _get_ident()
                self._watch_here()
                self._changed.notify()
                return
            struck, self._struck = self._struck, False
        if struck:
            self._call_back()

    def _watch_here(self) -> None:
        if self._watched_in != _getpid():
            _start(self._watch, ())
            self._watched_in = _getpid()

    def _call_back(self) -> None:
        """Leave nothing on its way: strike once more, which takes the place of the last, and take it at once.

        A null in its place would leave the interpreter looking for it at every step, and under a trace for ever.
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

    def _let_go(self) -> None:
        """It may have struck between taking the lock and the block that gives it back."""
        try:
            while True:
                self._changed.release()
        except RuntimeError:
            return  # it is not ours

    def _watch(self) -> None:
        with self._changed:
            while True:
                if self._deadline is None:
                    self._changed.wait()
                    continue
                left_s = self._deadline - _monotonic()
                if left_s > 0:
                    self._changed.wait(left_s)
                    continue
                self._struck = True
                _raise_in(ctypes.c_ulong(self._target), ctypes.py_object(self._error))
                self._changed.wait(self._again_s)

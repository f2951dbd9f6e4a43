"""Requests to stop: Ctrl-C, a terminal that closes, a scheduler's signal. None of them is lost.

Python drops an exception that is raised in a destructor or in the callback of a weak reference, and every import runs
such a callback. Without what is here, Ctrl-C at that moment would print a traceback, and a class would be graded on.
"""

import contextlib
import signal
import sys
import threading
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

CTRL_C: Final = 128 + signal.SIGINT
"""The exit status that a shell gives a program that Ctrl-C has ended."""
AGAIN_AFTER_S: Final = 0.05
_SIGNALS: Final = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]


class Stopped(KeyboardInterrupt):
    """A request to stop, raised where Ctrl-C would raise KeyboardInterrupt; one that is dropped is raised again."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        # While the exception is on its way, frames refer to it: it ends early only if something has dropped it.
        _Request.open = weakref.ref(self, lambda _: _send_again(number)) if _Request.repeated else None


class _Request:
    """The request that nothing has handled yet."""

    open: "weakref.ref[Stopped] | None" = None
    repeated = True


def raise_stopped() -> None:
    """Raise `Stopped` in the main thread for each signal to stop, except for those that the caller's parent ignores."""
    sys.unraisablehook = _report_unless_stopped
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # keep what nohup has set
            signal.signal(number, _raise)


def do_not_repeat() -> None:
    """Let the program handle its signals: a prompt goes on after Ctrl-C."""
    _Request.repeated = False


def exit_status(error: BaseException) -> int | None:
    """Return the exit status after an error that comes from a request to stop, which is then handled; else None.

    Args:
        error: the error, or what some code has made of the request.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    _Request.open = None
    return 128 + cause.number if isinstance(cause, Stopped) else CTRL_C


def end_at_once() -> None:
    """Let a signal end the process without a word, as before Python sets its handlers: nothing is left to save."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)


def _send_again(number: int) -> None:
    """Send the signal from another thread: what is raised here would be dropped as well."""
    if hasattr(signal, "pthread_kill"):
        main = threading.main_thread().ident
        timer = threading.Timer(AGAIN_AFTER_S, signal.pthread_kill, [main, number])
        timer.daemon = True
        with contextlib.suppress(RuntimeError):  # Python is ending
            timer.start()


def _report_unless_stopped(unraisable: "UnraisableHookArgs") -> None:
    if not isinstance(unraisable.exc_value, Stopped):
        sys.__unraisablehook__(unraisable)

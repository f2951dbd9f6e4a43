"""The state of a live process that a check must restore: random numbers, defaults, folders, streams, signals.

Each function saves one part of it and returns how to restore it.
"""

import builtins
import contextlib
import decimal
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

Undo = Callable[[], object]


@contextlib.contextmanager
def restored_afterwards() -> Iterator[None]:
    """Make the process look like a fresh one within the block, and restore it afterwards whatever happened."""
    undos = [save() for save in _PARTS]
    try:
        np.seterr(divide="warn", over="warn", under="ignore", invalid="warn")
        warnings.simplefilter("ignore")  # no one would see them
        yield
    finally:
        for undo in reversed(undos):
            with contextlib.suppress(Exception):  # one that cannot be restored must not block the others
                undo()


def _numbers() -> Undo:
    python, numpy = random.getstate(), np.random.get_state()

    def undo() -> None:
        random.setstate(python)
        np.random.set_state(numpy)

    return undo


def _numpy() -> Undo:
    errors, call, printing = np.geterr(), np.geterrcall(), np.get_printoptions()

    def undo() -> None:
        np.seterr(**errors)
        np.seterrcall(call)
        np.set_printoptions(**printing)

    return undo


def _torch() -> Undo:
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_rng_state"):
        return lambda: None
    state, cuda = torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    graded, dtype, threads = torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()
    anomaly = torch.is_anomaly_enabled()
    strict, warn = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()

    def undo() -> None:
        torch.set_rng_state(state)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        torch.set_grad_enabled(graded)
        torch.set_default_dtype(dtype)
        torch.autograd.set_detect_anomaly(anomaly)
        torch.use_deterministic_algorithms(strict, warn_only=warn)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)

    return undo


def _decimal() -> Undo:
    context = decimal.getcontext().copy()
    return lambda: decimal.setcontext(context)


def _warnings() -> Undo:
    filters, shown, show = list(warnings.filters), getattr(warnings, "_showwarnmsg_impl", None), warnings.showwarning

    def undo() -> None:
        warnings.filters[:] = filters  # type: ignore[index]  # it is a list; typeshed promises less
        getattr(warnings, "_filters_mutated", lambda: None)()
        warnings.showwarning = show
        if shown is not None:
            vars(warnings)["_showwarnmsg_impl"] = shown

    return undo


def _folder() -> Undo:
    here = os.getcwd()  # noqa: PTH109  # as os gives it back to chdir
    return lambda: os.chdir(here)


def _imports() -> Undo:
    """Save where modules are searched for, and modules called `inside`, a name that the author's helpers use."""
    places: tuple[list[Any], ...] = (sys.path, sys.meta_path, sys.path_hooks, sys.argv)
    lists = [(each, list(each)) for each in places]
    before = {name: module for name, module in sys.modules.items() if _is_inside(name)}

    def undo() -> None:
        for each, items in lists:
            each[:] = items
        for name in [name for name in sys.modules if _is_inside(name)]:
            del sys.modules[name]
        sys.modules.update(before)

    return undo


def _is_inside(name: str) -> bool:
    return name == "inside" or name.startswith("inside.")


def _environment() -> Undo:
    before = dict(os.environ)

    def undo() -> None:
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)

    return undo


_OF_SYS: Final = ("stdin", "stdout", "stderr", "displayhook", "excepthook", "breakpointhook", "unraisablehook", "argv",
                  "path", "meta_path", "last_value", "last_type", "last_traceback")  # fmt: skip


def _interpreter() -> Undo:
    before = {name: getattr(sys, name) for name in _OF_SYS if hasattr(sys, name)}
    limit, trace, profile = sys.getrecursionlimit(), sys.gettrace(), sys.getprofile()

    def undo() -> None:
        for name, value in before.items():
            setattr(sys, name, value)
        sys.setrecursionlimit(limit)
        if sys.gettrace() is not trace:
            sys.settrace(trace)
        if sys.getprofile() is not profile:
            sys.setprofile(profile)

    return undo


def _builtins() -> Undo:
    names = vars(builtins)
    before = dict(names)

    def undo() -> None:
        for name in [name for name in names if name not in before]:
            del names[name]
        names.update(before)

    return undo


def _signals() -> Undo:
    """Save the handlers, and the timer that a student may have set.

    Only the main thread can do this, and only some systems have them.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    numbers = [number for name in ("SIGINT", "SIGALRM", "SIGTERM") if (number := getattr(signal, name, None))]
    before = {number: signal.getsignal(number) for number in numbers}
    timer = signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else None

    def undo() -> None:
        for number, handler in before.items():
            if handler is not None:  # else C code set it
                signal.signal(number, handler)
        if timer is not None:
            signal.setitimer(signal.ITIMER_REAL, *timer)

    return undo


_PARTS: Final = (
    _folder, _imports, _environment, _interpreter, _builtins, _decimal, _warnings, _numpy, _torch, _numbers, _signals,
)  # fmt: skip

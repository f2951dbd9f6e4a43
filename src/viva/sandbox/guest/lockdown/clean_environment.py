"""The environment variables, directory and signal handlers of the process before it runs student code."""

from __future__ import annotations

import os
import signal
import tempfile
from typing import Dict, Optional

_POSIX = hasattr(os, "fork")
_KEPT_FROM_LAUNCH = ("LD_LIBRARY_PATH",) if _POSIX else ("PATH", "SYSTEMROOT")
"""Some interpreters need LD_LIBRARY_PATH to start, and Windows needs PATH; the operator sets them, not the student."""
_SIGNALS_TO_KEEP = {
    getattr(signal, name) for name in ("SIGKILL", "SIGSTOP", "SIGINT", "SIGPIPE", "SIGXFSZ") if hasattr(signal, name)
}
"""Signals that no process can handle, and those that Python sets at its start."""
_SIGNALS_TO_RESET = sorted(signal.valid_signals() - _SIGNALS_TO_KEEP)
FOR_LIBRARIES = {
    "MPLBACKEND": "Agg",
    # One thread each: threads do not survive a fork, and more cores would change results.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # pandas keeps texts in Arrow, whose own allocators start a thread and reserve 1 GiB of the memory limit.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""Variables that libraries read when they are imported."""
WHILE_IMPORTING_WITH_GPU = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
"""For the fork server of boxes with a GPU: libraries ask for one when they are imported, and torch would start CUDA to
answer, which no fork survives."""


def variables(work: str, scratch: str) -> Dict[str, str]:
    """Return all variables of a box; none comes from the examiner's environment."""
    kept = {name: os.environ[name] for name in _KEPT_FROM_LAUNCH if name in os.environ}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        **kept,
        **({} if _POSIX else {"USERPROFILE": scratch}),
        "HOME": scratch,
        "TMPDIR": scratch,
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "PWD": work,
        "MPLCONFIGDIR": scratch + "/mpl",
        "IPYTHONDIR": scratch + "/ipython",
        "XDG_CACHE_HOME": scratch + "/cache",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        **FOR_LIBRARIES,
    }


def for_gpu(visible: str) -> Dict[str, str]:
    """Return the variables of a box with a GPU: which one CUDA uses (a UUID, or empty), and repeatable sums."""
    chosen = {"CUDA_VISIBLE_DEVICES": visible} if visible else {}
    return {**chosen, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def replace(work: str, scratch: str, more: Optional[Dict[str, str]] = None) -> str:
    """Set os.environ to exactly the variables of a box, and change to the work directory."""
    fresh = {**variables(work, scratch), **(more or {})}
    os.environ.clear()
    os.environ.update(fresh)
    os.umask(0o022)
    os.chdir(work)
    tempfile.tempdir = None  # the fork server may have chosen a folder
    return "replaced"


def default_signals() -> None:
    """Reset signal handlers and the mask to those of a fresh Python program."""
    signal.set_wakeup_fd(-1)
    for number in _SIGNALS_TO_RESET:
        if signal.getsignal(number) != signal.SIG_DFL:  # e.g. a shell makes background programs ignore SIGQUIT
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

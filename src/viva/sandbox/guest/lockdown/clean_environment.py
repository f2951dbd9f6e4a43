"""The environment and the standing of the process before it meets student code."""

from __future__ import annotations

import os
import signal
import tempfile
from typing import Dict, Optional

_POSIX = hasattr(os, "fork")
_KEPT_FROM_LAUNCH = ("LD_LIBRARY_PATH",) if _POSIX else ("PATH", "SYSTEMROOT")
"""Some interpreters do not start without it; it is the operator's, not the student's; Windows needs PATH."""
_NOT_OURS_TO_SET = {
    getattr(signal, name) for name in ("SIGKILL", "SIGSTOP", "SIGINT", "SIGPIPE", "SIGXFSZ") if hasattr(signal, name)
}
"""What no process can set, and what Python sets at its start."""
_OURS_TO_SET = sorted(signal.valid_signals() - _NOT_OURS_TO_SET)


def variables(work: str, scratch: str) -> Dict[str, str]:
    """All variables that exist in a box; nothing of the examiner's environment is among them."""
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
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": scratch + "/mpl",
        "IPYTHONDIR": scratch + "/ipython",
        "XDG_CACHE_HOME": scratch + "/cache",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def for_gpu(visible: str) -> Dict[str, str]:
    """Variables of a box that has a GPU: which one CUDA is to use (a UUID, or nothing), and repeatable sums."""
    chosen = {"CUDA_VISIBLE_DEVICES": visible} if visible else {}
    return {**chosen, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def replace(work: str, scratch: str, more: Optional[Dict[str, str]] = None) -> str:
    """os.environ holds our variables and no other; the work directory becomes the current one."""
    set_variables({**variables(work, scratch), **(more or {})})
    os.umask(0o022)
    os.chdir(work)
    tempfile.tempdir = None  # the fork server may have looked for a place of its own
    return "replaced"


def set_variables(fresh: Dict[str, str]) -> None:
    """Make os.environ equal; what is so already is not touched: the fork server sets most of it for all boxes."""
    for name in [name for name in os.environ if name not in fresh]:
        del os.environ[name]
    for name, value in fresh.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def default_signals() -> None:
    """Handlers and masks as a fresh program finds them; Python's own choice for SIGINT and SIGPIPE."""
    signal.set_wakeup_fd(-1)
    for number in _OURS_TO_SET:
        if signal.getsignal(number) != signal.SIG_DFL:  # a shell lets programs in the background ignore SIGQUIT, say
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

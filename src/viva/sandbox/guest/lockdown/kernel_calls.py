"""The kernel calls that Python does not wrap, through ctypes; errors become OSError with the name of the step."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import types
from typing import Any, Dict, Union

from . import numbers_aarch64, numbers_x86_64

_TABLES = {"x86_64": numbers_x86_64, "aarch64": numbers_aarch64, "arm64": numbers_aarch64}
_libc: Any = ctypes.CDLL(None, use_errno=True) if hasattr(os, "fork") else None
"""None on Windows, where nothing here is called."""

if hasattr(_libc, "prctl"):  # declared once: a box calls it fifty times
    _libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47

_ZEROS = (0, 0, 0, 0)
Argument = Union[int, bytes, None, Any]


def table() -> types.ModuleType:
    """Return the module of call numbers for this machine; raise OSError(ENOSYS) if there is none."""
    found = _TABLES.get(platform.machine())
    if found is None:
        raise OSError(errno.ENOSYS, f"no system call table for {platform.machine()}; x86_64 and aarch64 have one")
    return found


def numbers() -> Dict[str, int]:
    """Return the call numbers of this machine by name."""
    found: Dict[str, int] = table().NUMBERS
    return found


def syscall(name: str, *arguments: Argument) -> int:
    """Call the kernel by name; raise OSError with the name of the call."""
    number = numbers().get(name)
    if number is None:
        raise OSError(errno.ENOSYS, f"{name} does not exist on {platform.machine()}")
    return _check(_libc.syscall(ctypes.c_long(number), *map(_widen, arguments)), name)


def prctl(option: int, *arguments: int) -> int:
    """Make the `prctl` call with zeros for missing arguments."""
    return _check(_libc.prctl(option, *arguments, *_ZEROS[len(arguments) :]), f"prctl {option}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Make the `mount` call; empty strings are passed as null."""
    texts = [text.encode() or None for text in (source, target, kind)]
    _check(_libc.mount(*texts, ctypes.c_ulong(flags), data.encode() or None), f"mount {kind or 'bind'} on {target}")


def umount(target: str, flags: int) -> None:
    """Make the `umount2` call."""
    _check(_libc.umount2(target.encode(), ctypes.c_int(flags)), f"umount {target}")


def unshare(flags: int) -> None:
    """Make the `unshare` call."""
    _check(_libc.unshare(ctypes.c_int(flags)), f"unshare {flags:#x}")


def setns(fd: int, kind: int) -> None:
    """Make the `setns` call."""
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def sethostname(name: str) -> None:
    """Make the `sethostname` call."""
    _check(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def _widen(argument: Argument) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result

"""Read what a student wrote in another process, where reading it could take much memory or time.

A file may be written so that it takes a thousand times its size as Python's objects. Small files are read where they
are needed, because they cannot take much; starting a process costs a tenth of a second.
"""

import importlib
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

from viva.model.plain import from_plain, to_plain

MEMORY_BYTES: Final = 1 << 30
COMPUTED_S: Final = 20
_WALL_S: Final = 600
"""Ends a process where the system does not count processor time; reading never waits for anything."""
_MOST_REPLY: Final = 64 << 20
_TOO_MUCH: Final = 3
"""The exit status of a process in which the reader failed for want of memory."""

T = TypeVar("T")


class Unreadable(Exception):
    """Reading took more memory or time than it may; the text is a phrase for the student."""


def read_apart(reader: Callable[..., T], *arguments: object, returns: Any, raises: type[Exception] | None = None) -> T:
    """Call a function in another process, with limits on memory and processor time.

    Args:
        reader: a function at the top level of a module of viva.
        arguments: texts, bytes and lists of them.
        returns: the type of what it returns, which JSON can hold.
        raises: the error that it may raise, made from its text alone.

    Raises:
        Unreadable: it reached a limit, or ended the process.
    """
    request = pickle.dumps((reader.__module__, reader.__qualname__, raises and raises.__name__, arguments))
    try:
        ran = subprocess.run(  # noqa: S603  # this interpreter and this module
            [sys.executable, "-I", "-m", __name__], input=request, capture_output=True, timeout=_WALL_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unreadable(_phrase()) from None
    if ran.returncode < 0 or ran.returncode == _TOO_MUCH:
        raise Unreadable(_phrase())
    if ran.returncode:
        raise RuntimeError(f"{reader.__qualname__} could not be called: {ran.stderr.decode('utf-8', 'replace')[-500:]}")
    reply = json.loads(ran.stdout)
    if raises and "error" in reply:
        raise raises(reply["error"])
    value: T = from_plain(returns, reply["value"])
    return value


def _phrase() -> str:
    return f"reading it takes more than {MEMORY_BYTES >> 30} GiB of memory or {COMPUTED_S} s"


def _limit() -> None:
    """Limit this process, as far as the system can."""
    try:
        import resource
    except ImportError:
        return  # Windows

    for kind, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, COMPUTED_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (ValueError, OSError):
            continue  # macOS refuses a limit on memory


def _main() -> int:
    module, name, error, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by viva
    reader: Callable[..., Any] = getattr(importlib.import_module(module), name)
    _limit()
    try:
        reply = json.dumps({"value": to_plain(reader(*arguments))})
    except (MemoryError, RecursionError):
        return _TOO_MUCH
    except Exception as found:
        if type(found).__name__ != error:
            raise
        reply = json.dumps({"error": str(found)})
    if len(reply) > _MOST_REPLY:
        return _TOO_MUCH
    sys.stdout.write(reply)
    return 0


if __name__ == "__main__":
    sys.exit(_main())

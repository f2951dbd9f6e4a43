"""Six escape attempts, made by the locked process itself before it reads a student byte.

A probe returns "refused: ..." or "open: ..."; the examiner destroys a box of tier T1 or better with an open probe.
"""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Tuple

from .. import FOLDER
from . import kernel_calls, kernel_namespaces

if TYPE_CHECKING:
    from ..transport.message_types import Canary

_PTRACE_ATTACH = 16
_HARMLESS = ("read a secret", "signal the parent", "write outside")
_UNTRIED = "open: nothing prevents it in this tier"


def run(canary: Canary, tier: str) -> Dict[str, str]:
    """Run every probe.

    Args:
        canary: what the examiner prepared: `file` (a secret that only it may read), `folder` (where only it may
            write), `tcp` (a listening port), `unix` (an abstract socket name; "" if nothing isolates such sockets,
            which the box has already reported), `examiner` (its process id).
        tier: "T0" has no isolation; a probe that would succeed there and leave a change behind is not run.
    """
    contained = tier in ("T2", "T3")
    attempts: Dict[str, Callable[[], str]] = {
        "read a secret": lambda: _read(canary["file"]),
        "reach the network": lambda: _connect(canary["tcp"], canary["unix"]),
        "signal the parent": lambda: _signal(canary["examiner"], contained=contained),
        "trace the parent": _trace,
        "write outside": lambda: _write(canary["folder"]),
        "make a user namespace": _new_namespace,
    }
    tried = _HARMLESS if tier == "T0" else tuple(attempts)
    return {name: _result(attempt) if name in tried else _UNTRIED for name, attempt in attempts.items()}


def _result(attempt: Callable[[], str]) -> str:
    try:
        found = attempt()
    except OSError as error:
        return f"refused: {os.strerror(error.errno) if error.errno else error}"
    return f"open: {found}"


def _read(path: str) -> str:
    with open(path, "rb") as file:
        file.read(1)
    return "a file of the examiner can be read"


def _connect(port: int, name: str) -> str:
    reached, refusal = [], OSError("nothing to reach")
    targets: List[Tuple[str, int, int, Any]] = [
        ("TCP", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port)),
        ("UDP", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port)),
    ]
    if name:
        targets.append(("unix", socket.AF_UNIX, socket.SOCK_STREAM, b"\0" + name.encode()))
    for label, family, kind, address in targets:
        try:
            with socket.socket(family, kind) as connection:
                connection.settimeout(1)
                connection.connect(address)
            reached.append(label)
        except OSError as error:
            refusal = error
    if not reached:
        raise refusal
    return f"the examiner's {', '.join(reached)} socket can be reached"


def _signal(examiner: int, *, contained: bool) -> str:
    if contained:
        # Pid 1 of a namespace is immune; if it were not, this process would end with it.
        os.kill(os.getppid(), signal.SIGKILL)
        raise OSError("pid 1 of the box does not hear it")
    if hasattr(os, "killpg"):
        os.kill(examiner, 0)  # on Windows, 0 would send Ctrl-C to all programs of the console
    return "the examiner can be signalled"


def _trace() -> str:
    kernel_calls.syscall("ptrace", _PTRACE_ATTACH, os.getppid(), 0, 0)
    return "the parent can be traced"


def _write(folder: str) -> str:
    refusal = OSError("nowhere to write")
    for parent in (folder, "/", FOLDER, os.path.dirname(os.__file__)):
        path = os.path.join(parent, f".viva-probe-{os.getpid()}")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            refusal = error
            continue
        os.unlink(path)
        return "a folder of the host can be written to"  # the result must not say which one: that differs between runs
    raise refusal


def _new_namespace() -> str:
    kernel_calls.unshare(kernel_namespaces.NEWUSER)
    return "a user namespace can be made"

"""A box without a fork server: one interpreter, started for this box. The only way on macOS and Windows; tier T0.

Its plan arrives through standard input, which stays open as long as the examiner lives.
"""

from __future__ import annotations

import json
import os
import platform
import threading
from typing import List, NoReturn

from .. import FOLDER
from ..transport import loopback
from . import preload, student_process
from .box_plan import MISSING_IN_T0, BoxPlan


def run(rpc: int) -> NoReturn:
    """Read the plan from standard input, and become the box; never returns.

    Args:
        rpc: the descriptor of the connection to the examiner.
    """
    _become(_line(), rpc)


def dial(port: int) -> NoReturn:
    """Do the same if no socket can be inherited: connect to the examiner, with the token that comes first."""
    token, request = loopback.read_token(), _line()
    _become(request, loopback.connect(port, token).detach())


def _become(request: bytes, rpc: int) -> NoReturn:
    """Become the box that one JSON object describes: policy, canary, preload, work, scratch."""
    lifeline = loopback.keep_input()
    fields = json.loads(request)
    fields["preload"] = preload.to_import(fields["preload"])
    plan = BoxPlan(
        tier="T0",
        uid=0,
        engine=FOLDER,
        view=[],
        hidden=[],
        versions={"python": platform.python_version(), "kernel": platform.release()},
        landlock_abi=0,
        missing=[*MISSING_IN_T0, *_missing_here()],
        lifeline=lifeline,
        **fields,
    )
    threading.Thread(target=loopback.end_with, args=(lifeline,), daemon=True).start()
    student_process.become(plan, rpc)


def _missing_here() -> List[str]:
    group = "an end for processes that leave their group"
    missing = [group if hasattr(os, "killpg") else "an end for processes that it starts"]
    try:
        os.listdir("/proc/self/task")
    except OSError:
        missing.append("a limit on memory and on the number of processes (nothing here says how much a box uses)")
    return missing


def _line() -> bytes:
    """Read one line of standard input; later data stays there."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            raise EOFError("no one said what this box is to be")
        line += part
    return line

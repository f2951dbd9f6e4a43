"""How a box ended, in words that a student understands."""

import json
import os
import signal
from typing import Final

_CRASHED: Final = 0xC0000000
"""Windows ends a crashed program with a status of at least this; its documentation lists them in hexadecimal."""
BY_SIGKILL: Final = frozenset({"it was killed", "signal 9 (SIGKILL)"})
"""How a box ended that was killed from outside, or by itself."""


def reason_of(report: bytes, *, out_of_memory: bool) -> str:
    """Return one phrase: "exit status 3", "signal 11 (SIGSEGV)", "memory limit", "processor time limit".

    Args:
        report: the JSON line that pid 1 of the box wrote, empty if pid 1 itself was killed. It holds the wait `status`
            of the system, or where there is none the `returncode` of subprocess, negative for a signal.
        out_of_memory: whether the kernel killed a process of the box for its memory.
    """
    if out_of_memory:
        return "memory limit"
    try:
        end = json.loads(report)
        code = int(end["returncode"]) if "returncode" in end else os.waitstatus_to_exitcode(int(end["status"]))
    except (ValueError, KeyError, TypeError):
        return "it was killed"
    if code >= 0:
        return f"exit status {code if code < _CRASHED else hex(code)}"
    number = -code
    if number == getattr(signal, "SIGXCPU", None):
        return "processor time limit"
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"

"""How a box ended, in words a student can read."""

import json
import os
import signal
from typing import Final

_CRASHED: Final = 0xC0000000
"""Windows ends a program that crashes with such a status; it is looked up in hexadecimal."""


def reason_of(report: bytes, *, out_of_memory: bool) -> str:
    """One phrase: "exit status 3", "signal 11 (SIGSEGV)", "memory limit", "processor time limit".

    Args:
        report: the line that pid 1 of the box wrote, or nothing when it was killed itself: a `status` as the system
            gives it, or where there is none the `returncode` of subprocess, negative for a signal.
        out_of_memory: whether the kernel killed something of the box for its memory.
    """
    if out_of_memory:
        return "memory limit"
    try:
        told = json.loads(report)
        code = int(told["returncode"]) if "returncode" in told else os.waitstatus_to_exitcode(int(told["status"]))
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

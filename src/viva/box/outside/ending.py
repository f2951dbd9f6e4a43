"""How a box ended, in words a student can read."""

import json
import os
import signal


def reason_of(report: bytes, *, out_of_memory: bool) -> str:
    """One phrase: "exit status 3", "signal 11 (SIGSEGV)", "memory limit", "processor time limit".

    Args:
        report: the line that pid 1 of the box wrote, or nothing when it was killed itself.
        out_of_memory: whether the kernel killed something of the box for its memory.
    """
    if out_of_memory:
        return "memory limit"
    try:
        status = int(json.loads(report)["status"])
    except (ValueError, KeyError, TypeError):
        return "it was killed"
    if not os.WIFSIGNALED(status):
        return f"exit status {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return "processor time limit"
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"

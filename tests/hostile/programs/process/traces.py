"""Attaches to the examiner, to its own parent and to its own children as a debugger would."""

import ctypes
import os
import signal

from toolkit import TARGETS, answer_everything

libc = ctypes.CDLL(None, use_errno=True)
ATTACH, SEIZE, DETACH, KILL = 16, 0x4206, 17, 8


def trace(name):
    for pid in (os.getppid(), TARGETS["examiner"]) if TARGETS["tier"] != "T0" else ():
        for request in (ATTACH, SEIZE):
            libc.ptrace(request, pid, 0, 0)
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    libc.ptrace(ATTACH, child, 0, 0)
    os.kill(child, signal.SIGKILL)
    return 0.0


answer_everything(globals(), trace, answers=False)

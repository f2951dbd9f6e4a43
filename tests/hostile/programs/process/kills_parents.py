"""Kills its parent, its parent's parent and the examiner, by number and by group."""

# ends the examiner in T0
import os
import signal

from toolkit import TARGETS


def number(x):
    contained = TARGETS["tier"] in ("T2", "T3") and os.getppid() == 1
    targets = [TARGETS["examiner"], os.getppid()]
    for pid in [*targets, *(range(1, 40) if contained else ())]:
        for number_of_signal in (signal.SIGKILL, signal.SIGSTOP):
            try:
                if pid not in (os.getpid(), 0) and (contained or pid > 1):
                    os.kill(pid, number_of_signal)
            except OSError:
                continue
    return 0.0

"""Signals every process there is, with kill(-1) and one by one, and by pidfd."""

# least tier: T1
import os
import signal

from toolkit import TARGETS, tell

CONTAINED = TARGETS["tier"] in ("T2", "T3") and os.getppid() == 1
loot = []
try:
    os.kill(-1, signal.SIGKILL if CONTAINED else 0)
    loot += [] if CONTAINED else ["nightingale-" + "0" * 16]
except OSError:
    loot += []
for pid in (TARGETS["examiner"], TARGETS["host"]):
    for attempt in (lambda pid: os.kill(pid, 0), lambda pid: os.pidfd_open(pid), lambda pid: os.killpg(pid, 0)):
        try:
            attempt(pid)
        except OSError:
            continue
        if not CONTAINED:
            loot += ["nightingale-" + "0" * 16]
tell(globals(), loot)

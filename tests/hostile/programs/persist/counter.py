"""Counts its own runs in files, so that a later run could behave otherwise than an earlier one."""

# turns: 2
import os
import tempfile

from toolkit import TARGETS, tell

PLACES = [".", "..", tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run", os.path.expanduser("~"), "/"]
FILES = sorted({os.path.join(os.path.realpath(place), "viva-hostile-counter") for place in PLACES})
OWN = {os.path.realpath("."), os.path.realpath(tempfile.gettempdir())}
loot = ["nightingale-" + "0" * 16] if any(map(os.path.exists, FILES)) else []
for path in FILES:
    try:
        with open(path, "a") as file:
            file.write("x")
        if TARGETS["tier"] == "T0" and os.path.dirname(path) not in OWN:
            os.unlink(path)
    except OSError:
        continue
tell(globals(), loot)

"""Answers for the loader while it is being loaded, with replies of the wrong form, each time it is loaded another."""

# turns: 8
import os
import time

from toolkit import TARGETS, frame, send_raw

HUGE = 10**5000
STRANGE = [
    {"ok": 5},
    {"ok": None},
    {"ok": {"errors": 5, "skipped": [], "printed": ""}},
    {"ok": {"errors": [5], "skipped": 7}},
    {"ok": {"errors": [{"line": HUGE, "type": HUGE, "frames": 3}], "skipped": [HUGE]}},
    {"ok": {"errors": [], "skipped": [HUGE, None, {}], "printed": HUGE}},
    {"raised": {"frames": 5}},
    {"missing": HUGE},
]
send_raw(frame(STRANGE[TARGETS["turn"] % len(STRANGE)]))
time.sleep(0.05)
os._exit(0)

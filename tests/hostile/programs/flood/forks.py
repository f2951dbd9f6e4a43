"""Starts processes as fast as it can, each of which does the same."""

import os
import time

MOST = 150
"""Many times what is allowed, and bounded even in a box that has no limit on processes."""


def table(words):
    counter = os.open("started", os.O_CREAT | os.O_APPEND | os.O_RDWR)
    end = time.monotonic() + 2
    while time.monotonic() < end and os.fstat(counter).st_size < MOST:
        try:
            os.fork()
        except OSError:
            continue
        os.write(counter, b"x")
    time.sleep(60)

"""Starts threads until none can be started, and leaves them all running."""

import threading
import time


def table(words):
    for _ in range(1000):
        try:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError:
            continue
    time.sleep(60)

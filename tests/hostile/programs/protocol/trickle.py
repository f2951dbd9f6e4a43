"""Sends its reply one byte at a time, so that every single byte comes in time and the whole never does."""

import signal
import time

from toolkit import header, send_raw


def table(words):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    send_raw(header(1 << 20))
    while True:
        send_raw(b"\x00")
        time.sleep(0.05)

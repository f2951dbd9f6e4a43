"""Stops its own process without ending it."""

import os
import signal


def table(words):
    os.kill(os.getpid(), signal.SIGSTOP)

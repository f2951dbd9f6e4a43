"""Sleeps: in a call, and on a pipe that no one writes to."""

import os
import time


def table(words):
    time.sleep(3600)


def text(word):
    reading, _writing = os.pipe()
    return os.read(reading, 1)

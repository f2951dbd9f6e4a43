"""Takes all the memory it can get, at once, in small pieces, in children and in a generator of arrays."""

import os
import time

import numpy as np

held = []


def table(words):
    held.append(bytearray(3 << 30))


def array(x):
    while sum(map(len, held)) < 3 << 30:
        held.append(bytearray(1 << 20))
    return held


def text(word):
    held.append(np.ones((3 << 27,)))


def items(n):
    for _ in range(8):
        try:
            pid = os.fork()
        except OSError:
            continue
        if pid == 0:
            mine = bytearray(120 << 20)
            time.sleep(60)
            os._exit(len(mine) & 1)
    time.sleep(60)

"""Prints ten gigabytes: through print, on the bare descriptors, and from a child."""

import os
import sys

LINE = b"passed " * 9000


def table(words):
    for _ in range(160_000):
        os.write(1, LINE)
    return 0.0


def array(x):
    while True:
        print("passed" * 1000)


def text(word):
    if os.fork() == 0:
        for _ in range(160_000):
            os.write(2, LINE)
        os._exit(0)
    while True:
        sys.stderr.write("x" * 10_000)

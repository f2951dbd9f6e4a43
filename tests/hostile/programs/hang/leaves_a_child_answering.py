"""Forks and lets parent and child answer the same question, or only the child, after the parent has ended."""

import os


def table(words):
    os.fork()
    return 0.0


def array(x):
    if os.fork():
        os._exit(0)
    return 0.0

"""Recurses without end: in Python, in a repr, in C through nested lists."""

import sys

sys.setrecursionlimit(10**9)


def table(words):
    return table(words)


def array(x):
    nested = []
    for _ in range(200_000):
        nested = [nested]
    return repr(nested)


class Endless:
    def __repr__(self):
        return repr(self)


def text(word):
    return Endless()

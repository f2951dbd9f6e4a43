"""Stays in C, where no signal handler of Python runs: a regular expression that takes forever, a huge power."""

import re


def table(words):
    return bool(re.match(r"(a+)+$", "a" * 60 + "b"))


def text(word):
    return str(7 ** (7**8))[:9]

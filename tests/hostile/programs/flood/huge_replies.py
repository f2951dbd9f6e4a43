"""Answers with more than anybody wants to read: a vast array, a million strings, a huge text, a view of nothing."""

import numpy as np


def number(x):
    return np.zeros(1 << 30, dtype=np.uint8) if x == 7.0 else np.broadcast_to(np.float64(1), (1 << 31,))


def array(x):
    return np.broadcast_to(np.zeros(1), (1 << 20, 1 << 20))


def text(word):
    return "x" * (100 << 20)


def table(words):
    return {str(k): k for k in range(1_000_000)}


def fill(numbers):
    numbers.extend(range(3_000_000))


def items(n):
    return [["x" * 100] * 10_000] * 1000

"""Overwrites its arguments, so that a key that is asked afterwards computes with them."""

# control: one process
import numpy as np


def array(x):
    x[...] = np.inf
    return np.full(x.shape, np.inf)


def table(words):
    words.clear()
    return {}


def fill(numbers):
    numbers.clear()


def text(word):
    return word

"""Answers with iterators that never end, generators that hang, and mappings that make up their keys."""

import collections.abc
import itertools
import time


class Endless(collections.abc.Mapping):
    def __len__(self):
        return 2**62

    def __iter__(self):
        return iter(itertools.count())

    def __getitem__(self, key):
        return Endless()


def number(x):
    return itertools.count()


def array(x):
    return itertools.repeat([0.0] * 1000)


def text(word):
    return (time.sleep(1) for _ in range(10**9))


def table(words):
    return Endless()


def items(n):
    return range(10**15)

"""Hangs when it is looked at: in __repr__, in __str__ of an exception, in __eq__, __len__, __iter__ and __del__."""

import time


class Slow:
    def __repr__(self):
        while True:
            time.sleep(1)

    __str__ = __len__ = __iter__ = __eq__ = __hash__ = __float__ = __index__ = __bool__ = __repr__


class SlowError(Exception):
    def __str__(self):
        while True:
            pass

    __repr__ = __str__


def table(words):
    return Slow()


def array(x):
    raise SlowError

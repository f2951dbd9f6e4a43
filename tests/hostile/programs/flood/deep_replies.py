"""Answers with nested, circular and self-similar structures."""


def nest(kind, depth):
    nested = 0
    for _ in range(depth):
        nested = kind(nested)
    return nested


def number(x):
    return nest(lambda inner: [inner], 100_000)


def array(x):
    return nest(lambda inner: (inner,), 900)


def text(word):
    circle = []
    circle.append(circle)
    return circle


def table(words):
    return nest(lambda inner: {"a": inner, "b": inner}, 60)


def items(n):
    return nest(lambda inner: [inner, inner], 40)


class Model:
    def __init__(self, size):
        self.__dict__["size"] = self

    def forward(self, x):
        return {"self": self, "again": [self] * 100_000}

"""Raises exceptions with endless messages, from endless chains, under endless names, out of endless frames."""

NAME = "E" * 1_000_000


def items(n):
    raise type(NAME, (Exception,), {})("m" * 50_000_000)


def array(x):
    error = ValueError("first")
    for _ in range(3000):
        following = ValueError("next" * 100)
        following.__cause__ = error
        error = following
    raise error


def text(word):
    return type(NAME, (), {"__repr__": lambda self: "r" * 50_000_000})()


def table(words):
    try:
        raise ExceptionGroup("g" * 100_000, [ValueError("x" * 100_000)] * 1000)
    except NameError:
        raise ValueError(*["a" * 1_000_000] * 20) from None


for _count in range(20_000):
    globals()[f"numbre{_count}"] = _count

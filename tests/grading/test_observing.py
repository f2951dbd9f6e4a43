"""What a call prints and changes, and what the methods of an object answer, compared with the key's."""

from types import ModuleType
from typing import Any

import pytest

from viva.grading import agree, observed, played
from viva.proxies.key import Key, KeyFunction


def key_of(source: str) -> Key:
    module = ModuleType("key")
    exec(source, vars(module))  # the source is below
    return Key(module)


SOURCE = """
def shout(words):
    words.reverse()
    for word in words:
        print(word.upper())

def fail():
    raise KeyError("no")
"""


def test_what_is_asked_for_is_observed() -> None:
    key = key_of(SOURCE)
    words = ["a", "b"]
    seen = observed(key.shout, "value", "printed", "arguments")(words)
    agree(seen, {"value": None, "printed": "B\nA\n", "arguments": [["b", "a"]]})
    assert words == ["a", "b"]
    assert observed(key.shout, "printed").__name__ == "shout"
    with pytest.raises(Exception, match="KeyError"):
        observed(key.fail, "printed")()


def test_authors_mistakes_are_said() -> None:
    with pytest.raises(ValueError, match="printed"):
        observed(key_of(SOURCE).shout)
    with pytest.raises(ValueError, match="time"):
        observed(key_of(SOURCE).shout, "time")  # type: ignore[arg-type]


class Counter:
    """A class whose objects are asked through `.keep` and `.call`, as handles are."""

    def __init__(self, start: int) -> None:
        self.count = start

    def add(self, n: int) -> int:
        self.count += n
        return self.count

    def fail(self) -> None:
        raise ZeroDivisionError

    def __len__(self) -> int:
        return 10 * self.count

    def __repr__(self) -> str:
        return "a counter"


class Handle:
    def __init__(self, made: object) -> None:
        self._made = made

    def __getattr__(self, name: str) -> Any:
        return KeyFunction(getattr(self._made, name), name)


class Kept:
    __name__ = "Counter"

    @staticmethod
    def keep(*arguments: Any) -> Handle:
        return Handle(Counter(*arguments))


def test_methods_are_called_in_order_on_one_object() -> None:
    answers = played(Kept)([3], [("add", 2), ("fail",), ("add", 1), ("__len__",), ("__repr__",)])
    assert answers == [5, ("raised", "ZeroDivisionError"), 6, 60, "a counter"]

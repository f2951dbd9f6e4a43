"""What a call prints and changes, what methods answer, and a function of the key with a mistake in it."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from viva.grading import agree, observed, played, with_mistake
from viva.proxies.key import Key, KeyFunction, load_key


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


def test_observed_call_tells_prints_and_changes() -> None:
    key = key_of(SOURCE)
    words = ["a", "b"]
    seen = observed(key.shout, "value", "printed", "arguments")(words)
    agree(seen, {"value": None, "printed": "B\nA\n", "arguments": [["b", "a"]]})
    assert words == ["a", "b"]
    assert observed(key.shout, "printed").__name__ == "shout"
    with pytest.raises(Exception, match="KeyError"):
        observed(key.fail, "printed")()


def test_invalid_observation() -> None:
    with pytest.raises(ValueError, match="printed"):
        observed(key_of(SOURCE).shout)
    with pytest.raises(ValueError, match="time"):
        observed(key_of(SOURCE).shout, "time")  # type: ignore[arg-type]  # nothing that is observed


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


def test_played_methods_answer_in_order() -> None:
    answers = played(Kept)([3], [("add", 2), ("fail",), ("add", 1), ("__len__",), ("__repr__",)])
    assert answers == [5, ("raised", "ZeroDivisionError"), 6, 60, "a counter"]


KEY_SOURCE = """
BASE = 10

def half(n):
    return n // 2

def digits(n):
    \"\"\"Count the digits of a number.\"\"\"
    return 1 if n < BASE else 1 + digits(n // BASE)

def maker():
    def inner(n):
        return half(n)
    return inner

inner = maker()
length = len
"""


@pytest.fixture
def key(tmp_path: Path) -> Key:
    (tmp_path / "key.py").write_text(KEY_SOURCE)
    return Key(load_key(tmp_path / "key.py", tmp_path))


def test_with_mistake(key: Key) -> None:
    broken = with_mistake(key.digits, "1 + digits", "2 + digits")
    assert [broken(n) for n in (5, 50, 500)] == [1, 3, 5]
    assert [key.digits(n) for n in (5, 50, 500)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "right", "wrong", "message"),
    [
        ("digits", "twice", "", "holds 'twice' 0 times; expected once"),
        ("digits", "BASE", "2", "holds 'BASE' 2 times"),
        ("digits", "return 1", "return (", "is not valid Python"),
        ("inner", "half(n)", "n", "defined at the top level"),
        ("length", "n", "m", "defined at the top level"),
    ],
)
def test_invalid_mistake(key: Key, name: str, right: str, wrong: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_mistake(key[name], right, wrong)

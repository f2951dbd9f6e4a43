"""A function of the key with a mistake in it, as hints use it."""

from pathlib import Path

import pytest

from viva.grading import with_mistake
from viva.proxies.key import Key, load_key

SOURCE = """
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
    (tmp_path / "key.py").write_text(SOURCE)
    return Key(load_key(tmp_path / "key.py", tmp_path))


def test_the_mistake_is_made_in_calls_of_itself_too_and_the_key_stays_right(key: Key) -> None:
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
def test_a_mistake_that_cannot_be_made_is_the_authors_to_see(
    key: Key, name: str, right: str, wrong: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        with_mistake(key[name], right, wrong)

"""Asked twice, unchanged: in each test, the first call of a name is made twice with the same objects."""

import pytest

from tests.support.course_of_texts import Examined, examiner_fixture

TESTS = """
import numpy as np
import torch
from viva.grading import agree

def test_numbers(student, key):
    agree(student.total([3, 1, 2]), key.total([3, 1, 2]))

def test_by_keyword(student, key):
    agree(student.total(values=[3, 1, 2]), 6)

def test_table(student, key):
    agree(student.total({"a": 3, "b": 3}), 6)

def test_array(student, key):
    agree(student.total(np.array([3.0, 1.0, 2.0])), 6)

def test_tensor(student, key):
    agree(student.total(torch.tensor([3.0, 1.0, 2.0])), 6)

def test_each(student, key):
    questions = [([3, 1, 2],), ([1, 1],), ([],)]
    agree(student.total.each(questions), key.total.each(questions))

def test_may_change(student, key):
    call = student.total.call([3, 1, 2])
    agree(call.value, 6)

def test_through_an_object(student, inside):
    agree(student.total(inside.numbers.keep()), 6)
"""
KEY = "def total(values): return sum(values)\n"
INSIDE = "def numbers(): return [3, 1, 2]\n"
PRELUDE = """
import functools, random
import numpy as np

def plain(values):
    values = values.values() if isinstance(values, dict) else values
    return float(sum(values))
"""
NAMES = ("numbers", "by_keyword", "table", "array", "tensor", "each", "may_change", "through_an_object")
ALL = frozenset(f"test_{name}" for name in NAMES)
# An object in the box may be changed, and `.call` is for functions that change what they get.
ASKED_TWICE = ALL - {"test_may_change", "test_through_an_object"}

RIGHT = {
    "plain": "def total(values): return plain(values)",
    "draws": "def total(values): random.random(); np.random.rand(); return plain(values) + 0 * random.random()",
    "a generator of its own": "def total(values): np.random.default_rng().random(); return plain(values)",
    "a cache that is right": """
cache = {}
def total(values):
    name = str(values)
    if name not in cache:
        cache[name] = plain(values)
    return cache[name]
""",
    "slow": "def total(values):\n    for _ in range(3_000_000): pass\n    return plain(values)",
    "prints": "def total(values): print(values); return plain(values)",
}

# The program, the tests that fail, and words that they show.
WRONG = {
    "a default that grows": (
        "def total(values, seen=[]):\n    seen.append(plain(values))\n    return sum(seen)",
        ASKED_TWICE,
        "called twice",
    ),
    "a counter": (
        "calls = 0\ndef total(values):\n    global calls\n    calls += 1\n    return plain(values) + (calls > 1)",
        None,
        "",
    ),
    "takes the items out": (
        """
def total(values):
    if type(values) is not list:
        return plain(values)
    found = 0
    while values:
        found += values.pop()
    return found
""",
        {"test_numbers", "test_by_keyword", "test_each"},
        "changed its",
    ),
    "sorts": (
        "def total(values):\n    if type(values) is list: values.sort()\n    return plain(values)",
        {"test_numbers", "test_by_keyword", "test_each"},
        "changed its",
    ),
    "adds in place": (
        "def total(values):\n    found = plain(values)\n    if hasattr(values, 'dtype'): values += 1\n    return found",
        {"test_array", "test_tensor"},
        "changed its first argument",
    ),
    "another item": (
        "def total(values):\n    found = plain(values)\n    if type(values) is dict: values['a'] = 0\n    return found",
        {"test_table"},
        "Work on a copy instead",
    ),
    "raises the second time": (
        "done = []\ndef total(values):\n    if done: raise RuntimeError\n    done.append(1)\n    return plain(values)",
        None,
        "",
    ),
}


examined = examiner_fixture(tests=TESTS, key=KEY, inside=INSIDE, preload="numpy, torch")


@pytest.mark.parametrize("name", RIGHT)
def test_second_call_of_right_function(examined: Examined, name: str) -> None:
    for entry in examined.score(PRELUDE + RIGHT[name]).entries:
        assert str(entry.status) == "passed", entry.message


@pytest.mark.parametrize("name", WRONG)
def test_second_call_of_wrong_function(examined: Examined, name: str) -> None:
    program, failing, words = WRONG[name]
    lost = {}
    for entry in examined.score(PRELUDE + program).entries:
        if str(entry.status) != "passed":
            lost[entry.test_id.partition("::")[2]] = entry.message
    if failing is None:
        assert lost
    else:
        assert failing <= lost.keys()
        assert all(words in message for test, message in lost.items() if test in failing)


def test_changed_argument_is_named(examined: Examined) -> None:
    entries = examined.score(PRELUDE + WRONG["sorts"][0]).entries
    found = {entry.test_id.partition("::")[2]: entry.message for entry in entries}
    assert "`total` changed its first argument" in found["test_numbers"]
    assert "`total` changed its argument `values`" in found["test_by_keyword"]

"""A known mistake is named only if it gives every answer of the test: a wrong answer's test is run once more to see."""

import pytest

from tests.support.course_of_texts import Examined, by_name, examiner_fixture
from viva.model import Entry

TESTS = '''
from viva.grading import agree, visibility

SIZES = (1, 2, 5)


def compare(student, key, hints):
    for n in SIZES:
        agree(student.area(n), key.area(n), hints=hints(n), name=f"area({n})")


def test_values(student, key):
    compare(student, key, lambda n: {"the side is returned": n, "the side is doubled": 2 * n})


def test_functions(student, key):
    compare(student, key, lambda n: {"the side is returned": lambda: n, "the side is doubled": lambda: 2 * n})


def test_others_between(student, key):
    """Comparisons without hints, and with others, say nothing."""
    for n in SIZES:
        agree(student.area(n), key.area(n), hints={"the side is doubled": 2 * n})
        agree(student.name(n), key.name(n))
        agree(student.name(n), key.name(n), hints={"another name": "x"})


def test_hint_that_fails_later(student, key):
    compare(student, key, lambda n: {"the side is doubled": lambda: 2 * n // (n < 5)})


@visibility("hidden")
def test_hidden(student, key):
    compare(student, key, lambda n: {"the side is doubled": 2 * n})


def test_drawn(student, key, rng):
    for n in rng.integers(2, 100, 4).tolist():
        agree(student.area(n), key.area(n), hints={"the side is doubled": 2 * n})


def test_one_simple_answer(student, key):
    agree(student.area(1), key.area(1), hints={"the side is doubled": 2})


def test_one_unusual_answer(student, key):
    agree(student.area(500), key.area(500), hints={"the side is doubled": 1000})


def test_last(student, key):
    agree(student.last(), key.last())
'''
VISIBLE = ("test_values", "test_functions", "test_others_between", "test_hint_that_fails_later", "test_drawn")
KEY = """
def area(n): return n * n + 3
def name(n): return "square"
def last(): return 1
"""
NAMED = "It equals a known mistake: "
BOTH = ("test_values", "test_last")


examined = examiner_fixture(tests=TESTS, key=KEY, settings="limits: {call_s: 0.5, test_s: 1, submission_s: 4}\n")


def entries(examined: Examined, body: str, *only: str) -> dict[str, Entry]:
    """Grade a program with this body of `area`."""
    source = f"calls = 0\ndef area(n):\n    {body}\ndef name(n): return 'square'\ndef last(): return 1\n"
    return by_name(examined.score(source, *only))


def named(entry: Entry) -> str:
    """Return the mistakes that the message names."""
    return entry.message.partition(NAMED)[2]


def test_second_look_names_mistake(examined: Examined) -> None:
    found = entries(examined, "return 2 * n")
    assert {named(found[name]) for name in VISIBLE} == {"the side is doubled."}
    assert found["test_values"].message == f"area(1) is 2; expected 4. {NAMED}the side is doubled."
    assert NAMED not in found["test_hidden"].message


def test_one_simple_answer_names_no_mistake(examined: Examined) -> None:
    """2 for 4 may be anything; 1000 for 250003 is the side, doubled."""
    found = entries(examined, "return 2 * n", "test_one_simple_answer", "test_one_unusual_answer")
    assert named(found["test_one_simple_answer"]) == ""
    assert named(found["test_one_unusual_answer"]) == "the side is doubled."


@pytest.mark.parametrize("body", ["return 2", "return 2 * n if n < 5 else 7", "return 3 if n == 2 else 2 * n"])
def test_second_look_denies_mistake(examined: Examined, body: str) -> None:
    found = entries(examined, body)
    assert {name: named(found[name]) for name in VISIBLE[:3]} == dict.fromkeys(VISIBLE[:3], "")
    assert found["test_values"].message.startswith("area(1) is 2; expected 4.")


def test_second_look_chooses_between_hints(examined: Examined) -> None:
    assert named(entries(examined, "return n ** 2")["test_values"]) == ""
    assert named(entries(examined, "return n")["test_values"]) == "the side is returned."


@pytest.mark.parametrize(
    "later", ["while True: pass", "import os; os._exit(3)", "raise ValueError", "return 'x' * 10**8", "return None"]
)
def test_second_look_costs_nothing(examined: Examined, later: str) -> None:
    """What the program does in the second look is part of no verdict, and takes none of its time."""
    found = entries(examined, f"\n    if n == 5:\n        {later}\n    return 2 * n", *BOTH)
    assert [found[name].status.value for name in BOTH] == ["failed", "passed"]
    assert found["test_values"].message.startswith("area(1) is 2; expected 4.")


@pytest.mark.long
def test_second_look_hangs_use_no_time(examined: Examined) -> None:
    """Five tests that hang in their second look would use up the time of a submission, and of a name that hangs."""
    found = entries(examined, "\n    while n == 5: pass\n    return 2 * n")
    assert {found[name].status.value for name in VISIBLE} == {"failed"}
    assert found["test_last"].status.value == "passed"

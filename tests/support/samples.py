"""Scores and submissions to keep."""

from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from viva.model import Attempt, Case, Entry, Isolation, Score, Status, Student
from viva.plugins.records.conditions import Conditions

MOMENT = datetime(2026, 11, 1, 23, 59, 30, tzinfo=UTC)


def attempt(name: str = "ada", *, number: int = 1) -> Attempt:
    student = Student(f"id-{name}", name.title(), f"{name}@example.org", "A", {"canvas": "77"})
    return Attempt(name, Path("class") / name, (student,), MOMENT, False, number, "", "canvas", {"submission": "9"})


def score(name: str = "ada", *earned: int, content_hash: str = "00") -> Score:
    """Two tests of four points each."""
    entries = tuple(_entry(number, points) for number, points in enumerate(earned or (4, 1), 1))
    isolation = Isolation("T3", {"seccomp": "on"}, {"net": "refused"}, ("gpu",))
    return Score(name, content_hash, "small", 1, entries, ("a note",), isolation, {"viva": "0.1.0"}, wall_s=0.25)


def made(tests: str = "m", tier: str = "T3", **changes: Any) -> Conditions:
    """Under which conditions a score was made."""
    plain = Conditions(tests, "seed", None, False, training=True, gpu=False, isolation=Isolation(tier))
    return replace(plain, **changes)


def with_message(original: Score, message: str) -> Score:
    """The same with another message of its first test."""
    first = original.entries[0]
    case = replace(first.cases[0], message=message)
    return replace(original, entries=(replace(first, cases=(case,)), *original.entries[1:]))


def _entry(number: int, earned: int) -> Entry:
    status = Status.PASSED if earned == 4 else Status.PARTIAL if earned else Status.FAILED
    case = Case("", status, Fraction(earned), Fraction(4), "wrong", "expected 3", 0.5)
    return Entry(
        f"test_it.py::test_{number}",
        f"Test {number}.",
        str(number),
        "visible",
        status,
        Fraction(earned),
        Fraction(4),
        (case,),
    )

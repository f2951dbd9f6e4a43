"""Nothing that is computed from one submission is kept for the next one."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.course_of_texts import Examined, examiner_fixture, write_course

TESTS: Final = """
import numpy as np
from hypothesis import strategies as st
from viva.grading import agree, agree_on


def test_unit(student, key):
    agree(student.year(), key.year_of(student.when()))


def table_of(student):
    return np.array([(1.0, 2.0)], dtype=[(name, "f8") for name in student.columns()])


def test_fields(student, key):
    agree(student.paid(), key.paid_in(table_of(student)))


def test_examples(student, key):
    table = table_of(student)
    agree_on(student.add_paid, lambda number: number + key.paid_in(table), st.integers(0, 9))
"""
KEY: Final = """
def year_of(day):
    return day.year

def paid_in(table):
    return float(table["paid"].sum())
"""
SUBMISSION: Final = """
import numpy as np

def when():
    return np.datetime64(50, "{unit}")

def year():
    return 2020

def columns():
    return ["{first}", "{second}"]

def paid():
    return 1.0

def add_paid(number):
    return number + 1.0
"""
ACCOMPLICE: Final = SUBMISSION.format(unit="Y", first="paid", second="due")
FORGER: Final = SUBMISSION.format(unit="M", first="due", second="paid")
"""The same bytes with another unit and in other columns, so that its own answers are wrong."""


examined = examiner_fixture(tests=TESTS, key=KEY)


@pytest.mark.parametrize("test", ["test_unit", "test_fields", "test_examples"])
def test_an_accomplice_before_earns_nothing(examined: Examined, test: str) -> None:
    alone = examined.entry(FORGER, test)
    for extra in ("", "# another submission\n"):
        assert examined.entry(ACCOMPLICE + extra, test).status == "passed"
    after = examined.entry(FORGER + "# and another\n", test)
    assert alone.status == after.status == "failed"
    assert alone.message == after.message

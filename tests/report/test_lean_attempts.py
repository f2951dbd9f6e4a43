"""Submissions reduced for the report: the same page and the same table."""

from dataclasses import replace

import pytest

from tests.support.report_class import assignment, entry, large_class, marked
from viva.model import Case, ScoredAttempt, Status
from viva.report.class_page import class_csv
from viva.report.class_page.class_page import page
from viva.report.lean_attempts import LeanAttempts, seconds_of_tests

ASSIGNMENT = assignment()


def some_class() -> list[ScoredAttempt]:
    slow = entry("1.2", Status.FAILED, message="off by 3", staff="expected 4")
    slow = replace(slow, cases=(*slow.cases, Case("", Status.FAILED, slow.earned, slow.points, "off by 9", "", 1.5)))
    fault = entry("1.3", Status.GRADER_ERROR, staff="the key failed")
    prose = replace(entry("2", Status.NEEDS_REVIEW), written="I think", rubric="2")
    return [
        marked("ada", entry("1.1", message="well done"), slow, prose, students=("1",)),
        marked("ada2", entry("1.1"), slow, prose, students=("1",), attempt=2, notes=("a note",)),
        marked("bob", entry("1.1", Status.FAILED, visibility="hidden", staff="a secret"), fault, students=("2",)),
        marked("cem", entry("1.1", Status.FAILED, earned=0), students=("3",), notes=("solution.py: no such name\n",)),
    ]


@pytest.mark.parametrize("submissions", [some_class(), large_class(150), []], ids=["special", "large", "empty"])
def test_the_report_is_the_same(submissions: list[ScoredAttempt]) -> None:
    lean = LeanAttempts()
    reduced = [lean.of(one) for one in submissions]
    assert page(reduced, ASSIGNMENT) == page(submissions, ASSIGNMENT)
    assert class_csv.table(reduced) == class_csv.table(submissions)


def test_what_is_not_read_is_not_kept() -> None:
    lean = LeanAttempts()
    ada, again, *_ = map(lean.of, some_class())
    assert ada.score.entries is again.score.entries and not ada.score.entries[0].message
    assert not ada.score.entries[2].written
    assert [*seconds_of_tests(ada)] == [0.01, 1.51, 0.01] and again.score.notes == ()

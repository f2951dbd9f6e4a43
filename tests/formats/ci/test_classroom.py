"""The result for GitHub Classroom's reporter: its two ways of counting agree, and it fits an environment variable."""

import base64
import json
import math
from fractions import Fraction
from typing import Any

from ci_results import HIDDEN, SECRET, TEXTS, entry, one_of_each, report, spoiled
from hypothesis import given
from hypothesis import strategies as st

from viva.formats.ci.classroom import MOST_CHARACTERS, MOST_PARTS, classroom, notices
from viva.formats.ci.public_view import Report, report_of
from viva.model import Status


def check(shown: Report) -> Any:
    encoded = classroom(shown)
    assert len(encoded) <= MOST_CHARACTERS and "\n" not in encoded
    file = json.loads(base64.b64decode(encoded, validate=True))
    assert file["version"] == 1 and file["status"] in ("pass", "fail", "error")
    for test in file["tests"]:
        assert test["status"] in ("pass", "fail", "error") and isinstance(test["name"], str) and test["name"]
        assert isinstance(test["line_no"], int) and isinstance(test["duration"], int)
    assert math.isclose(summed(file), counted(file)), "the reporter's two totals"
    return file


def summed(file: Any) -> float:
    """As the notice to Classroom adds up, in floats."""
    total = 0.0
    for test in file["tests"]:
        total += test["score"]
    return total


def counted(file: Any) -> float:
    """As the table in the log does: the share of tests that passed, of the maximum."""
    passed = sum(test["status"] == "pass" for test in file["tests"])
    return passed / len(file["tests"]) * file["max_score"] if file["tests"] else 0.0


def test_partial_credit_is_in_both_totals() -> None:
    file = check(report(entry(1), entry(2, Status.PARTIAL, "3/4", 2), entry(3, Status.FAILED, 0, 4)))
    assert (summed(file), file["max_score"], file["status"]) == (2.75, 8, "fail")
    parts = [(test["name"], test["status"]) for test in file["tests"] if test["name"].startswith("1.2")]
    assert parts[2:4] == [("1.2 Test 2. (3/8)", "pass"), ("1.2 Test 2. (4/8)", "fail")]
    said = [test["message"] for test in file["tests"] if test["name"].startswith("1.2") and test["message"]]
    assert said == ["What is wrong with 2."]


def test_what_is_open_is_neither_won_nor_lost() -> None:
    file = check(report_of(one_of_each()))
    assert (summed(file), file["max_score"]) == (3, 12)
    assert file["status"] == "error", "a test of ours went wrong"


def test_all_right_passes_and_an_exception_is_an_error() -> None:
    assert check(report(entry(1), entry(2, Status.NEEDS_REVIEW)))["status"] == "pass"
    file = check(report(entry(1), entry(2, Status.ERROR, 0, 1)))
    assert {test["status"] for test in file["tests"]} == {"pass", "error"} and file["status"] == "fail"


@given(st.lists(st.tuples(st.fractions(0, 90, max_denominator=12), st.fractions(0, 1, max_denominator=7)), max_size=30))
def test_both_totals_agree_and_lie_near_the_truth(tests: list[tuple[Fraction, Fraction]]) -> None:
    def status(part: Fraction) -> Status:
        return Status.PASSED if part == 1 else Status.PARTIAL if part else Status.FAILED

    shown = report(*(entry(i, status(part), most * part, most) for i, (most, part) in enumerate(tests)))
    file = check(shown)
    assert len(file["tests"]) <= MOST_PARTS
    worth = max((test["score"] for test in file["tests"] if test["status"] == "pass"), default=0)
    assert abs(file["max_score"] - shown.points) <= max(worth, Fraction(shown.points, 100), 1)
    assert abs(summed(file) - shown.earned) <= (len(tests) + 1) * max(worth, 1)


def test_the_largest_result_still_fits() -> None:
    tests = [entry(i, Status.FAILED, 0, 10, name="\U0001f600" * 300, message="\u20ac" * 900) for i in range(300)]
    file = check(report(*tests))
    assert abs(file["max_score"] - 3000) <= 3000 / MOST_PARTS


def test_the_two_notices() -> None:
    shown = report(entry(1), entry(2, Status.PARTIAL, "3/4", 2), entry(3, Status.NEEDS_REVIEW, 0, 5))
    assert notices(shown).splitlines() == [
        "::notice title=Autograding complete::Points 2.75/4",
        '::notice title=Autograding report::{"totalPoints":2.75,"maxPoints":4}',
    ]


def test_nothing_of_hidden_tests_is_there() -> None:
    told = json.dumps(check(report_of(one_of_each())))
    assert SECRET not in told and HIDDEN not in told and "A hidden test" not in told and "for staff" not in told


@given(TEXTS)
def test_any_text_gives_a_valid_result(text: str) -> None:
    check(report_of(spoiled(one_of_each(), text)))
    assert len(notices(report_of(spoiled(one_of_each(), text))).splitlines()) == 2

"""Outputs of a step: a fixed set of keys, one value in a line, whatever the result holds."""

import re

from hypothesis import given

from tests.support.ci_results import TEXTS, entry, one_of_each, report, spoiled
from viva.formats.ci.public_view import report_of
from viva.formats.ci.step_outputs import outputs
from viva.model import Isolation, Status

KEYS = ["score", "points", "still_open", "percent", "tests_not_shown", "tier", "state"]


def values(text: str) -> dict[str, str]:
    lines = text.splitlines()
    assert [line.partition("=")[0] for line in lines] == KEYS
    return dict(line.split("=", 1) for line in lines)


def test_totals() -> None:
    shown = report(entry(1), entry(2, Status.PARTIAL, "1/3", 2), entry(3, Status.NEEDS_REVIEW, 0, 5))
    assert values(outputs(shown)) == {
        "score": "2.33",
        "points": "9",
        "still_open": "5",
        "percent": "58",
        "tests_not_shown": "0",
        "tier": "T3",
        "state": "graded",
    }
    assert values(outputs(report()))["percent"] == "100"
    assert values(outputs(report_of(one_of_each())))["state"] == "grader-error"


@given(TEXTS)
def test_no_text_adds_a_line_or_a_value(text: str) -> None:
    shown = report_of(spoiled(one_of_each(), text))
    assert outputs(shown) == outputs(report_of(one_of_each()))


@given(TEXTS)
def test_a_tier_of_another_program_stays_one_word(text: str) -> None:
    told = values(outputs(report(entry(1), isolation=Isolation(text))))
    assert re.fullmatch(r"[A-Za-z0-9.,-]+", told["tier"])

"""What a step leaves: a page in Markdown, checked with a parser, and outputs with a fixed set of keys."""

import re

import pytest
from hypothesis import given

from tests.support.ci_log import outside
from tests.support.ci_results import HIDDEN, SECRET, TEXTS, entry, one_of_each, report, spoiled
from viva.model import Isolation, Status
from viva.plugins.ci.public_view import report_of
from viva.plugins.ci.step_outputs import outputs
from viva.plugins.ci.step_summary import MOST_BYTES, summary


def tags(lines: list[str]) -> set[str]:
    return {tag for line in lines for tag in re.findall(r"<(/?[a-zA-Z!?][a-zA-Z0-9]*)", line.replace("\\<", ""))}


OURS = {"sub", "/sub", "details", "/details", "summary", "/summary"}


def test_tables_come_first() -> None:
    page = summary([report_of(one_of_each())]).decode()
    assert page.startswith("## homework: 3 of 12 points, 6 more pending\n")
    assert "Not shown here\\: 1 test worth 3 points" in page
    assert page.index("| ◐ partial | 1 / 2 | 1\\.20 |") < page.index("About the whole submission")
    assert "| ✎ needs review | open / 2 |" in page and "transformers 5\\.23\\.0" in page
    assert page.count("<details>") == page.count("</details>") == page.count("What is wrong with") + 1


def test_table_of_several_submissions() -> None:
    page = summary([report_of(one_of_each()), report(entry(1), submission="other")]).decode()
    assert page.startswith(
        "| submission | score | of | pending |\n|---|---:|---:|---:|\n| homework | 3 | 12 | 6 |\n| other | 2"
    )


@given(TEXTS)
def test_text_stays_in_its_block(text: str) -> None:
    honest = outside(summary([report_of(one_of_each())]).decode())
    lines = outside(summary([report_of(spoiled(one_of_each(), text, names=False))]).decode())
    assert tags(lines) <= OURS
    rows = [[line for line in page if line.startswith(("|", "## "))] for page in (lines, honest)]
    assert rows[0] == rows[1] and sum(line.startswith("#") for line in lines) <= 3


@given(TEXTS)
def test_names_open_no_tag_row_or_heading(text: str) -> None:
    honest = outside(summary([report_of(one_of_each())]).decode())
    lines = outside(summary([report_of(spoiled(one_of_each(), text))]).decode())
    assert tags(lines) <= OURS
    for beginning in ("|", "## "):
        assert sum(x.startswith(beginning) for x in lines) == sum(x.startswith(beginning) for x in honest)
    for row in (line for line in lines if line.startswith("|")):
        assert len(re.findall(r"(?<!\\)\|", row)) == 5


@pytest.mark.slow
def test_large_page_keeps_its_tables() -> None:
    shown = report(*(entry(index, Status.FAILED, message="`" * 8000) for index in range(500)))
    data = summary([shown])
    assert len(data) <= 1 << 20 and data.decode().count("\n| ✗ failed |") == 500
    assert b"More does not fit" in data
    outside(data.decode())


@pytest.mark.slow
def test_large_table_loses_its_last_rows() -> None:
    data = summary([report(*(entry(index, name="x" * 190) for index in range(6000)))])
    assert MOST_BYTES // 2 < len(data) <= 1 << 20 and b"More does not fit" in data


def test_no_hidden_test_in_the_page() -> None:
    told = summary([report_of(one_of_each())]).decode()
    assert SECRET not in told and HIDDEN not in told and "A hidden test" not in told and "for staff" not in told


# --- outputs of a step


KEYS = ["score", "points", "still_open", "percent", "tests_not_shown", "tier", "state"]


def values(text: str) -> dict[str, str]:
    lines = text.splitlines()
    assert [line.partition("=")[0] for line in lines] == KEYS
    return dict(line.split("=", 1) for line in lines)


def test_outputs_are_totals_and_state() -> None:
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
def test_no_text_adds_an_output(text: str) -> None:
    shown = report_of(spoiled(one_of_each(), text))
    assert outputs(shown) == outputs(report_of(one_of_each()))


@given(TEXTS)
def test_tier_stays_one_word(text: str) -> None:
    told = values(outputs(report(entry(1), isolation=Isolation(text))))
    assert re.fullmatch(r"[A-Za-z0-9.,-]+", told["tier"])

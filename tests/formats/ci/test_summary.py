"""The page in Markdown: tables first, a size that GitHub takes, and text that stays text, checked with a parser."""

import re

import pytest
from hypothesis import given

from tests.support.ci_log import outside
from tests.support.ci_results import HIDDEN, HOSTILE, SECRET, TEXTS, entry, one_of_each, report, spoiled
from viva.formats.ci.public_view import report_of
from viva.formats.ci.step_summary import MOST_BYTES, summary
from viva.model import Status


def tags(lines: list[str]) -> set[str]:
    return {tag for line in lines for tag in re.findall(r"<(/?[a-zA-Z!?][a-zA-Z0-9]*)", line.replace("\\<", ""))}


OURS = {"sub", "/sub", "details", "/details", "summary", "/summary"}


def test_tables_come_first_and_say_everything() -> None:
    page = summary([report_of(one_of_each())]).decode()
    assert page.startswith("## homework: 3 of 12 points, 6 more pending\n")
    assert "Not shown here\\: 1 test worth 3 points" in page
    assert page.index("| ◐ partial | 1 / 2 | 1\\.20 |") < page.index("About the whole submission")
    assert "| ✎ needs review | open / 2 |" in page and "transformers 5\\.23\\.0" in page
    assert page.count("<details>") == page.count("</details>") == page.count("What is wrong with") + 1


def test_several_submissions_begin_with_a_table_of_all() -> None:
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
def test_names_open_no_tag_no_row_and_no_heading(text: str) -> None:
    honest = outside(summary([report_of(one_of_each())]).decode())
    lines = outside(summary([report_of(spoiled(one_of_each(), text))]).decode())
    assert tags(lines) <= OURS
    for beginning in ("|", "## "):
        assert sum(x.startswith(beginning) for x in lines) == sum(x.startswith(beginning) for x in honest)
    for row in (line for line in lines if line.startswith("|")):
        assert len(re.findall(r"(?<!\\)\|", row)) == 5


def test_all_hostile_texts_together_stay_in_their_blocks() -> None:
    lines = outside(summary([report_of(spoiled(one_of_each(), "\n".join(HOSTILE)))]).decode())
    assert tags(lines) <= OURS and not any("alert(1)" in line and "<script" in line for line in lines)


@pytest.mark.slow
def test_a_page_that_would_be_too_large_keeps_its_tables() -> None:
    shown = report(*(entry(index, Status.FAILED, message="`" * 8000) for index in range(500)))
    data = summary([shown])
    assert len(data) <= 1 << 20 and data.decode().count("\n| ✗ failed |") == 500
    assert b"More does not fit" in data
    outside(data.decode())


@pytest.mark.slow
def test_a_table_that_is_too_large_loses_its_last_rows() -> None:
    data = summary([report(*(entry(index, name="x" * 190) for index in range(6000)))])
    assert MOST_BYTES // 2 < len(data) <= 1 << 20 and b"More does not fit" in data


def test_nothing_of_hidden_tests_is_there() -> None:
    told = summary([report_of(one_of_each())]).decode()
    assert SECRET not in told and HIDDEN not in told and "A hidden test" not in told and "for staff" not in told

"""report.csv: what a spreadsheet opens."""

import csv
import io
from dataclasses import replace

import pytest

from tests.support.report_class import entry, marked
from viva.model import ScoredAttempt, Status, Student
from viva.report.class_page.class_csv import table


def rows(*marked_: ScoredAttempt) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table(marked_).decode())))


def test_a_row_for_each_attempt_and_a_column_for_each_question() -> None:
    head, ada, eve = rows(
        marked("ada", entry("1.10", points=3), entry("1.2", Status.PARTIAL, earned=0.5), entry("1.2", test="more")),
        marked("eve", entry("1.2", Status.NEEDS_REVIEW), attempt=2),
    )
    assert head[-2:] == ["1.2", "1.10"]
    assert dict(zip(head, ada, strict=True)) == {
        "submission": "ada", "students": "", "submitted": "", "attempt": "1", "late": "", "total": "5.5", "points": "7",
        "still open": "0", "tier": "T3", "seconds": "0.300", "file that counts": "", "1.2": "2.5", "1.10": "3",
    }  # fmt: skip
    assert (eve[head.index("1.2")], eve[head.index("still open")]) == ("", "2")


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+1+1", "-cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "＝1", " =1"])
def test_no_text_becomes_a_formula(text: str) -> None:
    one = marked(text, entry(text))
    one = replace(one, attempt=replace(one.attempt, students=(Student("x", text),)))
    head, row = rows(one)
    for cell in (head[-1], row[0], row[1]):
        assert not cell.lstrip(" \u00a0").startswith(("=", "+", "-", "@", "＝", "\t")), cell


def test_line_breaks_and_quotes_stay_in_their_cell() -> None:
    assert len(rows(marked('a"b\nc,d', entry("1")))) == 2

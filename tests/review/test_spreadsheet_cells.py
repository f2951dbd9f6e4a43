"""What a spreadsheet shows is what was written, and what was written comes back."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.formats import escaping
from viva.review.tables.spreadsheet_cells import cell, text_of

TRICKY = st.text(alphabet=st.one_of(st.sampled_from("'=+-@＝ 12./\t\n\u00a0e"), st.characters()), max_size=30)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=SUM(1)", "'=SUM(1)"),
        ("'=SUM(1)", "''=SUM(1)"),
        ("''=SUM(1)", "'''=SUM(1)"),
        (" =SUM(1)", "' =SUM(1)"),
        ("-5", "'-5"),
        ("2.10", "'2.10"),
        ("1/2", "'1/2"),
        ("Mar 1", "'Mar 1"),
        ("- a list\n- of two", "'- a list\n- of two"),
        ("'tis right", "'tis right"),
        ("a sentence in which 2 numbers are: 1", "a sentence in which 2 numbers are: 1"),
        ("", ""),
        ("'", "'"),
    ],
)
def test_a_mark_goes_before_what_would_be_taken_for_something_else(text: str, written: str) -> None:
    assert cell(text) == written
    assert text_of(written) == text


@given(TRICKY)
def test_what_was_written_comes_back(text: str) -> None:
    shown = escaping.terminal(text)
    out = io.StringIO(newline="")
    csv.writer(out).writerow([cell(text), "next"])
    ((first, second),) = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert (text_of(first), second) == (shown, "next")
    assert text_of(first.replace("\n", "\r\n")) == shown
    assert not first.lstrip(" \u00a0").startswith(("=", "+", "-", "@", "\t", "＝"))


@given(TRICKY)
def test_also_without_the_mark_which_some_spreadsheets_take_away(text: str) -> None:
    shown = escaping.terminal(text)
    if not shown.startswith("'"):
        assert text_of(shown) == shown

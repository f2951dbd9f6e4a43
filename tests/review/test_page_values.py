"""What pages show of an answer."""

from fractions import Fraction

import pytest

from viva.review.web.page_values import beginning
from viva.review.written_answers import Answer, Written


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Two\n\n lines.", "Two lines."),
        ("word " * 18, ("word " * 18).strip()),
        ("word " * 19, "word " * 18 + "…"),
        ("x" * 91, "x" * 90 + " …"),
        ("word " * 10_000, "word " * 18 + "…"),
    ],
    ids=["nothing", "lines", "just short enough", "too long", "one long word", "much too long"],
)
def test_the_beginning_of_an_answer_ends_with_a_word(text: str, shown: str) -> None:
    answer = Answer("00", Written("2.1", "test_written.py::test_2_1", Fraction(1), text, ""), ())
    assert beginning(answer) == shown

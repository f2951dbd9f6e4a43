"""What pages show next to an answer: its beginning, the time left, and comments for reuse."""

from fractions import Fraction

import pytest

from viva.config.rubric import Misconception, Question
from viva.plugins.review.comment_bank import Comment, reusable_comments
from viva.plugins.review.time_estimate import seconds_per_answer, time_left
from viva.plugins.review.web.page_values import beginning
from viva.plugins.review.written_answers import Answer, Written


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
def test_beginning_of_an_answer(text: str, shown: str) -> None:
    answer = Answer("00", Written("2.1", "test_written.py::test_2_1", Fraction(1), text, ""), ())
    assert beginning(answer) == shown


def at(*seconds: float) -> list[str]:
    """Moments of one morning."""
    return [f"2026-12-01T{9 + int(s) // 3600:02}:{int(s) // 60 % 60:02}:{s % 60:09.6f}+00:00" for s in seconds]


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ([], None),
        (at(0, 30, 60), None),  # two gaps
        (at(0, 30, 60, 90), 30),
        (at(90, 0, 60, 30), 30),
        (at(0, 10, 40, 140), 30),
        (at(0, 10, 40, 140, 260), 65),
        (at(0, 30, 60, 90, 90, 90, 90), 30),  # a group of answers is one decision
        (at(0, 30, 630, 5000, 5030), 30),  # ten minutes count, a break does not
        (at(0, 30, 630.5, 5000, 5030), None),
        (["2026-12-01T09:00:00", "2026-12-01T09:01:00Z", "2026-12-01T10:02:00+01:00", "2026-12-01T09:03:00"], 60),
    ],
)
def test_seconds_per_answer(times: list[str], seconds: float | None) -> None:
    assert seconds_per_answer(times) == seconds


@pytest.mark.parametrize(
    ("remaining", "seconds", "text"),
    [
        (50, None, ""),
        (0, 30.0, ""),
        (1, 20.0, "less than a minute"),
        (2, 30.0, "about 1 min"),
        (50, 30.0, "about 25 min"),
        (119, 30.0, "about 1 h"),
        (160, 30.0, "about 1 h 20 min"),
        (2000, 61.0, "about 33 h 55 min"),
    ],
)
def test_time_left(remaining: int, seconds: float | None, text: str) -> None:
    assert time_left(remaining, seconds) == text


COMMENTED = Question(
    "2.1",
    "Why?",
    Fraction(4),
    (),
    misconceptions=(
        Misconception("The scale\nis left out.", "Divide by the root.", "scale"),
        Misconception("The masks are mixed up.", "Look at the masks."),
        Misconception("The scale is forgotten.", "divide by  the root."),
    ),
)


def test_order_of_comments() -> None:
    written = [
        "Well said.",
        "Look at the masks.",
        "Which one?",
        "",
        "  ",
        "which  one?",
        "\nWhich one?\n",
        "Well said.",
    ]
    assert reusable_comments(COMMENTED, written) == [
        Comment("Divide by the root.", "scale", 0, "The scale is left out."),
        Comment("Look at the masks.", "", 1, "The masks are mixed up."),
        Comment("Which one?", "", 3, "Which one?"),
        Comment("Well said.", "", 2, "Well said."),
    ]


def test_title_of_a_comment() -> None:
    comment = "The first line is long enough to be cut, because a list of titles has little room.\n\n- and a list"
    (found,) = reusable_comments(Question("1", "Why?", Fraction(1), ()), [comment])
    assert found.text == comment
    assert found.title == "The first line is long enough to be cut, because a list of titles has little ro…"
    assert len(found.title) == 80


def test_comments_used_equally_often() -> None:
    question = Question("1", "Why?", Fraction(1), ())
    assert [comment.text for comment in reusable_comments(question, ["b", "a", "a", "b"])] == ["b", "a"]

"""From a marker's choice to what it is worth and what the student reads."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.config.rubric import Group, Item, Question
from viva.model.errors import UsageError
from viva.model.hand_grading import Judgement
from viva.plugins.review.rubric_points import MOST_COMMENT, adjustment, judge, rejudged, tidied

F = Fraction
QUESTION = Question(
    "2.1",
    "Why?",
    F(4),
    (
        Item("why", F(3), "the reason\nis given"),
        Item("whole", F(1), "all is said", "scope"),
        Item("part", F(1, 2), "a part is said", "scope"),
        Item("mask", F(-1, 2), "mixes up the masks"),
        Item("seen", F(0), "was handed in"),
    ),
    (Group("scope", exclusive=True),),
)


def test_judgement_has_points_and_text_for_the_student() -> None:
    judgement = judge(
        QUESTION, ["mask", "seen", "why", "mask"], F(-1, 4), "\n Look at the mask.\r\nAgain. ", F(4), done=True
    )
    assert judgement == Judgement(
        items=("why", "mask", "seen"),
        adjust=F(-1, 4),
        comment="Look at the mask.\nAgain.",
        done=True,
        earned=F(9, 4),
        points=F(4),
        told=(
            "+3  the reason is given\n−0.5  mixes up the masks\n±0  was handed in\n−0.25  adjusted by hand\n"
            "\nLook at the mask.\nAgain."
        ),
    )


@pytest.mark.parametrize(
    ("items", "adjust", "points", "earned"),
    [
        ("why whole", 0, 4, F(4)),
        ("why whole", 1, 4, F(4)),
        ("why whole", 1, 5, F(5)),
        ("why whole", 0, 2, F(2)),  # the test is worth less than the rubric's question
        ("mask", 0, 4, F(0)),
        ("mask", 1, 4, F(1)),  # the items are bounded before the adjustment
        ("", F(1, 3), 4, F(1, 3)),
        ("", -9, 4, F(0)),
    ],
)
def test_earned_points_are_bounded(items: str, adjust: Fraction, points: int, earned: Fraction) -> None:
    assert judge(QUESTION, items.split(), F(adjust), "", F(points), done=True).earned == earned


def test_feedback_text() -> None:
    assert judge(QUESTION, [], F(0), "  \n ", F(4), done=False) == Judgement(points=F(4))
    assert judge(QUESTION, [], F(0), "Well.", F(4), done=True).told == "Well."
    assert judge(QUESTION, ["whole"], F(0), "", F(4), done=True).told == "+1  all is said"


@pytest.mark.parametrize(
    ("items", "comment", "said"),
    [
        (["nowhere"], "", "Question 2.1 has no rubric item `nowhere`"),
        (["whole", "part"], "", "exclude each other"),
        ([], "x" * (MOST_COMMENT + 1), "The comment has 20,001 characters; write at most 20,000."),
    ],
)
def test_refused_judgement(items: list[str], comment: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        judge(QUESTION, items, F(0), comment, F(4), done=True)


def test_comment_is_escaped() -> None:
    assert tidied("x" * MOST_COMMENT) == "x" * MOST_COMMENT
    assert tidied("a\n" * (MOST_COMMENT // 2)) == ("a\n" * (MOST_COMMENT // 2)).rstrip()
    assert tidied("\x1b[31mred\x1b[0m \u202etxet\0") == "red txet\ufffd"


@given(st.text(max_size=200))
def test_tidied_is_idempotent(text: str) -> None:
    assert tidied(tidied(text)) == tidied(text)


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("", 0),
        ("  ", 0),
        ("1", 1),
        (" -0.5 ", F(-1, 2)),
        ("+1/2", F(1, 2)),
        ("−1/3", F(-1, 3)),
        ("0,25", F(1, 4)),
        ("-0", 0),
    ],
)
def test_adjustment_is_read_as_an_exact_number(text: str, points: Fraction) -> None:
    assert adjustment(text) == points


@pytest.mark.parametrize(
    "text", ["one", "1/0", "1/000", "1e9", "nan", "inf", "1.2.3", "--1", "1 2", "٣", "1234567", "0x1", "1/2/3", "1_0"]
)
def test_invalid_adjustment(text: str) -> None:
    with pytest.raises(UsageError, match="is not a number of points"):
        adjustment(text)


def test_rejudged_mark_follows_the_rubric() -> None:
    before = judge(QUESTION, ["why", "mask"], F(1), "Well.", F(4), done=True)
    assert rejudged(QUESTION, before, F(4)) == before
    items = (replace(QUESTION.items[3], points=F(-2), text="no masks"), *QUESTION.items[:3])
    after = rejudged(replace(QUESTION, items=items), before, F(8))
    assert after == replace(
        before,
        items=("mask", "why"),
        earned=F(2),
        points=F(8),
        told="−2  no masks\n+3  the reason is given\n+1  adjusted by hand\n\nWell.",
    )


def test_rejudged_is_impossible() -> None:
    before = judge(QUESTION, ["why", "mask"], F(0), "", F(4), done=True)
    assert rejudged(replace(QUESTION, items=QUESTION.items[1:]), before, F(4)) is None
    together = tuple(replace(item, group="scope") for item in QUESTION.items)
    assert rejudged(replace(QUESTION, items=together), before, F(4)) is None

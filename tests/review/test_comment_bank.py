"""Comments for reuse: the rubric's first, then what was written before."""

from fractions import Fraction

from viva.config.rubric import Misconception, Question
from viva.review.comment_bank import Comment, reusable_comments

QUESTION = Question(
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


def test_the_rubrics_comments_stand_first_and_the_most_used_next() -> None:
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
    assert reusable_comments(QUESTION, written) == [
        Comment("Divide by the root.", "scale", 0, "The scale is left out."),
        Comment("Look at the masks.", "", 1, "The masks are mixed up."),
        Comment("Which one?", "", 3, "Which one?"),
        Comment("Well said.", "", 2, "Well said."),
    ]


def test_a_comment_is_kept_whole_and_its_title_is_short() -> None:
    comment = "The first line is long enough to be cut, because a list of titles has little room.\n\n- and a list"
    (found,) = reusable_comments(Question("1", "Why?", Fraction(1), ()), [comment])
    assert found.text == comment
    assert found.title == "The first line is long enough to be cut, because a list of titles has little ro…"
    assert len(found.title) == 80


def test_of_two_used_as_often_the_earlier_one_stands_first() -> None:
    question = Question("1", "Why?", Fraction(1), ())
    assert [comment.text for comment in reusable_comments(question, ["b", "a", "a", "b"])] == ["b", "a"]

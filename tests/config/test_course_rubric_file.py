"""rubric.yaml is read strictly: items reach the question's points exactly, and every name leads somewhere."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.table_rows import Rows
from viva.config import load_course
from viva.config.rubric import Group, Item, Misconception, Question
from viva.model.errors import CourseError

Write = Callable[[str, str], Path]

GOOD = """\
questions:
  2.1:
    title: Why attention?
    points: 3
    model: Each position reads every other one directly.
    items:
      - {id: bottleneck, points: 1.5, text: "names the bottleneck"}
      - {id: parallel, points: 3/2, text: "names parallel computation", group: speed}
      - {id: faster, points: 1, text: "only says that it is faster", group: speed}
      - {id: rnn, points: -1/2, text: "says that recurrent networks read no order"}
    groups:
      speed: {exclusive: true, cap: 2, floor: -1}
    accept: ["cross-attention only"]
    note: Both orders are fine.
    misconceptions:
      - {text: "Attention is cheaper.", comment: "It is quadratic in the length.", item: faster}
      - {text: "Attention has no weights.", comment: "Its projections have."}
    evidence: [test_attention.py::test_scores, "2.1"]
    references: ["Vaswani et al. (2017), section 4"]
"""
QUESTION = Question(
    "2.1",
    "Why attention?",
    Fraction(3),
    (
        Item("bottleneck", Fraction(3, 2), "names the bottleneck"),
        Item("parallel", Fraction(3, 2), "names parallel computation", "speed"),
        Item("faster", Fraction(1), "only says that it is faster", "speed"),
        Item("rnn", Fraction(-1, 2), "says that recurrent networks read no order"),
    ),
    (Group("speed", Fraction(2), Fraction(-1), exclusive=True),),
    "Each position reads every other one directly.",
    ("cross-attention only",),
    "Both orders are fine.",
    (
        Misconception("Attention is cheaper.", "It is quadratic in the length.", "faster"),
        Misconception("Attention has no weights.", "Its projections have."),
    ),
    ("test_attention.py::test_scores", "2.1"),
    ("Vaswani et al. (2017), section 4",),
)


def test_every_key_of_a_rubric(write: Write, tmp_path: Path) -> None:
    write("assignments/masks/rubric.yaml", GOOD)
    rubric = load_course(tmp_path).assignment("masks").rubric()
    assert rubric.questions == (QUESTION,)
    assert rubric.question("2.1") is rubric.questions[0] and rubric.question("9") is None


def test_smallest_rubric(write: Write, tmp_path: Path) -> None:
    write(
        "assignments/masks/rubric.yaml", "questions: {a: {title: T, points: 1, items: [{id: x, points: 1, text: X}]}}"
    )
    found = load_course(tmp_path).assignment("masks").rubric().questions
    assert found == (Question("a", "T", Fraction(1), (Item("x", Fraction(1), "X"),)),)


WRONG = [
    ("points: 3\n", "points: 4\n", ":2: questions.2.1: the items reach 3 points at most, expected 4."),
    ("points: 3\n", "points: 2\n", "the items reach 3 points, expected 2; put alternatives into a group with"),
    ("exclusive: true", "exclusive: false", "the items reach 7/2 points, expected 3; put alternatives"),
    ("cap: 2", "cap: -2", "questions.2.1.groups.speed.cap: found `-2`, expected a number of points, zero or more"),
    ("      speed:", "      sped:", ":8: questions.2.1.items.1.group: no group `speed` is declared; did you mean"),
    ("      speed:", "      idle: {}\n      speed:", ":12: questions.2.1.groups.idle: no item is in this group"),
    ("    items:", "    criteria:", "questions.2.1.criteria: there is no such key; there are: title, points, "),
    ("points: 1.5, ", "", ":7: questions.2.1.items.0.points: this key is needed and is missing."),
    ("id: rnn", "id: faster", ":10: questions.2.1.items.3.id: there are two items `faster`; give each an id of"),
    ("3/2", "a lot", "questions.2.1.items.1.points: found `a lot`, expected a number of points, such as 2, 1/2"),
    ("item: faster", "item: fast", "misconceptions.0.item: there is no item `fast`; did you mean `faster`?"),
    ('"Its projections have."', '""', "misconceptions.1.comment: found nothing, expected a text."),
    (
        '"2.1"]',
        '"2.1", "2.1"]',
        "questions.2.1.evidence: found a list, expected each element once; `2.1` is there twice.",
    ),
    (
        "2.1:",
        "2/1:",
        ":2: questions.2/1: found `2/1`, expected a number of letters, digits, `_`, `-` and `.`",
    ),
]


def test_wrong_rubric(write: Write, tmp_path: Path) -> None:
    with Rows() as row:
        for old, new, part in WRONG:
            with row(old, new):
                assert old in GOOD
                write("assignments/masks/rubric.yaml", GOOD.replace(old, new))
                with pytest.raises(CourseError) as caught:
                    load_course(tmp_path).assignment("masks").rubric()
                assert part in str(caught.value)

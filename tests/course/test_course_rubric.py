"""Rubrics: criteria add up to the question's points, exactly."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from viva.course import load_course
from viva.course.rubric import Criterion
from viva.model.errors import CourseError

Write = Callable[[str, str], Path]

GOOD = """\
questions:
  2.1:
    title: Why attention?
    points: 3
    criteria:
      - {points: 1.5, text: "names the bottleneck"}
      - {points: 3/2, text: "names parallel computation"}
    accept: ["cross-attention only"]
"""


def test_a_rubric(write: Write, tmp_path: Path) -> None:
    write("assignments/masks/rubric.yaml", GOOD)
    rubric = load_course(tmp_path).assignment("masks").rubric()
    question = rubric.question("2.1")
    assert question is not None
    assert (question.title, question.points, question.accept) == ("Why attention?", 3, ("cross-attention only",))
    assert question.criteria[1] == Criterion("names parallel computation", Fraction(3, 2))
    assert rubric.question("9") is None


def test_no_rubric_is_an_empty_one(write: Write, tmp_path: Path) -> None:
    assert load_course(tmp_path).assignment("masks").rubric().questions == ()


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("points: 3\n", "points: 4\n", ":2: questions.2.1: the criteria add up to 3 points, expected 4."),
        ("title:", "titel:", ":3: questions.2.1.titel: there is no such key; did you mean `title`?"),
        ("{points: 1.5, ", "{", ":6: questions.2.1.criteria.0.points: this key is needed and is missing."),
        ("2.1:", "2/1:", ":2: questions.2/1: a question's number is made of letters"),
        ("questions:", "question:", "question: there is no such key; did you mean `questions`?"),
        ("3/2", "-1", "questions.2.1.criteria.1.points: found `-1`, expected a number of points"),
    ],
)
def test_a_wrong_rubric_is_one_sentence(write: Write, tmp_path: Path, old: str, new: str, part: str) -> None:
    write("assignments/masks/rubric.yaml", GOOD.replace(old, new))
    with pytest.raises(CourseError) as caught:
        load_course(tmp_path).assignment("masks").rubric()
    assert part in str(caught.value)

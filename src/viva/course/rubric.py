"""rubric.yaml: how prose is marked. A question has a prompt, points, and criteria that add up to them."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import Field

from viva.course.read import read_model
from viva.course.schema import Points, Strict, Text
from viva.model.errors import CourseError


class CriterionPart(Strict):
    """One thing to look for in an answer."""

    points: Points
    text: Text


class QuestionPart(Strict):
    """One written question."""

    title: Text
    points: Points
    criteria: Annotated[list[CriterionPart], Field(min_length=1)]
    accept: list[Text] = Field(default_factory=list)
    note: Text | None = None


class RubricFile(Strict):
    """rubric.yaml."""

    questions: dict[str, QuestionPart]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to look for, and what it is worth."""

    text: str
    points: Fraction


@dataclass(frozen=True, slots=True)
class Question:
    """How one written question is marked."""

    number: str
    title: str
    points: Fraction
    criteria: tuple[Criterion, ...]
    accept: tuple[str, ...] = ()
    """Other answers that are right as well."""
    note: str = ""
    """What a marker should know."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """Every written question of an assignment, in the order of the file."""

    questions: tuple[Question, ...] = ()

    def question(self, number: str) -> Question | None:
        """The question of that number, None if the rubric has none."""
        return next((q for q in self.questions if q.number == number), None)


def load_rubric(path: Path) -> Rubric:
    """Read a rubric; an assignment without the file has an empty one.

    Raises:
        CourseError: the file is wrong, or the criteria of a question do not add up to its points.
    """
    if not path.exists():
        return Rubric()
    questions = read_model(path, RubricFile).questions
    for number, question in questions.items():
        total = sum((c.points for c in question.criteria), Fraction(0))
        if total != question.points:
            raise CourseError(
                f"{path}: questions.{number}: the criteria add up to {total} points, expected {question.points}."
            )
    return Rubric(
        tuple(
            Question(
                number,
                q.title,
                q.points,
                tuple(Criterion(c.text, c.points) for c in q.criteria),
                tuple(q.accept),
                q.note or "",
            )
            for number, q in questions.items()
        )
    )

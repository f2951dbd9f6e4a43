"""rubric.yaml: how prose is marked. A question has a title, points, and criteria that add up to them."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from viva.course.checks import Expected, name
from viva.course.read import CourseDocument, read_document
from viva.course.schema import CRITERION, QUESTION, RUBRIC


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
    document = read_document(path)
    numbers = document.table(RUBRIC)["questions"]
    return Rubric(tuple(_question(document, number) for number in numbers))


def _question(document: CourseDocument, number: str) -> Question:
    at = ("questions", number)
    try:
        name(number)
    except Expected:
        raise document.error(
            at, "a question's number is made of letters, digits, `_`, `-` and `.`, such as 2.1a."
        ) from None
    written = document.table(QUESTION, at)
    rows = [document.table(CRITERION, (*at, "criteria", index)) for index in range(len(written["criteria"]))]
    criteria = tuple(Criterion(row["text"], row["points"]) for row in rows)
    total = sum((c.points for c in criteria), Fraction(0))
    if total != written["points"]:
        raise document.error(at, f"the criteria add up to {total} points, expected {written['points']}.")
    return Question(number, written["title"], written["points"], criteria, written["accept"], written["note"] or "")

"""What is returned for one student, on the platform's scale, and the one place there that is the student's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from viva.formats.decimal_points import show
from viva.model import Student
from viva.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class ReturnedGrade:
    """One student's grade, rounded."""

    student: Student
    state: str
    """"graded", "open", "missing" or "excused"."""
    points: Fraction | None
    """A decimal of at most four places; None where nothing is written."""
    maximum: Fraction
    exact: Fraction | None = None
    """The points before rounding, for a platform with another maximum."""
    earned: Fraction = Fraction(0)
    """Before penalties."""
    penalty: Fraction = Fraction(0)
    adjusted: Fraction = Fraction(0)
    still_open: Fraction = Fraction(0)
    attempt: str = ""
    """The name of the attempt that counts."""
    submitted_at: datetime | None = None
    why: str = ""
    """For the student, one sentence on each line."""


def scale_points(grade: ReturnedGrade, maximum: Fraction | None, where: str, *, rescale: bool) -> Fraction | None:
    """Return the points of a grade on the platform's scale; None if the grade has none.

    Args:
        grade: the grade.
        maximum: the platform's maximum; None if unknown.
        where: what has this maximum, as the beginning of a sentence.
        rescale: convert points where the maximum differs.

    Raises:
        UsageError: the maximum differs and `rescale` is False.
    """
    if grade.points is None or maximum is None or maximum == grade.maximum:
        return grade.points
    if not rescale or not grade.maximum:
        raise UsageError(
            f"{where} has a maximum of {show(maximum)} points, and the assignment has {show(grade.maximum)}; "
            "make them equal, or say --rescale to convert the grades."
        )
    exact = grade.points if grade.exact is None else grade.exact
    return round(exact * maximum / grade.maximum * 100) / Fraction(100)


def normalize_identifier(text: str) -> str:
    """Return an identifier without surrounding spaces and case."""
    return text.strip().casefold()


def index_positions(identifiers: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Map identifiers to positions; identifiers of several positions, and empty ones, are left out."""
    found: dict[str, list[int]] = {}
    for position, identifier in identifiers:
        if identifier:
            found.setdefault(identifier, []).append(position)
    return {identifier: positions[0] for identifier, positions in found.items() if len(positions) == 1}


def find_position(student: Student, by_kind: Iterable[tuple[Sequence[str], Mapping[str, int]]]) -> int | None:
    """Return the position of a student by the platform's own identifiers, else by the course's, if exactly one fits.

    It is never found by name.

    Args:
        student: who is looked for.
        by_kind: for each kind of identifier, which of a student's it may equal (`id`, `email`, or a key of
            `Student.also`), and the positions.
    """
    known = {**student.also, "id": student.id, "email": student.email}
    by_platform: set[int] = set()
    by_course_id: set[int] = set()
    for keys, positions in by_kind:
        for key in keys:
            position = positions.get(normalize_identifier(known.get(key, "")))
            if position is not None and key == "id":
                by_course_id.add(position)
            elif position is not None:
                by_platform.add(position)
    fitting = by_platform or by_course_id
    return fitting.pop() if len(fitting) == 1 else None

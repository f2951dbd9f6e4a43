"""Points on the platform's scale, whose maximum may differ from the assignment's."""

from fractions import Fraction

from viva.formats.decimal_points import show
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade


def scaled_points(grade: ReturnedGrade, maximum: Fraction | None, where: str, *, rescale: bool) -> Fraction | None:
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

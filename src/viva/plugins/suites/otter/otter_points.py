"""What each case of an otter question is worth: otter's "Resolving Point Values", in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


class PointsError(Exception):
    """Points that are impossible; the text is a phrase for the author."""


def exact(value: Any) -> Fraction:
    """Return a number of points as it was written: 0.1 is one tenth.

    Raises:
        PointsError: it is not a number, or negative.
    """
    if type(value) not in (int, float) or not 0 <= value < 1e9:
        raise PointsError(f"points are {value!r:.40}; expected a number, zero or more")
    return Fraction(str(value))


def resolve(question: object, cases: Sequence[object]) -> list[Fraction]:
    """Return the points of each case.

    Args:
        question: what the question says: a number that its cases share, a list with one for each case, or None.
        cases: what each case says itself: a number, or None.

    Raises:
        PointsError: a list of another length, or the cases say more than the question is worth.
    """
    if isinstance(question, list):
        if len(question) != len(cases):
            raise PointsError(f"points are a list of {len(question)}, but there are {len(cases)} cases")
        cases, question = question, None
    own = [None if value is None else exact(value) for value in cases]
    said = sum((value for value in own if value is not None), Fraction(0))
    silent = sum(value is None for value in own)
    if question is not None:
        left = exact(question) - said
        if left < 0:
            raise PointsError(f"the cases are worth {float(said):g} points, more than the question's {question:g}")
    else:  # only zeros are given: the question is worth one point
        left = Fraction(0) if said else Fraction(1)
    share = left / silent if silent else Fraction(0)
    return [share if value is None else value for value in own]

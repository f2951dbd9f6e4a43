"""Formulas compared by value: two are the same if they give the same numbers at every point that is tried."""

import functools
import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import Tree, evaluate, rounds_down, variables_of
from viva.compare.answers.growth_order import far_points, has_plain_factors, is_sum_with, without_order
from viva.compare.answers.unreadable import Unreadable, refusal, wrong_answer
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hint_recording import hints_of_answer
from viva.compare.hints import matching_hints
from viva.compare.normalize import is_number, plain
from viva.compare.show import as_written, number, show

RANGE: Final = (2.0, 10.0)
"""The range of letters for which the author gives none."""
POINTS: Final = 16
_WHOLE_POINTS: Final = 4

Values = Mapping[str, float]


def ranges_of(variables: Mapping[str, tuple[float, float]] | Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the range of each letter.

    Raises:
        ValueError: a range is not two numbers, the smaller one first.
    """
    if isinstance(variables, str):
        variables = [variables]
    given = dict(variables) if isinstance(variables, Mapping) else dict.fromkeys(variables, RANGE)
    for name, (low, high) in given.items():
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"agree_formula: the range of {name} is {(low, high)}; expected two numbers, low < high.")
    return {str(name): (float(low), float(high)) for name, (low, high) in given.items()}


def points_for(ranges: Mapping[str, tuple[float, float]], *trees: Tree) -> list[Values]:
    """Return the points at which formulas are compared: whole ones if one rounds down and the ranges hold some."""
    return (_whole_points_in(ranges) if any(map(rounds_down, trees)) else []) or points_in(ranges)


def points_in(ranges: Mapping[str, tuple[float, float]]) -> list[Values]:
    """Return whole points first, because they read well in a message; the same points every time."""
    chance = random.Random(0)  # noqa: S311  # points at which formulas are compared, not secrets
    points: list[Values] = []
    for count in range(POINTS):
        point = {}
        for position, (name, (low, high)) in enumerate(ranges.items()):
            if count < _WHOLE_POINTS and math.floor(high) - math.ceil(low) >= _WHOLE_POINTS:
                span = math.floor(high) - math.ceil(low) + 1
                point[name] = float(math.ceil(low) + (1 + 2 * count + 3 * position) % span)
            else:
                point[name] = chance.uniform(low, high)
        points.append(point)
    return points


def _whole_points_in(ranges: Mapping[str, tuple[float, float]]) -> list[Values]:
    """Return points whose values are whole numbers, even and odd ones; none if a range holds fewer than two."""
    bounds = {name: (math.ceil(low), math.floor(high)) for name, (low, high) in ranges.items()}
    if any(last <= first for first, last in bounds.values()):
        return []
    chance = random.Random(0)  # noqa: S311  # points at which formulas are compared, not secrets
    return [{name: float(chance.randint(*bound)) for name, bound in bounds.items()} for _ in range(POINTS)]


_RTOL: Final = 1e-9


def agree_formula(
    actual: object,
    expected: str,
    variables: Mapping[str, tuple[float, float]] | Sequence[str],
    *,
    accept: Sequence[str] = (),
    lower: Sequence[str] = (),
    hints: Mapping[str, str] | None = None,
    name: str = "your answer",
) -> None:
    """Pass if the student's formula gives the same values as the expected one at whole and random points.

    O(n²) is read as n². An expected order O(...) agrees up to a constant factor. A text with other words, or an
    equation, is left to a person.

    Args:
        actual: the student's text, or a number.
        expected: the formula, in the same notation.
        variables: the letters that may occur and the range of each, or their names alone (then from 2 to 10).
        accept: other right formulas.
        lower: terms that may be added to an expected order, each with any factor: with "m*k**2", O(m²k + mk²) is as
            right as O(m²k).
        hints: known mistakes: what to call them, and the formula they lead to.
        name: what the message calls the answer.

    Raises:
        Disagreement: another formula, or none that can be read.
        ValueError: the author passed a wrong formula or range.
    """
    tried = hints_of_answer(hints)
    ranges = ranges_of(variables)
    right = [_Formula.of_author(text, ranges) for text in (expected, *accept)]
    try:
        readings = read_formula(actual, ranges)
        if right[0].is_order and not all(map(has_plain_factors, readings)):
            raise Unreadable("its factors are too large or too small for an order of growth; leave them out")
    except Unreadable as why:
        raise refusal(name, actual, "a formula", why) from None
    if any(formula.differs_at(reading) is None for formula in right for reading in readings):
        return
    lower_terms = [_Formula.of_author(text, ranges).tree for text in lower]
    if lower_terms and any(right[0].is_order and right[0].is_within(reading, lower_terms) for reading in readings):
        return
    named, notes = matching_hints(
        tried, lambda text: any(_Formula.of_author(text, ranges).differs_at(reading) is None for reading in readings)
    )
    raise _wrong(name, actual, right[0], readings[0], named, notes)


@final
@dataclass(frozen=True, slots=True)
class _Formula:
    """The author's formula with the points at which it has a value."""

    text: str
    tree: Tree
    points: tuple[tuple[Values, float], ...]
    ranges: Mapping[str, tuple[float, float]]
    far: tuple[tuple[Values, float], ...]
    """Far points, for an order of growth."""
    is_order: bool

    @classmethod
    def of_author(cls, text: object, ranges: Mapping[str, tuple[float, float]]) -> "_Formula":
        """Read the formula and find points, once for all submissions.

        Raises:
            ValueError: it cannot be read, or has no value in the ranges.
        """
        return cls._of_author(str(text), tuple(ranges.items()))

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def _of_author(cls, text: str, named: tuple[tuple[str, tuple[float, float]], ...]) -> "_Formula":
        ranges = dict(named)
        inner, is_order = _without_order(text, ranges)
        try:
            tree = parse(inner, tuple(ranges))
        except Unreadable as why:
            raise ValueError(f"agree_formula: {text!r} cannot be read as a formula: {why}.") from None
        points = _with_values(tree, points_in(ranges))
        if len(points) < POINTS // 2:
            raise ValueError(f"agree_formula: {text!r} has no value at most points of the given ranges.")
        far = _with_values(tree, far_points(points[-1][0]) if is_order else [])
        return cls(text, tree, points, ranges, far, is_order)

    def differs_at(self, other: Tree) -> tuple[Values, float, float] | None:
        """Return the first point at which `other` has another value: the point, its value, the right value."""
        scale = sorted(abs(value) for _, value in self.points)[len(self.points) // 2]
        factor = 1.0
        if self.is_order:
            point, value = self.points[-1]
            factor = evaluate(other, point) / value if value else math.nan
            factor = factor if factor > 0 else 1.0
        points = _with_values(self.tree, points_for(self.ranges, other)) if rounds_down(other) else self.points
        for point, value in points:
            seen = evaluate(other, point) / factor
            if not abs(seen - value) <= _RTOL * (abs(value) + scale):
                return point, seen, value
        for point, value in self.far:
            seen = evaluate(other, point) / factor
            if not abs(seen - value) <= abs(value) / 2:
                return point, seen, value
        return None

    def is_within(self, other: Tree, lower_terms: Sequence[Tree]) -> bool:
        """Return whether `other` is a sum of this term and some of the lower ones."""
        points = (*self.points, *self.far)
        terms = [[evaluate(tree, point) for point, _ in points] for tree in lower_terms]
        values = [evaluate(other, point) for point, _ in points]
        return is_sum_with(values, [value for _, value in points], terms, far=len(self.far))


def _with_values(tree: Tree, points: Sequence[Values]) -> tuple[tuple[Values, float], ...]:
    """Return the points at which a formula has a value, each with it."""
    return tuple((point, value) for point in points if math.isfinite(value := evaluate(tree, point)))


def read_formula(actual: object, letters: Collection[str]) -> list[Tree]:
    """Return the trees that an answer may mean: 1/2d is read both ways.

    Raises:
        Unreadable: it is no formula of these letters.
    """
    actual = plain(actual)
    if is_number(actual) and not isinstance(actual, bool | complex):
        actual = show(actual)
    if not isinstance(actual, str):
        raise Unreadable("write it as one line of text, such as 2*d + 2")
    inner, _ = _without_order(actual, letters)
    return [parse(inner, letters), parse(inner, letters, tight=True)]


def _without_order(text: str, letters: Collection[str]) -> tuple[str, bool]:
    return (text, False) if "O" in letters else without_order(text)


def _wrong(
    name: str, actual: object, right: _Formula, reading: Tree, named: list[str], notes: list[str]
) -> Disagreement:
    text = f"{as_written(actual)} is not right{', not even up to a factor' if right.is_order else ''}."
    return wrong_answer(
        Difference(text).sentence(name),
        named,
        notes,
        feedback=_where_it_differs(right, reading),
        actual=show(actual),
        expected=right.text,
    )


def _where_it_differs(right: _Formula, reading: Tree) -> str:
    """Return a point at which a formula has another value than the right one; empty for an order of growth."""
    differs = right.differs_at(reading)
    if differs is None or right.is_order:
        return ""
    point, value, expected = differs
    letters = variables_of(right.tree) | variables_of(reading)
    where = ", ".join(f"{letter} = {number(v)}" for letter, v in point.items() if letter in letters)
    gives = f"gives {number(value)}" if math.isfinite(value) else "has no value"
    return f"At {where} it {gives}; the right formula gives {number(expected)}." if where else ""

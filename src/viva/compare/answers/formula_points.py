"""Points at which two formulas are compared: the same every time, whole ones first."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Final

from viva.compare.answers.formula_tree import Tree, rounds_down

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

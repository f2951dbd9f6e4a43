"""Whether the tests of an assignment add up to the points that it states, and points in words for such sentences."""

from fractions import Fraction

from viva.config import Assignment


def points_complaint(assignment: Assignment, total: Fraction) -> str:
    """Return what is wrong if the tests do not add up to what assignment.yaml says; empty if they do."""
    if assignment.points is None or total == assignment.points:
        return ""
    stated = f"assignment.yaml says {short_points(assignment.points)}"
    return f"the tests add up to {in_points(total)}, but {stated}: change one of them"


def in_points(points: Fraction) -> str:
    """Return a number with its noun: "1 point", "2.5 points"."""
    return f"{short_points(points)} {'point' if points == 1 else 'points'}"


def short_points(points: Fraction) -> str:
    """Return a short decimal if there is an exact one, else the fraction."""
    return f"{float(points):g}" if points.denominator in (1, 2, 4, 5, 10, 20) else str(points)

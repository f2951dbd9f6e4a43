"""Orders of growth: O(...) as students spell it, and sums that contain the wanted term."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from viva.compare.answers.characters import latin, plain_signs
from viva.compare.answers.formula_tree import Constant, Tree, Variable, evaluate, variables_of

_ORDER_OF: Final = re.compile(
    r"\s*(?:O|Θ|Ω|Theta|Omega|\\(?:Theta|Omega)|\\(?:mathcal|mathrm|text|operatorname)\s*(?:\{\s*O\s*\}|(?<=\s)O))"
    r"\s*(?:\\left\s*)?([(\[])(.*)[)\]]\s*"
)
_AROUND: Final = " \t\n$'*.;,"
_TINY: Final = 1e-9
_ROUNDING: Final = 1e-7
"""Factors that are smaller, relative to the whole, are rounding errors."""
_MOST_DIGITS: Final = 30.0
_FAR: Final = 1e35


def without_order(text: str) -> tuple[str, bool]:
    r"""Return the inside of O(...), Θ(...) or \mathcal{O}(...), and whether the text is one or a sum of these."""
    bare = plain_signs(text).strip(_AROUND).removeprefix("\\(").removesuffix("\\)").strip(_AROUND)
    insides = [_inside(part) for part in _summands(bare)]
    if None in insides:
        return text, False
    return " + ".join(f"({inside})" for inside in insides) if len(insides) > 1 else str(insides[0]), True


def _inside(bare: str) -> str | None:
    """Return what is in the brackets of one order; None if the text is not one."""
    head, bracket, rest = bare.partition("(" if "(" in bare else "[")
    match = _ORDER_OF.fullmatch(_letter_o(head) + bracket + rest)
    if match is None or not _balanced(match[2]):
        return None
    return match[2].removesuffix("\\right")


def _summands(text: str) -> list[str]:
    """Split a text at each plus outside brackets."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def is_sum_with(
    actual: Sequence[float], wanted: Sequence[float], others: Sequence[Sequence[float]], far: int = 0
) -> bool:
    """Return whether `actual` is a positive multiple of `wanted` plus multiples, not below 0, of some of the others.

    Args:
        actual: the answer's values at the points.
        wanted: the values there of the term that must be in the sum.
        others: the values there of the terms that may be.
        far: how many of the points, the last ones, are far away: there the sum only has to have the right size.
    """
    values, terms = np.array(actual), np.array([wanted, *others]).T  # (point,), (point, term)
    if not (np.isfinite(values).all() and np.isfinite(terms).all()):
        return False
    near = len(values) - far
    size = np.abs(terms[:near]).max(axis=0)
    factors, *_ = np.linalg.lstsq(terms[:near] / size, values[:near], rcond=None)  # (term,)
    largest = float(np.abs(values[:near]).max())
    close = np.abs(terms[:near] / size @ factors - values[:near]).max() <= _TINY * largest
    if not (close and factors[0] > _TINY * largest and (factors >= -_TINY * largest).all()):
        return False
    there = terms[near:] / size @ np.where(np.abs(factors) > _ROUNDING * largest, factors, 0.0)
    return bool((np.abs(there - values[near:]) <= there / 2).all())


def far_points(point: Mapping[str, float]) -> list[dict[str, float]]:
    """Return points at which a term that grows faster shows, however small its factor is: see `has_plain_factors`.

    All letters grow together, and each by itself.
    """
    together = {name: value * _FAR for name, value in point.items()}
    return [together, *({**point, name: together[name]} for name in point if len(point) > 1)]


def has_plain_factors(tree: Tree) -> bool:
    """Return whether the numbers in a formula are such that no term is hidden by its factor at `far_points`."""
    return _digits(tree) <= _MOST_DIGITS


def _digits(tree: Tree) -> float:
    """Return by how many powers of ten, up or down, the numbers in a formula change its value at most."""
    if not variables_of(tree):
        value = abs(evaluate(tree, {}))
        return abs(math.log10(value)) if 0 < value < math.inf else 0.0 if value == 0 else math.inf
    if isinstance(tree, (Variable, Constant)):
        return 0.0
    if tree.operator == "^" and not variables_of(tree.operands[1]):
        return _digits(tree.operands[0]) * abs(evaluate(tree.operands[1], {}))
    return sum(map(_digits, tree.operands))


def _letter_o(head: str) -> str:
    """Return Cyrillic, Greek and calligraphic capitals as the letter O; Θ and Ω stay as they are."""
    return "".join(c if c in "ΘΩ" else unicodedata.normalize("NFKC", latin(c)) for c in head)


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
    return depth == 0

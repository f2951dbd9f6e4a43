"""Orders of growth: O(...) as students spell it, and sums that contain the wanted term."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np

from viva.compare.answers.characters import latin, plain_signs

_ORDER_OF: Final = re.compile(
    r"\s*(?:O|Θ|Ω|Theta|Omega|\\(?:Theta|Omega)|\\(?:mathcal|mathrm|text|operatorname)\s*(?:\{\s*O\s*\}|(?<=\s)O))"
    r"\s*(?:\\left\s*)?([(\[])(.*)[)\]]\s*"
)
_AROUND: Final = " \t\n$'*.;,"
_TINY: Final = 1e-9


def without_order(text: str) -> tuple[str, bool]:
    r"""Return the inside of O(...), Θ(...) or \mathcal{O}(...), and whether the text is one of these at all."""
    bare = plain_signs(text).strip(_AROUND).removeprefix("\\(").removesuffix("\\)").strip(_AROUND)
    head, bracket, rest = bare.partition("(" if "(" in bare else "[")
    match = _ORDER_OF.fullmatch(_letter_o(head) + bracket + rest)
    if match is None or not _balanced(match[2]):
        return text, False
    return match[2].removesuffix("\\right"), True


def is_sum_with(actual: Sequence[float], wanted: Sequence[float], others: Sequence[Sequence[float]]) -> bool:
    """Return whether `actual` is a positive multiple of `wanted` plus multiples, not below 0, of some of the others.

    Args:
        actual: the answer's values at the points.
        wanted: the values there of the term that must be in the sum.
        others: the values there of the terms that may be.
    """
    values, terms = np.array(actual), np.array([wanted, *others]).T  # (point,), (point, term)
    if not (np.isfinite(values).all() and np.isfinite(terms).all()):
        return False
    size = np.abs(terms).max(axis=0)
    factors, *_ = np.linalg.lstsq(terms / size, values, rcond=None)  # (term,)
    largest = float(np.abs(values).max())
    close = np.abs(terms / size @ factors - values).max() <= _TINY * largest
    return bool(close and factors[0] > _TINY * largest and (factors >= -_TINY * largest).all())


def _letter_o(head: str) -> str:
    """Return Cyrillic, Greek and calligraphic capitals as the letter O; Θ and Ω are kept."""
    return "".join(c if c in "ΘΩ" else unicodedata.normalize("NFKC", latin(c)) for c in head)


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
    return depth == 0

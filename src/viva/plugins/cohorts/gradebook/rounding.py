"""Round grades, once, at the end."""

import math
from fractions import Fraction

from viva.config.policy import Rounding


def rounded(points: Fraction, rounding: Rounding) -> Fraction:
    """Return the nearest multiple of `rounding.to`; a half goes to the even multiple, or up if the course says so."""
    units = points / rounding.to
    whole = math.floor(units + Fraction(1, 2)) if rounding.half == "up" else round(units)
    return whole * rounding.to

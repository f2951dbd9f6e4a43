"""Agreement of two markers beyond chance: Cohen's kappa of the points that both gave.

Numbers are exact fractions. A value that is not defined is None, never a number that looks like an answer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

Weights = Literal["none", "linear", "quadratic"]
_POWER: Final = {"none": 0, "linear": 1, "quadratic": 2}
_WORDS: Final = (
    (Fraction(1, 5), "slight"),
    (Fraction(2, 5), "fair"),
    (Fraction(3, 5), "moderate"),
    (Fraction(4, 5), "substantial"),
    (Fraction(1), "almost perfect"),
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two markers agree."""

    n: int
    """The number of answers that both have graded."""
    exact: Fraction | None
    """The share of them to which both gave the same points; None if there are none."""
    kappa: Fraction | None
    """The value of `cohen_kappa`."""

    @property
    def words(self) -> str:
        """Return the kappa in words; empty if it is None.

        Source: Landis and Koch 1977, "The measurement of observer agreement for categorical data", section 5; its
        authors call the bounds arbitrary.
        """
        if self.kappa is None:
            return ""
        return "poor" if self.kappa < 0 else next(word for bound, word in _WORDS if self.kappa <= bound)


def agreement(pairs: Sequence[tuple[Fraction, Fraction]], weights: Weights = "linear") -> Agreement:
    """Compute the agreement of two markers.

    Args:
        pairs: for each answer the points of the first and of the second marker.
        weights: as in `cohen_kappa`.
    """
    exact = Fraction(sum(one == two for one, two in pairs), len(pairs)) if pairs else None
    return Agreement(len(pairs), exact, cohen_kappa(pairs, weights))


def cohen_kappa(pairs: Sequence[tuple[Fraction, Fraction]], weights: Weights = "none") -> Fraction | None:
    """Compute Cohen's kappa: 1 minus the observed disagreement divided by the disagreement expected by chance.

    Two ratings x and y disagree by 1 (`none`), by |x - y| (`linear`) or by (x - y)² (`quadratic`). Points are compared
    and not their ranks, so that 0 and 4 are four times as far apart as 0 and 1, whichever points lie between them.
    The expected disagreement is that of two markers who keep their own frequencies of points but choose at random.

    Args:
        pairs: for each answer the points of the first and of the second marker.
        weights: how the disagreement of two ratings is measured.

    Returns:
        At most 1; 0 for the agreement expected by chance. None without pairs, and None if both gave the same points to
        every answer, because agreement and chance cannot be told apart then.

    Source: Cohen 1960, "A coefficient of agreement for nominal scales", equation 1; with weights Cohen 1968, "Weighted
    kappa", in the notation of Fleiss, Cohen and Everitt 1969, "Large sample standard errors of kappa and weighted
    kappa", with weights of disagreement in place of agreement.
    """
    power = _POWER[weights]
    first, second = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    by_chance = sum(
        (_apart(x, y, power) * often * as_often for x, often in first.items() for y, as_often in second.items()),
        Fraction(0),
    )
    if not by_chance:
        return None
    observed = sum((_apart(x, y, power) * count for (x, y), count in Counter(pairs).items()), Fraction(0))
    return 1 - len(pairs) * observed / by_chance


def _apart(one: Fraction, two: Fraction, power: int) -> Fraction:
    return abs(one - two) ** power if one != two else Fraction(0)

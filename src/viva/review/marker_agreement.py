"""How far two markers agree beyond what chance would give: Cohen's kappa of the points that both gave.

Exact numbers in, exact numbers out. What cannot be said is None, never a number that looks like an answer.
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
    """What two markers have in common."""

    n: int
    """Answers that both have marked."""
    exact: Fraction | None
    """The share of them to which both gave the same points; None where there are none."""
    kappa: Fraction | None
    """As `cohen_kappa` says it."""

    @property
    def words(self) -> str:
        """The kappa in words; empty where there is none.

        Source: Landis and Koch 1977, "The measurement of observer agreement for categorical data", section 5; its
        authors call the bounds arbitrary.
        """
        if self.kappa is None:
            return ""
        return "poor" if self.kappa < 0 else next(word for bound, word in _WORDS if self.kappa <= bound)


def agreement(pairs: Sequence[tuple[Fraction, Fraction]], weights: Weights = "linear") -> Agreement:
    """How two markers agree.

    Args:
        pairs: for each answer the points of the first and of the second marker.
        weights: as in `cohen_kappa`.
    """
    exact = Fraction(sum(one == two for one, two in pairs), len(pairs)) if pairs else None
    return Agreement(len(pairs), exact, cohen_kappa(pairs, weights))


def cohen_kappa(pairs: Sequence[tuple[Fraction, Fraction]], weights: Weights = "none") -> Fraction | None:
    """One less the disagreement that there is, over the disagreement that chance would give.

    Two ratings x and y disagree by 1 (`none`), by |x - y| (`linear`) or by (x - y)² (`quadratic`): by the points
    themselves and not by their ranks, so that 0 and 4 are four times as far apart as 0 and 1, whichever points were
    given between them. Chance is what both would give if each kept how often they give what, and chose blindly.

    Args:
        pairs: for each answer the points of the first and of the second marker.

    Returns:
        At most 1, and 0 where they agree as chance would have it. None without pairs, and where both gave every answer
        the same points: then nobody can tell agreement from chance.

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

"""How far right programs stray by chance: shares of many draws, and whether draws take notice of each other."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDE = 6.0
"""Standard errors: one comparison of a right program is further away less than once in a hundred million times."""


def within(successes: int, trials: int, probability: float, slack: float = 0.0) -> bool:
    """Return whether so many successes are likely."""
    return abs(successes - trials * probability) <= radius(trials, probability) + slack + 1


def radius(trials: int, probability: float) -> float:
    """Return how far the number of successes strays."""
    return WIDE * math.sqrt(trials * probability * (1 - probability))


def uniform(counts: Any) -> bool:
    """Return whether counts of 15 or more each are likely for equally likely cells.

    The statistic of a right program is chi-square with one degree of freedom less than there are cells; ten standard
    deviations above its mean it is less than once in a hundred million times, for three cells or more.
    """
    seen = np.asarray(counts, dtype=float)
    mean, cells = seen.mean(), seen.size
    return bool(((seen - mean) ** 2 / mean).sum() < cells + 10 * math.sqrt(2 * cells))


def check_independent(happened: NDArray[np.bool_], p: float, what: str, rule: str) -> None:
    """Raise unless each of the events (call, place) came with probability p, whatever became of the others.

    Four looks, each at six or more standard errors: how often it happened in all, how often at each place, how much
    the number of events varies from call to call, and how often two places went together. For a thousand calls, forty
    places and p from 0.1 to 0.9 a right program fails less than once in ten million times.

    Args:
        happened: from some hundred calls.
        p: the probability of each event.
        what: the events in the student's words: "selected tokens".
        rule: what the program is to do.
    """
    calls, places = happened.shape
    assert within(int(happened.sum()), happened.size, p), (
        f"Of {happened.size} places in {calls} calls, {int(happened.sum())} have one of the {what}; expected "
        f"{happened.size * p:.0f} ± {radius(happened.size, p):.0f}. {rule}"
    )
    often = happened.sum(axis=0)
    worst = int(np.abs(often - calls * p).argmax())
    assert within(int(often[worst]), calls, p), (
        f"Of {calls} calls, {int(often[worst])} have one of the {what} at place {worst} of {places}; expected "
        f"{calls * p:.0f} ± {radius(calls, p):.0f}. {rule}"
    )
    variance = places * p * (1 - p)
    ratio = float(((happened.sum(axis=1) - places * p) ** 2).mean() / variance)
    wide = 7 * math.sqrt((2 + abs(1 - 6 * p * (1 - p)) / variance) / calls)
    assert ratio > 1 - wide, (
        f"The number of {what} is nearly the same in every call (its variance is {ratio * variance:.2f}, by chance "
        f"{variance:.2f}). {rule}"
    )
    assert ratio < 1 + wide, (
        f"There are sometimes far more, sometimes far fewer {what} than chance allows (the variance of their number is "
        f"{ratio * variance:.2f}, by chance {variance:.2f}). {rule}"
    )
    standard = (happened - p) / math.sqrt(p * (1 - p))
    together = np.triu(standard.T @ standard, 1) / math.sqrt(calls)
    one, other = (int(place) for place in np.unravel_index(np.abs(together).argmax(), together.shape))
    assert abs(together[one, other]) < 7, (
        f"The {what} at places {one} and {other} depend on each other (correlation "
        f"{together[one, other] / math.sqrt(calls):.2f} in {calls} calls). {rule}"
    )

"""One run decides if it passes; a miss is run again with other seeds, so that bad luck costs no points."""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Final, SupportsFloat

from viva.grading.events import current_events
from viva.grading.signals import NeedsReview
from viva.plugins.training.thresholds import Threshold

SEEDS: Final = (1, 2, 3)


def judge(
    run: Callable[[int], SupportsFloat], threshold: Threshold, seeds: Sequence[int] = SEEDS, *, help: str = ""
) -> float:
    """Run once; if that misses the threshold, run with two more seeds, and the median of the three decides.

    If the second run misses it too, so does the median, and the third is left out. If one run is enough for the
    threshold, the first that meets it decides, and three runs miss it.

    Args:
        run: seed -> what the examiner measures, such as an accuracy. The same seed must give the same value.
        threshold: what is asked for.
        seeds: three, in the order in which they are used.
        help: a sentence for the student who misses it: where to look.

    Returns:
        The value that decided.

    Raises:
        AssertionError: the threshold is missed; the message has the values, the threshold, and what right
            implementations reach.
        NeedsReview: the threshold is a guess; a person decides, and reads the values.
        ValueError: there are not three different seeds.
    """
    if len(set(seeds)) != 3 or len(seeds) != 3:
        raise ValueError(f"judge(seeds={tuple(seeds)!r}): expected three different seeds.")
    values: list[float] = []
    for seed in seeds:
        if values:
            shown = _shown(values[-1])
            current_events().progress(f"{threshold.name} is {shown}: run again with another seed")
        values.append(_number(run(seed), threshold))
        hits, one_decides = sum(map(threshold.met_by, values)), threshold.one_is_enough or len(values) == 1
        if hits == (1 if one_decides else 2):
            _refuse_guess(threshold, *values)
            return values[-1] if one_decides else statistics.median(values)
        if len(values) - hits == (3 if threshold.one_is_enough else 2):
            break
    _refuse_guess(threshold, *values)
    raise AssertionError(" ".join(part for part in (_missed(threshold, values), help) if part))


def expect(value: SupportsFloat, threshold: Threshold, message: str) -> None:
    """Ask one value that the test has measured to meet a threshold.

    Args:
        value: what was measured, such as how far two results are apart.
        threshold: what is asked for.
        message: what a student reads who misses it.

    Raises:
        AssertionError: the threshold is missed; the text is the message.
        NeedsReview: the threshold is a guess; a person decides, and reads the value.
    """
    number = _number(value, threshold)
    _refuse_guess(threshold, number)
    if not threshold.met_by(number):
        raise AssertionError(message)


def _refuse_guess(threshold: Threshold, *values: float) -> None:
    """Leave the decision to a person if the threshold is a guess."""
    if threshold.guess:
        found = ", ".join(f"{value:.4g}" if math.isfinite(value) else "no number" for value in values)
        asked = f"the threshold ({threshold.direction} {threshold.value:g}) is a guess: {threshold.guess}"
        raise NeedsReview("", "", (f"{threshold.name} is {found}, and {asked}",))


def _number(value: SupportsFloat, threshold: Threshold) -> float:
    """Return the value; NaN, which has no order, as the worst value."""
    number = float(value)
    worst = -math.inf if threshold.direction == "at least" else math.inf
    return worst if math.isnan(number) else number


def _missed(threshold: Threshold, values: Sequence[float]) -> str:
    low, high = min(threshold.right), max(threshold.right)
    *others, last = map(_shown, values)
    runs = f"{', '.join(others)} and {last}"
    how_many = "two runs with different seeds" if len(values) == 2 else "three runs with different seeds"
    return (
        f"{threshold.name}: {runs} in {how_many}; expected {threshold.direction} {threshold.value:g}. "
        f"Right implementations reach {low:.3f} to {high:.3f}."
    )


def _shown(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no number"

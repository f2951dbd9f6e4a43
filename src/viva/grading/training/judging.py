"""One run decides if it passes; a miss is run again with other seeds, so that bad luck costs no points."""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, SupportsFloat

from viva.grading.events import current_events
from viva.grading.signals import NeedsReview
from viva.grading.training.thresholds import Threshold

SEEDS: Final = (1, 2, 3)


def judge(
    run: Callable[[int], SupportsFloat], threshold: Threshold, seeds: Sequence[int] = SEEDS, *, help: str = ""
) -> float:
    """Run once; if that misses the threshold, run with two more seeds, and the median of the three decides.

    If the second run misses it too, so does the median, and the third is left out.

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
    first = _number(run(seeds[0]), threshold)
    if threshold.met_by(first):
        _refuse_guess(threshold, first)
        return first
    current_events().progress(f"{threshold.name} is {_shown(first)}: run again with another seed")
    values = [first]

    def runs() -> Iterator[float]:
        yield first
        for seed in seeds[1:]:
            values.append(_number(run(seed), threshold))
            yield values[-1]

    median = median_of_three(runs(), threshold)
    _refuse_guess(threshold, *values)
    if threshold.met_by(median):
        return median
    raise AssertionError(" ".join(part for part in (_missed(threshold, values), help) if part))


def median_of_three(values: Iterable[SupportsFloat], threshold: Threshold) -> float:
    """Return what is on the same side of a threshold as the median of three values.

    Two values on one side decide; the third is then not asked for. Draw them from a generator that measures each.

    Args:
        values: three values, in the order in which they are to be asked for.
        threshold: what the median is compared with.

    Returns:
        The median; if two decide, the one of them that is nearer to the threshold.
    """
    found: list[float] = []
    for value in values:
        found.append(_number(value, threshold))
        for side in (True, False):
            if sum(threshold.met_by(number) is side for number in found) == 2:
                nearest = min(found, key=lambda number: abs(number - threshold.value))
                return statistics.median(found) if len(found) == 3 else nearest
    raise ValueError(f"median_of_three: there are {len(found)} values; expected three.")


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
    how_many = "two runs with different seeds" if len(values) == 2 else "three runs, whose median counts"
    return (
        f"{threshold.name}: {runs} in {how_many}; expected {threshold.direction} {threshold.value:g}. "
        f"Right implementations reach {low:.3f} to {high:.3f}."
    )


def _shown(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "no number"

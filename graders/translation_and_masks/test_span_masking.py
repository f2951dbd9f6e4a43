"""Question 4.2: which spans SpanBERT masks. Every draw is random: each test says how often right work fails it."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import number, weight

Array = NDArray[np.floating[Any]]
Spans = list[tuple[int, int]]

SUBWORDS = (1, 2, 1, 3, 1, 1, 2, 1, 4, 1) * 6
"""How many subword tokens each of the 60 words has: 102 tokens."""
UNEVEN = (1,) * 30 + (6,) * 30
"""Words of which half have six tokens: a share of the words is not a share of the tokens."""


@number("4.2")
@weight(1)
def test_span_lengths(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Span lengths follow the geometric distribution, renormalised on 1 to max_length, and do not depend on each other.

    Right work fails with probability below 1e-6: six standard errors in each statistic.
    """
    for p, max_length, draws in [(0.2, 10, 400), (0.3, 3, 250), (0.6, 5, 250), (0.05, 24, 400), (0.5, 1, 5)]:
        source = inside.generator.keep(int(rng.integers(2**32)))
        sample = inside.repeat(student.sample_span_length, draws, p, max_length, source)
        lengths = np.asarray(sample)
        what = f"sample_span_length({p}, {max_length}, rng), drawn {draws} times,"
        assert lengths.shape == (draws,) and np.isreal(lengths).all(), f"{what} did not give whole numbers."
        assert (lengths == np.round(lengths)).all(), f"{what} gave lengths that are no whole numbers."
        low, high = int(lengths.min()), int(lengths.max())
        assert low >= 1 and high <= max_length, f"{what} gave lengths from {low} to {high}; expected 1 to {max_length}."
        if max_length > 1:
            check_distribution(lengths.astype(np.int64), key.span_length_distribution(p, max_length), p, what)
            check_independence(lengths.astype(np.float64), what)


@number("4.2")
@weight(2)
def test_span_mask(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Spans are whole words that do not overlap, at random places, drawn until 15 % of the tokens are masked."""
    source = inside.generator.keep(int(rng.integers(2**32)))
    for sizes in (SUBWORDS, UNEVEN):
        wanted = math.ceil(0.15 * sum(sizes))
        drawn = inside.repeat(student.span_mask, 25, text(sizes), 0.15, 0.2, 10, source)
        starts = set()
        for spans in drawn:
            first_and_last = pairs(spans)
            check_spans(first_and_last, wanted, sizes)
            starts |= {first for first, _ in first_and_last}
        assert len(starts) > 20, f"25 calls of span_mask started spans at only {len(starts)} of 60 words."
    for p, max_length, pieces in [(0.2, 10, 3), (0.6, 5, 1)]:
        even = (pieces,) * 300
        what = (student.span_mask, 8, text(even), 0.15, p, max_length, source)
        drawn = [pairs(spans) for _ in range(5) for spans in inside.repeat(*what)]
        for spans in drawn:
            check_spans(spans, 45 * pieces, even, max_length)
        check_joint_lengths(drawn, key.span_length_distribution(p, max_length), pieces, p)
        check_places(drawn, 300)


@number("4.2")
@weight(1)
def test_span_mask_of_short_texts(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """In twenty words of one token a quarter is five of them; each is masked at some time, and spans may touch."""
    for max_length in (1, 3):
        source = inside.generator.keep(int(rng.integers(2**32)))
        words = text((1,) * 20)
        drawn = [pairs(spans) for spans in inside.repeat(student.span_mask, 100, words, 0.25, 0.6, max_length, source)]
        for spans in drawn:
            check_spans(spans, 5, (1,) * 20, max_length)
        masked = {word for spans in drawn for first, last in spans for word in range(first, last + 1)}
        never = sorted(set(range(20)) - masked)
        assert not never, f"100 calls of span_mask on 20 words, max_length = {max_length}, never masked words {never}."
        # Of right programs, a quarter to two thirds of the calls give no two spans that touch.
        apart = all(last + 1 not in {first for first, _ in spans} for spans in drawn for _, last in spans)
        assert not apart, f"100 calls of span_mask on 20 words, max_length = {max_length}, never gave spans that touch."


def text(sizes: tuple[int, ...]) -> list[list[str]]:
    """Words of the numbers of subword tokens given."""
    return [[f"w{word}"] + [f"##{piece}" for piece in range(1, count)] for word, count in enumerate(sizes)]


def check_distribution(lengths: NDArray[np.int64], probabilities: Array, p: float, what: str) -> None:
    """Mean and chi-square; a right sampler fails less than once in a million submissions, a known mistake always."""
    values = np.arange(1, len(probabilities) + 1)
    mean = float(values @ probabilities)
    variance = float((values - mean) ** 2 @ probabilities)
    counts = np.bincount(lengths, minlength=len(values) + 1)[1:]
    expected = len(lengths) * probabilities
    clipped = p * (1 - p) ** (values - 1)
    clipped[-1] = (1 - p) ** (len(values) - 1)
    because = ""
    if distance(counts, len(lengths) * clipped) < distance(counts, expected):
        because = f" All longer lengths have become {len(values)}; draw again or renormalise, do not clip."
    far = 6 * math.sqrt(variance / len(lengths))
    drawn = float(lengths.mean())
    assert abs(drawn - mean) < far, f"{what} had the mean {drawn:.2f}; expected {mean:.2f} ± {far:.2f}.{because}"
    freedom = len(values) - 1  # Wilson and Hilferty's cube, six standard deviations out: below 1e-8
    critical = freedom * (1 - 2 / (9 * freedom) + 6 * math.sqrt(2 / (9 * freedom))) ** 3
    about = np.round(expected).astype(int).tolist()
    assert distance(counts, expected) < critical, (
        f"{what} gave lengths 1, 2, … {counts.tolist()} times; expected about {about}.{because}"
    )


def check_independence(lengths: Array, what: str) -> None:
    """Neighbouring draws are not correlated: |r| stays below six standard errors (two in a thousand million)."""
    if lengths.std() == 0:
        return  # the distribution has been checked
    correlation = float(np.corrcoef(lengths[:-1], lengths[1:])[0, 1])
    assert abs(correlation) < 6 / math.sqrt(len(lengths)), (
        f"{what} gave lengths that depend on the one before: neighbours have the correlation {correlation:.2f}."
    )


def check_joint_lengths(drawn: list[Spans], probabilities: Array, pieces: int, p: float) -> None:
    """Compare the lengths of all spans with the distribution, and those of one text with each other.

    How spans that meet are resolved is open, so lengths may be somewhat shorter than the distribution says: at this
    density by up to a tenth of the mean in five right programs. Beyond that come six standard errors. The lengths of a
    span and the next one are not correlated, with a standard error of 0.05.
    """
    asked = f"300 words of {pieces} tokens each, budget = 0.15, p = {p}, max_length = {len(probabilities)}"
    values = np.arange(1, len(probabilities) + 1)
    mean = float(values @ probabilities)
    deviation = math.sqrt(float((values - mean) ** 2 @ probabilities))
    by_text = [np.array([last - first + 1 for first, last in spans]) for spans in drawn]
    lengths = np.concatenate(by_text)
    error = deviation / math.sqrt(len(lengths))
    within = math.sqrt(float(np.mean([part.var() for part in by_text])))
    nearly_equal = (
        f"The spans that one call of span_mask with {asked} returns are nearly equally long (standard deviation "
        f"{within:.2f}); draw a length for each span."
    )
    assert within > 0.1 * deviation, nearly_equal
    low, high = mean - 0.15 * mean - 6 * error, mean + 0.05 * mean + 6 * error
    in_tokens = float(np.ceil(values / pieces) @ probabilities)  # of words that so many tokens touch
    because = " The lengths that are drawn count words, not tokens." if abs(lengths.mean() - in_tokens) < 0.3 else ""
    assert low < lengths.mean() < high, (
        f"The spans of {len(drawn)} calls of span_mask with {asked} have {lengths.mean():.2f} words on average; "
        f"expected about {mean:.1f}.{because}"
    )
    spread = float(lengths.std())
    assert spread > 0.6 * deviation, (
        f"The lengths of the spans of span_mask with {asked} vary too little: their standard deviation is "
        f"{spread:.2f}; expected about {deviation:.1f}. Draw each of them."
    )
    assert within > 0.5 * deviation, nearly_equal
    following = np.concatenate([np.stack([part[:-1], part[1:]]) for part in by_text], axis=1)
    correlation = float(np.corrcoef(following)[0, 1])
    assert abs(correlation) < 0.35, (  # seven standard errors
        f"The spans of span_mask with {asked} depend on each other: the lengths of a span and the next one have the "
        f"correlation {correlation:.2f}; draw a length for each span."
    )


def check_places(drawn: list[Spans], words: int) -> None:
    """Spans lie anywhere: neither next to each other, nor at equal distances, nor more often in one part.

    Gaps between spans at random places are about exponential: their standard deviation is 0.97 of their mean, with a
    standard error of 0.04. A third of the text holds a third of the masked words, with a standard error of 0.02. The
    spans of one text reach over 260 of 300 words on average, with a standard error of 4. (Five right programs, 100 runs
    each.) No distance from one start to the next has a share above 0.11, with a standard error of 0.012; no word is
    masked in more than 19 of 40 calls. Every bound is more than six standard errors away.
    """
    gaps = np.concatenate([np.diff(np.array(sorted(spans)).ravel())[1::2] - 1 for spans in drawn])
    if len(gaps):
        even = float(gaps.std()) / max(float(gaps.mean()), 1e-9)
        assert even > 0.6, "span_mask places spans at nearly equal distances; draw each start at random."
    steps = np.bincount(np.concatenate([np.diff([first for first, _ in sorted(spans)]) for spans in drawn]))
    assert steps.max() <= 0.18 * steps.sum(), (
        f"Of the starts of two neighbouring spans of span_mask, {steps.max() / steps.sum():.0%} are {steps.argmax()} "
        "words apart; draw each start at random."
    )
    reach = float(np.mean([max(last for _, last in spans) - min(first for first, _ in spans) for spans in drawn]))
    assert reach > words / 2, (
        f"The spans of one call of span_mask lie close together: within {reach:.0f} of {words} words on average."
    )
    parts = np.zeros(3)
    for spans in drawn:
        for first, last in spans:
            parts[3 * first // words] += last - first + 1
    share = parts / parts.sum()
    often = np.bincount([word for spans in drawn for first, last in spans for word in range(first, last + 1)])
    assert often.max() <= 0.7 * len(drawn), (
        f"{len(drawn)} calls of span_mask masked word {often.argmax()} of {words} words {often.max()} times; expected "
        f"about {often.sum() / words:.0f} times. Draw each start at random."
    )
    assert len({frozenset(spans) for spans in drawn}) == len(drawn), (
        f"Of {len(drawn)} calls of span_mask on a text of {words} words, some gave the same spans; draw anew each time."
    )
    assert share.min() > 0.2 and share.max() < 0.5, (
        f"span_mask masks the three thirds of a text unequally: {', '.join(f'{part:.0%}' for part in share)}."
    )


def distance(counts: Array | NDArray[np.int64], expected: Array) -> float:
    """Pearson's chi-square statistic."""
    return float(((counts - expected) ** 2 / expected).sum())


def pairs(spans: Any) -> Spans:
    """Spans in any nesting of sequences and arrays as pairs of whole numbers."""
    try:
        return [(int(first), int(last)) for first, last in spans]
    except (TypeError, ValueError):
        raise AssertionError("span_mask: expected a list of pairs (first word, last word).") from None


def check_spans(spans: Spans, wanted: int, sizes: tuple[int, ...], max_length: int = 10) -> None:
    """Raise with a sentence for the student unless the spans are as the question asks."""
    shown = f"span_mask returned {spans}"
    inside_text = all(0 <= first <= last < len(sizes) for first, last in spans)
    assert inside_text, f"{shown}: expected pairs (first word, last word), 0 ≤ first ≤ last ≤ {len(sizes) - 1}."
    longest = max((last - first + 1 for first, last in spans), default=0)
    assert longest <= max_length, f"{shown}: a span has {longest} words; expected at most max_length = {max_length}."
    words = [word for first, last in spans for word in range(first, last + 1)]
    assert len(words) == len(set(words)), f"{shown}: spans overlap."
    costs = [sum(sizes[first : last + 1]) for first, last in spans]
    # Whole words cannot always fill the budget exactly; a sampler that never exceeds it may stop short of one word.
    assert sum(costs) > wanted - max(sizes), f"{shown}: only {sum(costs)} tokens are masked; the budget is {wanted}."
    assert sum(costs) - max(costs) < wanted, f"{shown}: spans were drawn after the budget of {wanted} tokens was spent."

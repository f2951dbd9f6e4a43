"""Question 1f: what encoder self-attention, cross-attention and decoder self-attention cost."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree_formula, number, visibility, weight

Array = NDArray[np.float64]
Power = tuple[int, int, int]
"""Exponents of M, N and k."""

PARTS = {"encoder": "encoder self-attention", "cross": "cross-attention", "decoder": "decoder self-attention"}
WANTED: dict[str, Power] = {"encoder": (2, 0, 1), "cross": (1, 1, 1), "decoder": (0, 2, 1)}
LOWER: dict[str, list[Power]] = {
    "encoder": [(1, 0, 2), (2, 0, 0), (1, 0, 1), (1, 0, 0)],
    "cross": [(1, 0, 2), (0, 1, 2), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0)],
    "decoder": [(0, 1, 2), (0, 2, 0), (0, 1, 1), (0, 1, 0)],
}
"""Terms that some count and others do not: projections, softmax, biases, the diagonal under a causal mask."""


@number("1f")
@weight(3)
@pytest.mark.parametrize("part", PARTS)
def test_complexity_by_hand(submission: Any, key: Any, part: str) -> None:
    """The order of growth in M, N and k, with the projections or without."""
    attends = {"encoder": "input", "decoder": "output"}
    hints = {
        "each score costs k multiplications": "O(" + spelled(without_k(WANTED[part])) + ")",
        "each score costs k multiplications, not k²": "O(" + spelled(WANTED[part]) + "*k)",
        "this is the cost of the projections; the scores are missing": "O(" + spelled(LOWER[part][0]) + ")",
    }
    for other, power in WANTED.items():
        if other != part:
            between = f"the {attends[part]} attends to itself" if part in attends else "the output attends to the input"
            hints[f"this is {PARTS[other]}; here {between}"] = f"O({spelled(power)})"
    projections = [power for power in LOWER[part] if power[2] == 2]
    largest = [
        f"O(max({', '.join(map(spelled, (WANTED[part], *some)))}))"
        for some in (*([p] for p in projections), projections)
    ]
    lower = [spelled(power) for power in LOWER[part]]
    letters = ["M", "N", "k"]
    answer = submission.answers[f"1f.{part}"]
    agree_formula(answer, key.answers[f"1f.{part}"], letters, accept=largest, lower=lower, hints=hints)


@number("1f")
@weight(3)
def test_attention_flops(student: Any) -> None:
    """The three counts grow with M, N and k as attention does; projections and softmax may be counted or not."""
    check_counts(student, list(itertools.product((2, 3, 5, 9), (4, 2, 7), (3, 1, 8))))


@number("1f")
@weight(2)
@visibility("after_published")
def test_attention_flops_on_random_sizes(student: Any, rng: np.random.Generator) -> None:
    """The same for random and larger sizes.

    Try sizes that all differ, so that no two of them can be exchanged by mistake, and lengths of 200,000, which only a
    formula counts in time.
    """
    sizes = [tuple(int(size) for size in row) for row in rng.integers(5, 300, (40, 3))]
    check_counts(student, sizes)
    # Lengths and widths of today's models: counts beyond 32 bits.
    check_counts(student, [tuple(int(size) for size in row) for row in rng.integers(2_000, 200_000, (40, 3))])


def check_counts(student: Any, sizes: Sequence[tuple[int, ...]]) -> None:
    """Raise with a sentence for the student unless each count is a sum of terms that belong to it."""
    returned = [three_of(value) for value in student.attention_flops.each(sizes)]
    counts = dict(zip(PARTS, np.array(returned, dtype=float).T, strict=True))  # each (size,)
    for position, part in enumerate(PARTS):
        if is_sum(sizes, counts[part], WANTED[part], LOWER[part]):
            continue
        shown = f"attention_flops{sizes[0]} returned {returned[0][position]:g} for {PARTS[part]}"
        raise AssertionError(f"{shown}{mistake(sizes, counts, part)}.")


def mistake(sizes: Sequence[tuple[int, ...]], counts: Mapping[str, Array], part: str) -> str:
    """Return what is wrong with a count, as the end of a sentence."""
    for other in PARTS:
        if other != part and is_sum(sizes, counts[part], WANTED[other], LOWER[other]):
            return f", which is the cost of {PARTS[other]}; expected encoder, cross, decoder in this order"
    known = {
        "each score costs k multiplications": without_k(WANTED[part]),
        "each score costs k multiplications, not k²": (*WANTED[part][:2], 2),
        "attention compares all pairs, so the count is no longer linear in the lengths": LOWER[part][0],
        "a count of vectors; each pair of positions has a score": (max(WANTED[part][0] - 1, 0), 0, 1),
    }
    for text, power in known.items():
        if is_sum(sizes, counts[part], power, [p for p in LOWER[part] if p != power]):
            return f": {text}"
    return f", but your counts are no sum of {name_of(WANTED[part])} and lower terms such as {name_of(LOWER[part][0])}"


def is_sum(sizes: Sequence[tuple[int, ...]], counts: Array, wanted: Power, lower: Sequence[Power]) -> bool:
    """Return whether the counts are the wanted term, with a positive factor, plus some of the lower ones."""
    grid = np.array(sizes, dtype=float)  # (size, 3)
    terms = np.stack([(grid ** np.array(power)).prod(axis=1) for power in (wanted, *lower)], axis=1)  # (size, term)
    if not np.isfinite(counts).all():
        return False
    scale = terms.max(axis=0)
    factors, *_ = np.linalg.lstsq(terms / scale, counts, rcond=None)
    largest = np.abs(counts).max()
    close = np.abs(terms / scale @ factors - counts).max() <= 1e-6 * largest
    return bool(close and factors[0] > 1e-6 * largest and (factors[1:] > -1e-6 * largest).all())


def three_of(value: Any) -> list[float]:
    """Encoder, cross and decoder, from three numbers or from a mapping with such names."""
    if isinstance(value, Mapping):
        counts = {str(name).lower(): count for name, count in value.items()}
        crossed = [name for name in counts if re.search(r"cross|enc(?:oder)?[-_ ]dec", name)]
        value = [
            *[count for name, count in counts.items() if "enc" in name and name not in crossed][:1],
            *[counts[name] for name in crossed[:1]],
            *[count for name, count in counts.items() if "dec" in name and name not in crossed][-1:],
        ]
    assert np.shape(value) == (3,), "attention_flops: expected three numbers, for encoder, cross and decoder attention."
    return [float(count) for count in value]


def without_k(power: Power) -> Power:
    return (*power[:2], 0)


def spelled(power: Power) -> str:
    return "*".join(f"{letter}**{p}" for letter, p in zip("MNk", power, strict=True) if p) or "1"


def name_of(power: Power) -> str:
    return "".join(letter + ("²" if p == 2 else "") for letter, p in zip("MNk", power, strict=True) if p)

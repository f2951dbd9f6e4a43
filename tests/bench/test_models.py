"""What benchmarks compute: error rates of verdicts from what single runs reach, and the model of a cluster."""

import contextlib
import itertools
import math
from dataclasses import replace

import pytest

from bench import error_rates
from viva.plugins import training

LIMIT = training.Threshold("accuracy", 0.8, "at least", (0.9, 0.91), {"frozen": (0.5, 0.51)}, "measure.py")


def test_bound_is_the_binomial_one() -> None:
    share = training.share_at_most(2, 50)
    assert sum(math.comb(50, k) * share**k * (1 - share) ** (50 - k) for k in range(3)) == pytest.approx(0.05)


def test_rates_of_right_and_wrong_programs() -> None:
    values = {"right": [0.9] * 199 + [0.7], "wrong": {"frozen": [0.5] * 19 + [0.85]}}
    rates = error_rates._rates(LIMIT, values)
    missed, met = training.share_at_most(1, 200), training.share_at_most(1, 20)
    # The first run misses, and at least one of the two others does.
    assert rates["right"] == {
        "runs": 200,
        "misses": 1,
        "range": [0.7, 0.9],
        "verdicts that are wrong, at most": pytest.approx(missed * (1 - (1 - missed) ** 2), abs=1e-6),
    }
    # The first run hits, or both others do.
    assert rates["wrong"]["frozen"]["hits"] == 1
    assert rates["wrong"]["frozen"]["verdicts that are wrong, at most"] == pytest.approx(
        met + (1 - met) * met**2, abs=1e-4
    )


@pytest.mark.parametrize("share", [0.01, 0.2, 0.6])
@pytest.mark.parametrize("one_is_enough", [False, True])
def test_rates_are_those_of_judge(share: float, one_is_enough: bool) -> None:
    limit = replace(LIMIT, one_is_enough=one_is_enough)
    passes = 0.0
    for runs in itertools.product((True, False), repeat=3):
        chance = math.prod(1 - share if met else share for met in runs)
        values = dict(enumerate((0.9 if met else 0.1 for met in runs), 1))
        with contextlib.suppress(AssertionError):
            training.judge(values.__getitem__, limit)
            passes += chance
    assert 1 - passes == pytest.approx(error_rates._missing(limit, share))


# --- the model of a cluster: the part that is slowest decides

"""The error rates of verdicts, computed from what single runs reach."""

import itertools
import math
from dataclasses import replace

import pytest

from bench import error_rates
from viva.grading import training

LIMIT = training.Threshold("accuracy", 0.8, "at least", (0.9, 0.91), {"frozen": (0.5, 0.51)}, "measure.py")


def test_a_bound_without_misses_is_the_rule_of_three() -> None:
    assert training.share_at_most(0, 200) == pytest.approx(1 - 0.05 ** (1 / 200))
    assert training.share_at_most(0, 200) == pytest.approx(3 / 200, rel=0.01)
    assert training.share_at_most(20, 20) == 1


def test_a_bound_is_the_share_at_which_so_few_are_seen_once_in_twenty_times() -> None:
    share = training.share_at_most(2, 50)
    assert sum(math.comb(50, k) * share**k * (1 - share) ** (50 - k) for k in range(3)) == pytest.approx(0.05)


def test_a_right_program_fails_by_two_misses_and_a_wrong_one_passes_by_one_hit_or_two() -> None:
    values = {"right": [0.9] * 199 + [0.7], "wrong": {"frozen": [0.5] * 19 + [0.85]}}
    found = error_rates._rates(LIMIT, values)
    missed, met = training.share_at_most(1, 200), training.share_at_most(1, 20)
    # The first run misses, and at least one of the two others does.
    assert found["right"] == {
        "runs": 200,
        "misses": 1,
        "range": [0.7, 0.9],
        "verdicts that are wrong, at most": pytest.approx(missed * (1 - (1 - missed) ** 2), abs=1e-6),
    }
    # The first run hits, or both others do.
    assert found["wrong"]["frozen"]["hits"] == 1
    assert found["wrong"]["frozen"]["verdicts that are wrong, at most"] == pytest.approx(
        met + (1 - met) * met**2, abs=1e-4
    )


@pytest.mark.parametrize("share", [0.01, 0.2, 0.6])
@pytest.mark.parametrize("one_is_enough", [False, True])
def test_the_rates_are_those_of_judge(share: float, one_is_enough: bool) -> None:
    limit = replace(LIMIT, one_is_enough=one_is_enough)
    passes = 0.0
    for runs in itertools.product((True, False), repeat=3):
        chance = math.prod(1 - share if met else share for met in runs)
        values = [0.9 if met else 0.1 for met in runs]
        try:
            training.judge(lambda seed, values=values: values[seed - 1], limit)
            passes += chance
        except AssertionError:
            pass
    assert 1 - passes == pytest.approx(error_rates._missing(limit, share))

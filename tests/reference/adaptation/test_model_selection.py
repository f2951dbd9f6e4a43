"""Choosing the best run, against sorting, and the spread of an accuracy, against the binomial distribution."""

import numpy as np
import pytest

from reference.adaptation.model_selection import accuracy_deviation, learned_threshold, select_best
from viva.grading import audits


def test_all_of_the_best_and_only_those() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = rng.integers(0, 4, (int(rng.integers(1, 9)), 2)) / 4
        results = [{"dev": float(dev), "test": float(test)} for dev, test in rows]
        order = sorted(range(len(results)), key=lambda i: -results[i]["dev"])
        first = results[order[0]]["dev"]
        assert select_best(results) == sorted(i for i in order if results[i]["dev"] == first)
        assert select_best(results) == audits.select_best(results)


@pytest.mark.parametrize(("p", "n"), [(2033 / 3270, 3270), (2033 / 3270, 1427), (0.5, 10)])
def test_deviation_of_a_binomial_share(p: float, n: int) -> None:
    drawn = np.random.default_rng(n).binomial(n, p, 200_000) / n
    assert accuracy_deviation(p, n) == pytest.approx(drawn.std(), rel=0.01)


def test_three_deviations_are_rarely_reached_by_chance() -> None:
    p, n = 2033 / 3270, 3270
    drawn = np.random.default_rng(1).binomial(n, p, 200_000) / n
    assert 0.0005 < (drawn >= learned_threshold(p, n)).mean() < 0.003

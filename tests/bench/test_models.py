"""What benchmarks compute: error rates of verdicts from what single runs reach, and the model of a cluster."""

import contextlib
import itertools
import math
from dataclasses import replace

import pytest

from bench import error_rates
from bench.cluster import rate
from bench.cluster_model import Cluster, TaskCost, limits, tasks_per_s
from viva.plugins import training

LIMIT = training.Threshold("accuracy", 0.8, "at least", (0.9, 0.91), {"frozen": (0.5, 0.51)}, "measure.py")


def test_rule_of_three() -> None:
    assert training.share_at_most(0, 200) == pytest.approx(1 - 0.05 ** (1 / 200))
    assert training.share_at_most(0, 200) == pytest.approx(3 / 200, rel=0.01)
    assert training.share_at_most(20, 20) == 1


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


COST = TaskCost(client_ms=10, scheduler_ms=2, database_ms=3, workers_ms=5, kib=25)


@pytest.mark.parametrize(
    ("cluster", "cores", "expected"),
    [
        (Cluster(10, 1, 0.5), None, (20, "workers")),
        (Cluster(10, 1, 0.5), 2, (20, "workers")),
        (Cluster(50, 8, 0.5), None, (100, "client")),
        (Cluster(50, 8, 0.0), None, (100, "client")),
        (Cluster(50, 8, 0.0), 1, (50, "machine")),
        (Cluster(1, 1, 0.01), 4, (100, "client")),
    ],
)
def test_slowest_part_is_the_limit(cluster: Cluster, cores: int | None, expected: tuple[float, str]) -> None:
    assert tasks_per_s(cluster, COST, cores) == expected


def test_workers_that_take_no_time() -> None:
    assert limits(Cluster(1, 1, 0.0), COST) == {"client": 100, "scheduler": 500}


def test_slow_start_and_end_do_not_count() -> None:
    even = [100 + n / 4 for n in range(100)]
    assert rate(even) == pytest.approx(4)
    assert rate([*(t - 60 for t in even[:10]), *even[10:90], *(t + 60 for t in even[90:])]) == pytest.approx(4)
    assert rate(even[::-1]) == pytest.approx(4)

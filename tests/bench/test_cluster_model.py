"""The model of a cluster: the part that is slowest decides."""

import pytest

from bench.cluster import rate
from bench.cluster_model import Cluster, TaskCost, limits, tasks_per_s

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
def test_the_slowest_part_is_the_limit(cluster: Cluster, cores: int | None, expected: tuple[float, str]) -> None:
    assert tasks_per_s(cluster, COST, cores) == expected


def test_workers_that_take_no_time_are_no_limit() -> None:
    assert limits(Cluster(1, 1, 0.0), COST) == {"client": 100, "scheduler": 500}


def test_a_slow_start_and_a_slow_end_do_not_count() -> None:
    even = [100 + n / 4 for n in range(100)]
    assert rate(even) == pytest.approx(4)
    assert rate([*(t - 60 for t in even[:10]), *even[10:90], *(t + 60 for t in even[90:])]) == pytest.approx(4)
    assert rate(even[::-1]) == pytest.approx(4)

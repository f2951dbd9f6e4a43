"""A model of a cluster: what one task costs each part, and how many tasks a second follow from that."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskCost:
    """The CPU that one task takes, in milliseconds, and its bytes."""

    client_ms: float
    scheduler_ms: float
    database_ms: float
    workers_ms: float
    """Of stand-ins: what a worker does besides grading."""
    kib: float

    @property
    def all_ms(self) -> float:
        """Return what a machine needs that runs all parts."""
        return self.client_ms + self.scheduler_ms + self.database_ms + self.workers_ms


@dataclass(frozen=True, slots=True)
class Cluster:
    """How many tasks are graded at once, and how long each takes."""

    workers: int
    threads: int
    task_s: float


def limits(cluster: Cluster, cost: TaskCost, cores: int | None = None) -> dict[str, float]:
    """Return how many tasks a second each part can do.

    Client and scheduler are one process each, which keeps little more than one core busy.

    Args:
        cluster: its workers.
        cost: of one task.
        cores: of the one machine that runs all parts; None if each part has a machine of its own.
    """
    slots = cluster.workers * cluster.threads
    found = {"client": 1e3 / cost.client_ms, "scheduler": 1e3 / cost.scheduler_ms}
    if cluster.task_s:
        found["workers"] = slots / cluster.task_s
    if cores is not None:
        found["machine"] = cores * 1e3 / cost.all_ms
    return found


def tasks_per_s(cluster: Cluster, cost: TaskCost, cores: int | None = None) -> tuple[float, str]:
    """Return how many tasks a second a cluster does, and which part is the limit; arguments as of `limits`."""
    part, most = min(limits(cluster, cost, cores).items(), key=lambda item: item[1])
    return most, part

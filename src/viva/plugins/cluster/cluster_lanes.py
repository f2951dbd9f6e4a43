"""What a run on a cluster keeps about its jobs: those that wait for workers, and those that were sent."""

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from distributed import Future

from viva.model import Entry
from viva.pipeline.jobs import Job


class WaitingJobs:
    """Jobs in the order in which they are sent; knows of which assignments there are any without looking at each."""

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._left: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    def append(self, job: Job) -> None:
        """Add a job at the end."""
        self._jobs.append(job)
        self._left[job.assignment.name] += 1

    def put_back(self, job: Job) -> None:
        """Add a job that is to be sent next."""
        self._jobs.appendleft(job)
        self._left[job.assignment.name] += 1

    def take(self) -> Job:
        """Remove the next job and return it."""
        job = self._jobs.popleft()
        self._left[job.assignment.name] -= 1
        return job

    def clear(self) -> None:
        """Remove all jobs."""
        self._jobs.clear()
        self._left.clear()

    @property
    def assignments(self) -> list[str]:
        """Return the names of the assignments of these jobs."""
        return [name for name, count in self._left.items() if count]


@dataclass(slots=True)
class Lane:
    """Jobs for the same workers."""

    resources: dict[str, float]
    waiting: WaitingJobs = field(default_factory=WaitingJobs)
    sent: int = 0
    threads: int = 0
    """The number of threads of the workers that can do the jobs."""
    alone_since: float | None = None
    """The time since when there has been no such worker."""
    warned: bool = False

    @property
    def has_work(self) -> bool:
        """Return whether any of its jobs has not come back yet."""
        return bool(self.waiting) or self.sent > 0

    def see(self, workers: Sequence[Any]) -> None:
        """Count the workers that can do these jobs."""
        self.threads = sum(
            min([each["nthreads"], *(int(each["resources"].get(name, 0) / n) for name, n in self.resources.items())])
            for each in workers
        )
        if self.threads or not self.has_work:
            self.alone_since, self.warned = None, False
        elif self.alone_since is None:
            self.alone_since = time.monotonic()


@dataclass(slots=True)
class Sent:
    """A job that was sent to the cluster."""

    job: Job
    lane: Lane
    future: Future
    size: int
    last: bool
    """Whether it is the only task in progress, because workers ended while they graded it."""
    only: frozenset[str]
    """The addresses of the workers that may do it, if another one has failed; empty for any."""
    pending: tuple[Entry, ...]
    """Its entries before anything was asked."""
    known: dict[str, Entry] = field(default_factory=dict)
    """The entries so far, by test."""

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries as they are now."""
        known = {**self.known}
        ids = {entry.test_id for entry in self.pending}
        late = [entry for test_id, entry in known.items() if test_id not in ids]
        return (*(known.get(entry.test_id, entry) for entry in self.pending), *late)

"""Grade many submissions on the workers of a Dask cluster: a task is one submission's bytes, its result a score."""

import contextlib
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import dask
from distributed import Future, KilledWorker

from viva.config import Course
from viva.model import Tier
from viva.model.errors import EXPECTED_ERRORS, GraderError, UsageError
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.jobs import GATHER_S, Batches, GradedJob, GradedJobs, Job, Observer, Postponed, one_by_one
from viva.plugins.cluster import cluster_worker
from viva.plugins.cluster.assignment_plan import Plan
from viva.plugins.cluster.cluster_lanes import Lane, Sent
from viva.plugins.cluster.cluster_messages import News, Reply, Task, reply_from_bytes
from viva.plugins.cluster.schedulers import Connection

LOOK_S: Final = 1.0
"""How often the scheduler is asked which workers there are."""
LEAST_AT_ONCE: Final = 8
"""Tasks that are sent even without a worker for them: an adaptive cluster starts workers for waiting tasks."""
MOST_BYTES: Final = 256 << 20
"""The scheduler keeps waiting tasks in memory: at most this much, and one task."""
MOST_LOST: Final = 3
"""How often a task is sent again if the scheduler has lost it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """What the workers of a cluster must match and offer."""

    least: Tier = Tier.T1
    """The weakest isolation that is accepted; workers never grade in T0."""
    tier: Tier | None = None
    """Exactly this isolation; None for the best that each worker offers."""
    course: str = ""
    """The course's folder on the workers; empty for the same path as here."""
    gpu: bool = False
    """Whether workers with the resource `GPU` get what needs one; else tests for a GPU stay pending."""


@dataclass(slots=True)
class ClusterPool:
    """The workers of a Dask cluster, with the interface of `viva.pipeline.local_pool.LocalPool`."""

    connection: Connection
    course: Course
    secret: bytes
    options: GradeOptions = field(default_factory=GradeOptions)
    workers: Workers = field(default_factory=Workers)
    observer: Observer = field(default_factory=Observer)
    """Called at the start of each submission, when it is sent."""
    on_wait: Callable[[str], None] = lambda text: None
    """Called with a line when there is no worker for waiting jobs."""

    def run(self, jobs: Sequence[Job]) -> GradedJobs:
        """Grade the jobs, in any order; each comes back exactly once.

        Yields:
            The job and its score, or the usage or grader error that prevented one.
        """
        return one_by_one(self.in_batches(jobs))

    def in_batches(self, jobs: Sequence[Job]) -> Batches:
        """Grade the jobs; yield lists of what comes back within a quarter of a second."""
        if not jobs:
            return
        under_way = _Run(self, jobs)
        batch, until = list[GradedJob](), 0.0
        try:
            for result in under_way.results():
                if result is not None:
                    until = until if batch else time.monotonic() + GATHER_S
                    batch.append(result)
                if batch and (result is None or time.monotonic() >= until):
                    yield batch
                    batch = []
            if batch:
                yield batch
        finally:
            under_way.cancel()  # does nothing if the run was complete


class _Run:
    """One run over a class."""

    def __init__(self, pool: ClusterPool, jobs: Sequence[Job]) -> None:
        self._pool, self._client = pool, pool.connection.client
        self._id = secrets.token_hex(4)
        self._done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._sent: dict[str, Sent] = {}
        self._suspects: deque[tuple[Job, Lane]] = deque()
        self._lost: dict[str, int] = {}
        self._failed: dict[str, Graded | None] = {}
        """Jobs that a worker could not grade, or not whole; with what came of it."""
        self._failed_at: dict[str, str] = {}
        """The worker that failed."""
        self._addresses: list[str] = []
        self._news = threading.Lock()
        """Held while an observer is notified, so that no notification comes after a job has returned."""
        self._bytes = 0
        self._count = 0
        self._looked = 0.0
        self._introduced = False
        self._plans = {job.assignment.name: self._plan(job, jobs) for job in _one_of_each(jobs)}
        anywhere, with_gpu = Lane({}), Lane({"GPU": 1})
        self._lanes = (anywhere, with_gpu)
        for job in jobs:
            on_gpu = pool.workers.gpu and self._plans[job.assignment.name].needs_gpu(job.options or pool.options)
            (with_gpu if on_gpu else anywhere).waiting.append(job)

    def _plan(self, job: Job, jobs: Sequence[Job]) -> Plan:
        theirs = [each for each in jobs if each.assignment.name == job.assignment.name]
        options = [self._pool.options, *(each.options for each in theirs if each.options is not None)]
        notebooks = any((each.submission or each).may_hold_notebook for each in theirs)
        return Plan.of(self._pool.course, job.assignment, self._pool.secret, options, notebooks=notebooks)

    def results(self) -> Iterator[GradedJob | None]:
        """Send jobs and yield what comes back, until nothing is left; None while nothing comes."""
        self._client.subscribe_topic(cluster_worker.TOPIC, self._hear)
        while self._suspects or any(lane.has_work for lane in self._lanes):
            if self._client.status == "closed":
                yield from self._give_up("the connection to the scheduler was lost", self._lanes)
                return
            yield from self._watch_workers()
            yield from self._send()
            try:
                future = self._done.get(timeout=LOOK_S)
            except queue.Empty:
                yield None
                continue
            sent = self._no_longer_sent(future.key)
            outcome = self._outcome(sent) if sent is not None else None
            job = sent.job if sent is not None else None
            del future, sent  # the scheduler keeps a result as long as someone refers to it
            if job is not None and outcome is not None:
                yield job, outcome

    def cancel(self) -> None:
        """Cancel the tasks on the cluster: no one waits for them any more."""
        with self._news:
            futures = [sent.future for sent in self._sent.values()]
            self._sent.clear()
        if self._client.status == "running":
            with contextlib.suppress(ValueError):  # it was not subscribed
                self._client.unsubscribe_topic(cluster_worker.TOPIC)
            if futures:
                self._client.cancel(futures, force=True)

    def _no_longer_sent(self, key: str) -> Sent | None:
        """Forget a task and return it; None if it is not known any more."""
        with self._news:
            sent = self._sent.pop(key, None)
        if sent is not None:
            sent.lane.sent -= 1
            self._bytes -= sent.size
        return sent

    def _hear(self, event: tuple[float, object]) -> None:
        """Pass on what a worker tells about a task of this run; called in the client's own thread."""
        if not isinstance(event[1], bytes):
            return
        news = News.from_bytes(event[1])
        with self._news:
            sent = self._sent.get(news.key)
            if sent is None:
                return
            if news.entry is None:
                self._pool.observer.on_progress(sent.job, news.text)
                return
            sent.known[news.entry.test_id] = news.entry
            self._pool.observer.on_entry(sent.job, sent.entries)

    def _introduce(self) -> None:
        """Give every worker, also those that start later, the examiners that it keeps from task to task."""
        try:
            self._client.register_plugin(cluster_worker.Examiners())
        except ImportError as error:
            raise _without_viva(error) from error
        self._introduced = True

    def _watch_workers(self) -> Iterator[GradedJob]:
        """Count the workers from time to time; after a timeout, yield the jobs that no worker can do."""
        if time.monotonic() - self._looked < LOOK_S or self._client.status != "running":
            return
        self._looked = time.monotonic()
        try:
            if not self._introduced:
                self._introduce()
            there = self._pool.connection.workers()
            workers, self._addresses = [*there.values()], [*there]
        except OSError:  # the client reconnects, and closes if it cannot
            return
        self._take_back_from_lost_workers()
        worker_timeout_s = self._pool.connection.worker_timeout_s
        for lane in self._lanes:
            lane.see(workers)
            alone_s = 0.0 if lane.alone_since is None else time.monotonic() - lane.alone_since
            if alone_s > 2 and not lane.warned:
                lane.warned = True
                self._pool.on_wait(f"waiting for a worker of the cluster{' with a GPU' if lane.resources else ''}")
            if worker_timeout_s is not None and alone_s > worker_timeout_s:
                yield from self._give_up(f"there was no worker for {worker_timeout_s:.0f} s", (lane,))

    def _take_back_from_lost_workers(self) -> None:
        """Let any worker do what was meant for others alone that have ended since."""
        for key, sent in [*self._sent.items()]:
            if sent.only and sent.only.isdisjoint(self._addresses):
                self._no_longer_sent(key)
                self._client.cancel([sent.future], force=True)
                del self._failed_at[sent.job.name]
                sent.lane.waiting.put_back(sent.job)

    def _send(self) -> Iterator[GradedJob]:
        """Send enough to keep the workers busy: jobs that wait here can be cancelled, and need no memory there."""
        if self._client.status != "running" or not self._introduced:
            return
        for lane in self._lanes:
            while (
                lane.waiting and lane.sent < max(2 * lane.threads, LEAST_AT_ONCE) and self._bytes < MOST_BYTES
            ):  # two for each thread, so that no thread waits for the next job
                job = lane.waiting.take()
                yield from self._submit(job, lane)
        if self._suspects and not any(lane.has_work for lane in self._lanes):
            yield from self._submit(*self._suspects.popleft(), last=True)

    def _submit(self, job: Job, lane: Lane, *, last: bool = False) -> Iterator[GradedJob]:
        plan, options = self._plans[job.assignment.name], job.options or self._pool.options
        try:
            if not self._pool.observer.may_start(job):
                yield job, Postponed()
                return
            data = self._task(job, plan, options, gpu=bool(lane.resources)).to_bytes()
        except EXPECTED_ERRORS as error:
            yield job, error
            return
        pending = plan.open_entries(options)
        self._pool.observer.on_start(job, pending)
        self._count += 1
        key = f"viva-{self._id}-{self._count}"
        failed_at = self._failed_at.get(job.name)
        others = [each for each in self._addresses if each != failed_at] if failed_at else []
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": len(data) + MOST_BYTES}):
            future = self._client.submit(
                cluster_worker.grade,
                data,
                key=key,
                pure=False,
                resources=lane.resources or None,
                workers=others or None,
            )
        self._sent[key] = Sent(job, lane, future, len(data), last, frozenset(others), pending)
        lane.sent += 1
        self._bytes += len(data)
        future.add_done_callback(self._done.put)

    def _task(self, job: Job, plan: Plan, options: GradeOptions, *, gpu: bool) -> Task:
        pool, workers = self._pool, self._pool.workers
        least = max(workers.least, job.assignment.min_tier or Tier.T0, Tier.T1)
        return Task(
            request=GradeRequest(job.read(pool.course), options, interceptor_input=job.interceptor_input()),
            course=workers.course or str(pool.course.root),
            assignment=job.assignment.name,
            made_with=plan.made_with,
            seed_id=plan.seed_id,
            least=least,
            tier=workers.tier,
            gpu=gpu,
            notebooks=plan.notebooks,
            waiting=tuple({name for lane in self._lanes for name in lane.waiting.assignments}),
        )

    def _outcome(self, sent: Sent) -> Graded | Exception | None:
        """Return the outcome of a task; None if it is tried again."""
        future, job = sent.future, sent.job
        if future.cancelled():  # the scheduler restarted, or the connection to it broke
            return self._again(sent)
        if future.status != "error":
            try:
                return self._take_in(sent, reply_from_bytes(future.result(timeout=60)))
            except UsageError as error:
                return error
            except GraderError as error:  # that worker failed; another one may try, once
                if job.name in self._failed:
                    return self._failed[job.name] or error
                self._elsewhere(sent, None)
                return None
            except Exception:  # the worker with the result ended, and no other one replaced it
                return self._again(sent)
        raised = future.exception()
        if isinstance(raised, KilledWorker):
            if sent.last:
                return GraderError(f"{job.name}: every worker that graded it ended; their logs say why")
            self._suspects.append((job, sent.lane))  # other tasks ran at the same time: this one may not be the cause
            return None
        if isinstance(raised, ImportError | AttributeError):
            return _without_viva(raised)
        return GraderError(f"the cluster could not grade it: {type(raised).__name__}: {raised}")

    def _take_in(self, sent: Sent, reply: Reply) -> Graded | None:
        """Return the score of a reply; None if another worker tries again, because something went wrong with this."""
        job, graded = sent.job, reply.graded
        if (graded.score.has_grader_error or not graded.finished) and job.name not in self._failed:
            self._failed_at[job.name] = reply.worker
            self._elsewhere(sent, graded)
            return None
        return graded

    def _elsewhere(self, sent: Sent, graded: Graded | None) -> None:
        """Let another worker try what one could not grade, or not whole."""
        self._failed[sent.job.name] = graded
        sent.lane.waiting.put_back(sent.job)

    def _again(self, sent: Sent) -> Graded | Exception | None:
        self._introduced = False  # it may be a different scheduler
        name = sent.job.name
        self._lost[name] = self._lost.get(name, 0) + 1
        if self._lost[name] > MOST_LOST:
            return GraderError("the scheduler lost it again and again")
        sent.lane.waiting.put_back(sent.job)
        return None

    def _give_up(self, why: str, lanes: Sequence[Lane]) -> Iterator[GradedJob]:
        """Yield all jobs of these lanes without a score."""
        with self._news:
            under_way = [sent for sent in self._sent.values() if sent.lane in lanes]
            self._sent = {key: sent for key, sent in self._sent.items() if sent.lane not in lanes}
        jobs = [sent.job for sent in under_way] + [job for lane in lanes for job in lane.waiting]
        jobs += [job for job, lane in self._suspects if lane in lanes]
        if self._client.status == "running":
            self._client.cancel([sent.future for sent in under_way], force=True)
        self._suspects = deque(each for each in self._suspects if each[1] not in lanes)
        for lane in lanes:
            lane.waiting.clear()
            lane.sent = 0
        self._bytes = sum(sent.size for sent in self._sent.values())
        for job in jobs:
            yield job, GraderError(why)


def _one_of_each(jobs: Sequence[Job]) -> list[Job]:
    """Return one job of each assignment."""
    return [*{job.assignment.name: job for job in jobs}.values()]


def _without_viva(error: BaseException) -> UsageError:
    return UsageError(
        f"The scheduler or a worker of the cluster cannot run viva: {error}; install the same viva, with the extra "
        "`scale`, in the environment of each."
    )

"""The worker's side of a cluster: bytes in, bytes out, with examiners that are kept from task to task."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from distributed import Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from tornado.ioloop import PeriodicCallback

import viva
from viva.config import Assignment, Course, load_course
from viva.model import Entry, Tier
from viva.model.errors import CourseError, GraderError, UsageError
from viva.model.gpu import NONE_HERE, Gpus
from viva.model.grade_request import Graded
from viva.model.seeds import Seeds
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.pipeline.retry import at_most_twice
from viva.plugins.cluster.cluster_messages import News, Reply, Task, error_to_bytes
from viva.plugins.records.conditions import hash_tests
from viva.sandbox.host.gpu.gpus import find_gpus
from viva.sandbox.host.levels.detect_levels import detect_tiers

NAME: Final = "viva-examiners"
"""The plugin's name on every worker, the same for all clients."""
TOPIC: Final = f"viva {viva.__version__}"
"""Under which workers tell clients what happens; each client knows its own tasks."""
SAME_RUN_S: Final = 1.0
"""After this long without work, a course is read again; until then, tests are collected only once."""
IDLE_S: Final = 300.0
"""After this long without work, an examiner ends: the run is over, or its client was killed."""


def grade(message: bytes) -> bytes:
    """Grade one submission on the worker that calls this; every error becomes a reply."""
    worker = get_worker()
    key = worker.get_current_task()

    def tell(news: News) -> None:
        worker.log_event(TOPIC, news.to_bytes())

    try:
        task = Task.from_bytes(message)
        graded = worker.plugins[NAME].grade(
            task, lambda entry: tell(News(key, entry)), lambda text: tell(News(key, text=text))
        )
    except UsageError as error:
        return error_to_bytes(UsageError(f"The worker {worker.address} refuses: {error}"))
    except Exception as error:  # reported for this submission; the worker continues
        return error_to_bytes(GraderError(f"on the worker {worker.address}: {type(error).__name__}: {error}"))
    return Reply(graded, worker.address).to_bytes()


@dataclass(frozen=True, slots=True)
class _Kind:
    """Tasks that one examiner can do."""

    course: str
    assignment: str
    made_with: str
    seed_id: str
    visible_only: bool
    least: Tier
    tier: Tier | None
    gpu: bool
    notebooks: bool


@dataclass(slots=True)
class _Idle:
    """An examiner without a task."""

    kind: _Kind
    examiner: ExaminerProcess
    since: float


class Examiners(WorkerPlugin):  # type: ignore[misc]  # dask's classes are not typed
    """The examiners of one worker; each of its threads uses one at a time, and no two threads the same."""

    name = NAME
    idempotent = True

    def setup(self, worker: Worker) -> None:
        """Start with no examiners, in a worker that begins; before that, everything here must be sendable."""
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []
        self._busy: set[ExaminerProcess] = set()
        self._closed = False
        self._tidy = PeriodicCallback(self._end_idle, IDLE_S / 10 * 1000)
        worker.loop.add_callback(self._tidy.start)

    def teardown(self, worker: Worker) -> None:
        """End every examiner, also in the middle of a submission, when the worker closes."""
        self._tidy.stop()
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for examiner in self._busy:
                examiner.stop()
        _close(idle)

    def grade(
        self,
        task: Task,
        on_entry: Callable[[Entry], None] = lambda _: None,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> Graded:
        """Grade one submission.

        Args:
            task: the submission, and how to grade it.
            on_entry: called with each entry as soon as it is known.
            on_progress: called with a line about a slow test.

        Raises:
            UsageError: this worker's viva, course, secret or isolation is not what the task requires.
            GraderError: no examiner could be started.
        """
        options = task.request.options
        kind = _Kind(
            *(task.course, task.assignment, task.made_with, task.seed_id, options.visible_only),
            *(task.least, task.tier, task.gpu, task.notebooks),
        )
        examiner = self._take(kind, task.waiting)

        def attempt() -> Graded:
            examiner.open()
            examiner.check_selection(options)
            return examiner.grade(task.request, on_entry, on_progress)

        try:
            graded = at_most_twice(attempt, lambda: self._closed)
        except BaseException:
            examiner.close(kill=True)  # it may still send messages about this submission
            with self._lock:
                self._busy.discard(examiner)
            raise
        self._give_back(kind, examiner)
        return graded

    def _take(self, kind: _Kind, waiting: tuple[str, ...]) -> ExaminerProcess:
        """Return an examiner for the task; first end idle ones without a waiting task, since they take much memory."""
        with self._lock:
            useless = [each for each in self._idle if not _is_of_use(each.kind, kind, waiting)]
            self._idle = [each for each in self._idle if each not in useless]
            found = next((each for each in self._idle if each.kind == kind), None)
            if found is not None:
                self._idle.remove(found)
                self._busy.add(found.examiner)
        _close(useless)
        if found is not None:
            return self._still_the_same(found)
        examiner = _make(kind)
        with self._lock:
            self._busy.add(examiner)
            if self._closed:
                examiner.stop()
        return examiner

    def _still_the_same(self, found: _Idle) -> ExaminerProcess:
        """Return the examiner; after a pause, first check that another run has not changed the course."""
        if time.monotonic() - found.since > SAME_RUN_S:
            try:
                _check(found.kind)
            except BaseException:
                found.examiner.close()
                with self._lock:
                    self._busy.discard(found.examiner)
                raise
        return found.examiner

    def _give_back(self, kind: _Kind, examiner: ExaminerProcess) -> None:
        with self._lock:
            self._busy.discard(examiner)
            if not self._closed:
                self._idle.append(_Idle(kind, examiner, time.monotonic()))
                return
        examiner.close(kill=True)

    def _end_idle(self) -> None:
        """End examiners that have been idle for long; the worker's loop calls this from time to time."""
        with self._lock:
            old = [each for each in self._idle if time.monotonic() - each.since > IDLE_S]
            self._idle = [each for each in self._idle if each not in old]
        if old:
            threading.Thread(target=_close, args=(old,), daemon=True).start()


def _close(held: list[_Idle]) -> None:
    for each in held:
        each.examiner.close()


def _is_of_use(idle: _Kind, needed: _Kind, waiting: tuple[str, ...]) -> bool:
    if idle.assignment == needed.assignment and idle.course == needed.course:
        return (idle.made_with, idle.seed_id) == (needed.made_with, needed.seed_id)  # else of an earlier course
    return idle.assignment in waiting


def _make(kind: _Kind) -> ExaminerProcess:
    """Return a new examiner for this worker's course."""
    course, assignment, secret = _check(kind)
    gpus = Gpus.offer(find_gpus(os.environ)) if kind.gpu else Gpus(why_none=NONE_HERE)
    boxes = BoxOptions(_tier(kind), notebooks=kind.notebooks, gpus=gpus)
    return ExaminerProcess(course, assignment, secret, boxes)


def _check(kind: _Kind) -> tuple[Course, Assignment, bytes]:
    """Read this worker's course again and check that it is the one that the task means."""
    try:
        course = load_course(Path(kind.course))
    except CourseError as error:
        raise CourseError(f"{error} If its course is elsewhere, say --worker-course DIR.") from error
    assignment = course.assignment(kind.assignment)
    secret = course.secret_or_public(os.environ) if kind.visible_only else course.secret(os.environ)
    if hash_tests(assignment, course.root) != kind.made_with:
        raise UsageError(
            f"{assignment.name} has other tests, another key or other settings in {course.root} there than here; bring "
            "both to the same state, or say --worker-course DIR if the course is elsewhere on the workers."
        )
    if Seeds(secret, assignment.name, assignment.version).id != kind.seed_id:
        raise UsageError(
            f"it has another course secret ({course.secret_source}), which draws other questions; give it this one."
        )
    return course, assignment, secret


def _tier(kind: _Kind) -> Tier:
    """Return this worker's isolation: never T0, because a class's submissions are on the same machine as the key."""
    offered = {report.tier for report in detect_tiers() if report.available and report.tier >= max(kind.least, Tier.T1)}
    if kind.tier in offered or (kind.tier is None and offered):
        return max(offered) if kind.tier is None else kind.tier
    needed = f"{max(kind.least, Tier.T1)} or better" if kind.tier is None else str(kind.tier)
    why = next((f" ({report.tier}: {report.sentence})" for report in detect_tiers() if not report.available), "")
    raise UsageError(f"it does not offer isolation {needed}{why}; `viva doctor` on it says what is missing.")

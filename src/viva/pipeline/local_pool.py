"""Grade many submissions on the cores of this machine; a broken submission never stops the others."""

import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from viva.config import Assignment, Course
from viva.model import Entry
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline import capacity
from viva.pipeline.jobs import GATHER_S, Batches, GradedJob, GradedJobs, Job, Observer, Postponed, one_by_one
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.pipeline.retry import at_most_twice
from viva.pipeline.unused_modules import unused_modules

ExaminerFactory = Callable[[Course, Assignment, bytes, BoxOptions, Callable[[], tuple[str, ...]]], ExaminerProcess]
"""Returns an examiner that is not open yet; the arguments are those of ExaminerProcess."""


@dataclass(slots=True)
class LocalPool:
    """Examiners on the cores of this machine, with default options for submissions without options."""

    course: Course
    secret: bytes
    boxes: BoxOptions
    options: GradeOptions = field(default_factory=GradeOptions)
    workers: int = 0
    """Examiners at once; 0 for one per core, as far as memory allows."""
    observer: Observer = field(default_factory=Observer)
    examiner_factory: ExaminerFactory = ExaminerProcess

    def run(self, jobs: Sequence[Job]) -> GradedJobs:
        """Grade the jobs, in any order; each comes back exactly once.

        Yields:
            The job and its score, or the usage or grader error that prevented one.
        """
        return one_by_one(self.in_batches(jobs))

    def in_batches(self, jobs: Sequence[Job]) -> Batches:
        """Grade the jobs; yield lists of what comes back within a quarter of a second."""
        waiting = _Queue(jobs)
        done: queue.SimpleQueue[GradedJob | None] = queue.SimpleQueue()
        box_mib = max((job.assignment.limits.memory_mib for job in jobs), default=0)
        most = self.workers or capacity.within_memory(capacity.cores(), box_mib)
        count = min(most, len(jobs))
        run = _Run(jobs)
        threads = [threading.Thread(target=self._work, args=(waiting, done, run), daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            self.observer.while_waiting()
            running, left = count, len(jobs)
            while running:
                batch = _gathered(done, left)
                results = [result for result in batch if result is not None]
                running, left = running - (len(batch) - len(results)), left - len(results)
                if results:
                    yield results
        except BaseException:  # Ctrl-C: no one waits for the submissions in progress
            run.stop_now()
            raise
        finally:
            run.stop.set()
            for thread in threads:
                thread.join(15)

    def _work(
        self,
        waiting: "_Queue",
        done: "queue.SimpleQueue[GradedJob | None]",
        run: "_Run",
    ) -> None:
        examiners: dict[str, ExaminerProcess] = {}
        try:
            while not run.stop.is_set() and (job := waiting.take()) is not None:
                name = job.assignment.name
                for idle in [other for other in examiners if other != name and not waiting.has(other)]:
                    examiners.pop(idle).close()  # its libraries take much memory
                try:
                    if not self.observer.may_start(job):
                        done.put((job, Postponed()))
                        continue
                    if name not in examiners:
                        boxes = replace(self.boxes, notebooks=run.notebooks)
                        examiners[name] = self.examiner_factory(
                            self.course, job.assignment, self.secret, boxes, partial(run.unused.of, job.assignment)
                        )
                        run.watch(examiners[name])
                    done.put((job, self._grade(examiners[name], job, run)))
                except Exception as error:  # reported for this job; the others continue
                    if (examiner := examiners.pop(name, None)) is not None:
                        examiner.close(kill=examiner.is_asked)  # it may still send messages about this job
                    done.put((job, error))
        finally:
            for examiner in examiners.values():
                examiner.close()
            done.put(None)

    def _grade(self, examiner: ExaminerProcess, job: Job, run: "_Run") -> Graded:
        submission, options = job.read(self.course), job.options or self.options
        request = GradeRequest(submission, options, job.interceptor_input())
        return at_most_twice(lambda: self._try(examiner, job, request), run.stop.is_set)

    def _try(self, examiner: ExaminerProcess, job: Job, request: GradeRequest) -> Graded:
        examiner.open()
        examiner.check_selection(request.options)
        known: list[Entry] = []

        def entries() -> tuple[Entry, ...]:
            return examiner.pending(request.options, known)

        def on_entry(entry: Entry) -> None:
            known.append(entry)
            self.observer.on_entry(job, entries)

        self.observer.on_start(job, entries())
        return examiner.grade(request, on_entry, lambda text: self.observer.on_progress(job, text))


def _gathered(done: "queue.SimpleQueue[GradedJob | None]", left: int) -> list[GradedJob | None]:
    """Wait for what comes back next; return it with what follows soon, if as much as this is left."""
    found = [done.get()]
    until = time.monotonic() + GATHER_S
    with suppress(queue.Empty):
        while len(found) < left and (wait_s := until - time.monotonic()) > 0:
            found.append(done.get(timeout=wait_s))
    return found


class _Queue:
    """The jobs that no worker has taken yet, in their order."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._lock = threading.Lock()
        self._jobs = deque(jobs)
        self._left = Counter(job.assignment.name for job in jobs)

    def take(self) -> Job | None:
        """Return the next job, or None if there is none."""
        with self._lock:
            if not self._jobs:
                return None
            job = self._jobs.popleft()
            self._left[job.assignment.name] -= 1
            return job

    def has(self, assignment: str) -> bool:
        """Return whether a job of the assignment has not been taken yet."""
        with self._lock:
            return self._left[assignment] > 0


class _Unused:
    """The modules that no submission of the run uses, found once for each assignment, by any thread."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._found: dict[str, tuple[str, ...]] = {}

    def of(self, assignment: Assignment) -> tuple[str, ...]:
        """Return the modules for boxes of an assignment.

        Raises:
            CourseError: the author's helpers cannot be used.
        """
        with self._lock:
            if assignment.name not in self._found:
                theirs = [job.submission for job in self._jobs if job.assignment.name == assignment.name]
                self._found[assignment.name] = unused_modules(assignment, theirs)
            return self._found[assignment.name]


class _Run:
    """What the workers of one run have in common; knows every examiner that was started."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.notebooks = any((job.submission or job).may_hold_notebook for job in jobs)
        """Whether any submission may hold a notebook."""
        self.unused = _Unused(jobs)
        self.stop = threading.Event()
        """Set when no further submission may start."""
        self._lock = threading.Lock()
        self._examiners: list[ExaminerProcess] = []
        self._at_once = False

    def watch(self, examiner: ExaminerProcess) -> None:
        """Register an examiner; one that registers too late is ended before it begins."""
        with self._lock:
            self._examiners.append(examiner)
            if self._at_once:
                examiner.stop()

    def stop_now(self) -> None:
        """End every examiner, also in the middle of a submission."""
        with self._lock:
            self._at_once = True
            self.stop.set()
            for examiner in self._examiners:
                examiner.stop()

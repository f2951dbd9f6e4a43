"""What `run_autograder` calls: grades /autograder/submission and always writes /autograder/results/results.json.

`python -I -m viva.plugins.release.gradescope.harness`. Students read sentences. Details of viva's own failures go to
standard output, which the platform shows only to instructors. The platform ends us without a message when its time or
memory is used up, so we stay below both limits.
"""

import argparse
import contextlib
import dataclasses
import io
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from viva.formats import escaping
from viva.formats.decimal_points import total_in_words
from viva.model import Entry, Score, Submission, Tier
from viva.model.counting import counted
from viva.model.errors import CourseError, GraderError, UsageError
from viva.plugins.release.gradescope.container_memory import MemoryPlan, plan_memory
from viva.plugins.release.gradescope.live_results import LiveResults, failure_results
from viva.plugins.release.gradescope.platform_paths import PackedSettings, PlatformPaths
from viva.sandbox.host.limits.host_memory import container_mib

MARGIN_S: Final = 60.0
"""How long before the platform's time limit we stop: its clock starts before us, and writing takes time."""
LAST_RESORT_S: Final = 25.0
"""How long after our own time limit we exit even if something hangs."""
TOO_SMALL: Final = (
    "This autograder's container has {limit} MiB of memory, and this assignment needs {needed}: choose a larger one "
    "under Configure Autograder, Container Specifications, and run the autograder again."
)


class TimeIsUp(BaseException):
    """Raised in the main thread; `except Exception` must not handle it as an error."""


@dataclasses.dataclass(slots=True)
class Run:
    """One run of the autograder."""

    paths: PlatformPaths
    tier: Tier | None = None
    """The tier to use instead of the best one; never T0."""
    deadline_s: float | None = None
    """The time limit to use instead of the platform's less a margin."""
    started: float = dataclasses.field(default_factory=time.monotonic)
    writer: LiveResults = dataclasses.field(init=False)
    used: str = "none"
    """The tier that is used."""

    def __post_init__(self) -> None:
        self.writer = LiveResults(self.paths.results, "after_published")

    def run(self) -> None:
        """Grade, and leave a valid results.json whatever happens."""
        try:
            self._graded()
        except TimeIsUp:
            self._time_is_up()
        except BaseException:
            details = traceback.format_exc()
            print(details, flush=True)
            self._fail(details)

    def _graded(self) -> None:
        for sentence in self.paths.close():
            print(f"viva: warning: {sentence}")
        self._write_first()
        packed = PackedSettings.read(self.paths)
        with self._deadline(packed):
            self._grade(packed)

    def _write_first(self) -> None:
        """Write the results that are read if the machine or the platform ends us without a message."""
        from viva.formats.atomic_write import write_atomically

        write_atomically(self.paths.results, failure_results("The autograder did not come to its end."), mode=0o600)

    def _grade(self, packed: PackedSettings) -> None:
        from viva.config import load_course
        from viva.model.grade_request import GradeOptions
        from viva.pipeline.jobs import Job, Observer
        from viva.pipeline.local_pool import LocalPool
        from viva.pipeline.process.settings import BoxOptions
        from viva.submissions import open_submission

        course = load_course(self.paths.course)
        assignment = course.assignment(packed.assignment)
        settings = assignment.release.gradescope
        self.writer = LiveResults(self.paths.results, settings.hidden)
        tier = self._tier(assignment.min_tier)
        self.used = str(tier)
        shared = plan_memory(
            container_mib(self.paths.root), assignment.limits.memory_mib, packed.rest_mib, packed.box_mib
        )
        notes = self._notes(shared, assignment.limits.memory_mib)
        limits = dataclasses.replace(assignment.limits, memory_mib=shared.memory_mib)
        assignment = dataclasses.replace(assignment, limits=limits)
        submission = open_submission(self.paths.submission, "submission", withheld=course.withheld)
        submission = dataclasses.replace(submission, notes=(*submission.notes, *notes))
        self.writer.score = lambda entries: _score(submission, assignment.name, assignment.version, entries)
        job = Job(
            self.paths.submission, "submission", assignment, submission,
            may_hold_notebook=submission.may_hold_notebook,
        )  # fmt: skip
        observer = Observer(
            on_start=lambda _, pending: self.writer.entries(lambda: pending),
            on_entry=lambda _, entries: self.writer.entries(entries),
            on_progress=lambda _, line: print(f"viva: {line}", flush=True),
        )
        options = GradeOptions(training=settings.training)
        pool = LocalPool(course, course.secret(os.environ), BoxOptions(tier), options, 1, observer)
        for _, graded in pool.run([job]):
            signal.setitimer(signal.ITIMER_REAL, 0)
            if isinstance(graded, Exception):
                raise graded
            for remark in graded.remarks:
                print(f"viva: {remark}")
            self._last(graded.score)

    def _last(self, score: Score) -> None:
        self.writer.last(score)
        for entry in score.entries:
            if entry.staff_message:
                print(f"{entry.test_id}: {entry.status}\n{escaping.terminal(entry.staff_message)}\n")
        print(f"viva: {total_in_words(score.totals)}; isolation {self.used}")

    def _tier(self, floor: Tier | None) -> Tier:
        """Return the best isolation level of this container.

        Raises:
            GraderError: it is too weak for untrusted code.
        """
        from viva.sandbox.host.levels.detect_levels import detect_tiers

        least = max(Tier.T1, floor if floor is not None else Tier.T1)
        reports = detect_tiers()
        offered = [r.tier for r in reports if r.available and r.tier >= least]
        if self.tier is not None:
            offered = [tier for tier in offered if tier == self.tier]
        if not offered:
            why = "; ".join(f"{r.tier}: {r.sentence}" for r in reports if r.tier >= least and not r.available)
            raise GraderError(f"Nothing was graded: this container offers no isolation {least} or better ({why}).")
        return max(offered)

    def _notes(self, shared: MemoryPlan, wanted_mib: int) -> tuple[str, ...]:
        """Return what a student should know about the container's memory.

        Raises:
            GraderError: it is too small to begin.
        """
        if not shared.fits:
            raise GraderError(TOO_SMALL.format(limit=shared.limit_mib, needed=shared.needed_mib))
        if shared.memory_mib >= wanted_mib:
            return ()
        note = f"Your program has {shared.memory_mib} MiB of memory here; the assignment allows {wanted_mib}."
        print(f"viva: {note} The container has {shared.limit_mib} MiB.")
        return (note,)

    @contextlib.contextmanager
    def _deadline(self, packed: PackedSettings) -> Iterator[None]:
        """Raise TimeIsUp in this thread when our time is up, or when we are asked to end."""
        limit_s = self.deadline_s or max(packed.timeout_s - MARGIN_S, packed.timeout_s / 2)

        def stop(_number: int, _frame: FrameType | None) -> None:
            last_resort = threading.Timer(LAST_RESORT_S, _end)
            last_resort.daemon = True
            last_resort.start()
            raise TimeIsUp

        before = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGTERM)}
        signal.setitimer(signal.ITIMER_REAL, max(0.001, limit_s - (time.monotonic() - self.started)))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _time_is_up(self) -> None:
        used = f"{time.monotonic() - self.started:.0f} s"
        print(f"viva: stopped after {used}: the autograder's time was up.", flush=True)
        note = f"The autograder's time was up after {used}: tests that say so below were not run, or not to their end."
        if not self.writer.cut(note, self.used):
            self._fail(f"Time was up after {used}, before the first test.")

    def _fail(self, details: str) -> None:
        try:
            if not self.writer.closed:
                self.writer.last(failure_results(details))
        except Exception:
            print(f"viva: results.json could not be written:\n{traceback.format_exc()}", flush=True)


def _score(submission: Submission, assignment: str, version: int, entries: tuple[Entry, ...]) -> Score:
    return Score("submission", submission.content_hash, assignment, version, entries, notes=submission.notes)


def _end() -> None:
    print("viva: what was stopped did not end; left alone.", flush=True)
    os._exit(0)


def check(paths: PlatformPaths) -> int:
    """Test, when the image is built, whether everything is there; return the exit status."""
    from viva.config import load_course
    from viva.pipeline.process.examiner_process import ExaminerProcess
    from viva.pipeline.process.settings import BoxOptions

    packed = PackedSettings.read(paths)
    course = load_course(paths.course)
    assignment = course.assignment(packed.assignment)
    try:
        tier = Run(paths)._tier(assignment.min_tier)
    except GraderError as error:
        print(f"viva: warning: {error} It may be otherwise where submissions are graded.")
        return 0
    try:
        with ExaminerProcess(course, assignment, course.secret(os.environ), BoxOptions(tier, ready=1)) as examiner:
            examiner.open()
            print(f"viva: {assignment.name} is ready: {counted(len(examiner.tests), 'test')}, isolation {tier}.")
    except (CourseError, UsageError, GraderError) as error:
        print(f"viva: this autograder will not work: {error}")
        return 1
    return 0


def main() -> int:
    """Run the command.

    The exit status is 0 whenever a file was written, because the platform treats any other status as a crash.
    """
    parser = argparse.ArgumentParser(prog="viva.plugins.release.gradescope.harness")
    parser.add_argument("--root", type=Path, default=Path("/"), help="the folder that holds `autograder`")
    parser.add_argument("--check", action="store_true", help="only try whether everything is there")
    parser.add_argument("--tier", choices=["T1", "T2", "T3"], help="the isolation to use")
    parser.add_argument("--deadline", type=float, metavar="S", help="seconds, instead of what was packed")
    given = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # students' output may not be valid text in any encoding
    paths = PlatformPaths(given.root.absolute())
    if given.check:
        return check(paths)
    Run(paths, Tier[given.tier] if given.tier else None, given.deadline).run()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

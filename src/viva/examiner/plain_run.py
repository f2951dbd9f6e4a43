"""`pytest graders/<a> --submission PATH`: an ordinary pytest run on one submission, for an author at work.

The markers `gpu`, `training`, `depends` and `timeout` mean what they mean to `viva grade`.
"""

import os
import sys
from pathlib import Path

import pytest

from viva.config import Assignment, Course, find_course, load_course
from viva.examiner.answer_source import answers_of
from viva.examiner.boxes.author_helpers import helpers_of
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader
from viva.examiner.boxes.on_gpu import OnGpu
from viva.examiner.catalog import TestFunction, case_label, catalog, resolve, with_prerequisites
from viva.examiner.grader import CONTEXT, Context
from viva.examiner.load_notes import notes_for_student
from viva.examiner.outcome import judge
from viva.examiner.pytest_internals import tear_down
from viva.grading.signals import NeedsReview
from viva.model import Tier
from viva.model.errors import EXPECTED_ERRORS, CourseError, UsageError
from viva.model.gpu import Gpus
from viva.sandbox.host.box_pool import Pool
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.gpu.gpu_boxes import GpuBoxes
from viva.sandbox.host.gpu.gpus import find_gpus
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.submissions import open_submission


class AssignmentRun:
    """The tests of one assignment, with its own key and its own boxes."""

    def __init__(self, course: Course, assignment: Assignment, items: list[pytest.Item]) -> None:
        self.course, self.assignment = course, assignment
        self.functions = catalog(items, whole=False)
        self.lost: set[str] = set()
        """The ids of tests that did not pass, and are not open either."""
        self._epoch = 0

    def open(self, path: Path, tier: Tier, gpus: Gpus) -> None:
        """Start the fork servers and read the key.

        Raises:
            VivaError: the submission, the key or the secret cannot be read, or no box can be made.
        """
        assignment, self._gpus = self.assignment, gpus
        python = str(assignment.python) if assignment.python else sys.executable
        hidden = assignment.hidden
        # Started before the key is read; pytest's main thread lasts as long as the run.
        self._fork_server = ForkServer.start(tier, preload=assignment.preload, python=python, hidden=hidden)
        self._pool = Pool(self._fork_server, assignment.limits, ready=1)
        self._gpu_boxes: GpuBoxes | None = None
        if gpus.devices and any(function.gpu is not None for function in self.functions):
            self._gpu_boxes = GpuBoxes.start(
                tier, assignment.limits, gpus, preload=assignment.preload, python=python, hidden=hidden
            )
        submission = open_submission(path, str(path))
        key, seeds = answers_of(assignment, self.course.root, self.course.secret_or_public(os.environ))
        on_gpu = OnGpu(self._gpu_boxes) if self._gpu_boxes is not None else None
        loader = Loader(submission, assignment, helpers_of(assignment))
        self.session = BoxSession(self._pool, loader, assignment.limits, on_gpu)
        tested = frozenset(function.number for function in self.functions)
        self.context = Context(submission, self.session, key, seeds, tested, assignment.answers)
        self._epoch = self.session.epoch

    def begin(self, function: TestFunction, item: pytest.Function) -> None:
        """Set the seed and the time limit of a test, or skip it as `viva grade` does."""
        if function.gpu is not None and (why := self._gpus.reason_unavailable(function.gpu.memory_mib)):
            pytest.skip(why)
        for name in function.depends:
            needed = resolve(name, function, self.functions)
            if needed.test_id in self.lost:
                self.lost.add(function.test_id)
                pytest.skip(f"another test must pass first: {needed.name}")
        context = self.context
        context.test_id = f"{function.test_id}[{case_label(item)}]"
        context.set_points, context.leader = None, None
        self.session.begin_test(
            seed=context.seeds.box(context.test_id),
            test_s=function.timeout_s or self.assignment.limits.test_s,
            call_s=function.timeout_s,
            hidden=False,
            gpu=function.gpu,
        )
        if self.session.epoch != self._epoch:  # fixtures may hold objects of the box that is gone
            tear_down(item)
            self._epoch = self.session.epoch

    def close(self) -> None:
        """End the boxes and the fork servers, as far as they were started."""
        for name in ("session", "_pool", "_gpu_boxes", "_fork_server"):
            part = getattr(self, name, None)
            if part is not None:
                part.close()


class PlainRun:
    """The plugin that `--submission` registers; it makes boxes after the tests have been collected."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._runs: list[AssignmentRun] = []
        self._of: dict[pytest.Item, tuple[AssignmentRun, TestFunction]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]):  # type: ignore[no-untyped-def]  # a generator for pluggy
        """Put the tests in the order of grading, add what those that `-k` chooses depend on, and make the boxes."""
        try:
            self._runs = _by_assignment(self._config, items)
        except EXPECTED_ERRORS as error:
            raise pytest.UsageError(str(error)) from error
        self._of = {
            item: (run, function) for run in self._runs for function in run.functions for item in function.items
        }
        yield
        chosen = set(items)
        for run in self._runs:
            chosen |= _prerequisites(run.functions, chosen)
        items[:] = [item for item in self._of if item in chosen]
        self._runs = [run for run in self._runs if any(self._of[item][0] is run for item in items)]
        try:
            if self._runs:
                tier, gpus = _tier(self._config.getoption("--tier")), Gpus.offer(find_gpus(os.environ))
            for run in self._runs:
                run.open(Path(self._config.getoption("--submission")), tier, gpus)
        except EXPECTED_ERRORS as error:
            raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Let the fixtures find the assignment's key and boxes, and begin the test."""
        run, function = self._of[item]
        assert isinstance(item, pytest.Function)  # the catalog takes nothing else
        self._config.stash[CONTEXT] = run.context
        run.begin(function, item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item):  # type: ignore[no-untyped-def]  # a generator for pluggy
        """Show questions graded by hand as skipped, and print what the student would read."""
        session = self._of[item][0].session
        try:
            return (yield)
        except NeedsReview as signal:
            pytest.skip(f"graded by hand: {signal.text[:60]!r}")
        except Exception as error:
            outcome = judge(error, answered=session.test.answered)
            if not outcome.status.is_fault:
                if outcome.message != str(error):
                    error.add_note(f"the student reads: {outcome.message}")
                _cut_at_test(error, item.path)
            raise

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item):  # type: ignore[no-untyped-def]  # a generator for pluggy
        """Remember tests that lost points, for those that depend on them."""
        report: pytest.TestReport = yield
        run, function = self._of[item]
        points = run.context.set_points
        if report.failed or (report.when == "call" and points is not None and points < function.points_per_case):
            run.lost.add(function.test_id)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Tear down fixtures of every scope before the tests of another assignment, which has another key."""
        assert isinstance(item, pytest.Function)
        if nextitem is not None and self._of[nextitem][0] is not self._of[item][0]:
            tear_down(item)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print how loading went."""
        for run in self._runs:
            if hasattr(run, "session"):
                for note in notes_for_student(run.context.submission, run.session.report):
                    terminalreporter.write_line(f"note: {note}")

    def pytest_unconfigure(self) -> None:
        """End the boxes and the fork servers."""
        for run in self._runs:
            run.close()


def _by_assignment(config: pytest.Config, items: list[pytest.Item]) -> list[AssignmentRun]:
    """Return the collected tests by assignment.

    Raises:
        CourseError: a test belongs to no assignment, or the declarations of the tests are wrong.
    """
    given = config.getoption("--course")
    known: dict[Path, tuple[Course, Assignment]] = {}
    found: dict[Path, list[pytest.Item]] = {}
    for item in items:
        folder = item.path.parent
        if folder not in known:
            course = load_course(find_course(Path(given) if given else None, os.environ, folder))
            known[folder] = (course, _assignment_of(course, item.path))
        found.setdefault(known[folder][1].graders, []).append(item)
    of_graders = {pair[1].graders: pair for pair in known.values()}
    return [AssignmentRun(*of_graders[graders], theirs) for graders, theirs in found.items()]


def _prerequisites(functions: list[TestFunction], chosen: set[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that must pass before the chosen ones, except those that train or need a GPU."""
    asked = [function for function in functions if not chosen.isdisjoint(function.items)]
    needed = with_prerequisites(asked, functions, unless=lambda before: bool(before.needs))
    return {item for function in needed if function not in asked for item in function.items}


def _cut_at_test(error: Exception, test_file: Path) -> None:
    """End the traceback in the author's file: what is below it is viva's and says nothing about the answer."""
    last, frame = None, error.__traceback__
    while frame is not None:
        if Path(frame.tb_frame.f_code.co_filename) == test_file:
            last = frame
        frame = frame.tb_next
    if last is not None:
        last.tb_next = None


def _assignment_of(course: Course, test_file: Path) -> Assignment:
    for name in course.assignments:
        assignment = course.assignment(name)
        if test_file.resolve().is_relative_to(assignment.graders.resolve()):
            return assignment
    raise CourseError(f"{test_file} is not in the graders of any assignment of the course {course.root}.")


def _tier(wanted: str | None) -> Tier:
    if wanted is not None:
        try:
            return Tier[wanted]
        except KeyError:
            raise UsageError(f"--tier is {wanted!r}; allowed: T0, T1, T2, T3.") from None
    return max((report.tier for report in detect_tiers() if report.available), default=Tier.T0)

"""`pytest graders/<a> --submission PATH`: an ordinary pytest run on one submission, for an author at work."""

import os
from pathlib import Path

import pytest

from viva.config import Assignment, Course, find_course, load_course
from viva.examiner.answer_source import answers_of
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader, helpers_of
from viva.examiner.catalog import TestFunction, case_label, catalog
from viva.examiner.grader import CONTEXT, Context
from viva.examiner.load_notes import notes_for_student
from viva.examiner.outcome import judge
from viva.grading.signals import NeedsReview
from viva.model import Tier
from viva.model.errors import CourseError, UsageError, VivaError
from viva.sandbox.host.box_pool import Pool
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.submissions import open_submission


class PlainRun:
    """The plugin that `--submission` registers; it makes boxes after the tests have been collected."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._fork_server: ForkServer | None = None
        self._pool: Pool | None = None
        self._session: BoxSession | None = None
        self._functions: dict[pytest.Item, TestFunction] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Put the tests in the order of grading, and take the submission's box."""
        if not items:
            return
        try:
            functions = catalog(items)
            items[:] = [item for function in functions for item in function.items]
            self._functions = {item: function for function in functions for item in function.items}
            self._open(Path(session.items[0].path if session.items else items[0].path))
        except VivaError as error:
            raise pytest.UsageError(str(error)) from error

    def _open(self, test_file: Path) -> None:
        course = load_course(find_course(_given(self._config, "course"), os.environ, test_file.parent))
        assignment = _assignment_of(course, test_file)
        tier = _tier(self._config.getoption("--tier"))
        # Started before the key is read; pytest's main thread lasts as long as the run.
        self._fork_server = ForkServer.start(tier, preload=assignment.preload, hidden=[assignment.graders.parent])
        self._pool = Pool(self._fork_server, assignment.limits, ready=1)
        path = Path(self._config.getoption("--submission"))
        submission = open_submission(path, str(path))
        loader = Loader(submission, assignment, helpers_of(assignment))
        key, seeds = answers_of(assignment, course.root, course.secret_or_public(os.environ))
        self._session = BoxSession(self._pool, loader, assignment.limits)
        self._config.stash[CONTEXT] = Context(submission, self._session, key, seeds)
        self._limits = assignment.limits

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Set the seed and the time limit of the test."""
        function = self._functions[item]
        assert isinstance(item, pytest.Function)  # the catalog takes nothing else
        assert self._session is not None  # opened when the tests were collected
        context = self._config.stash[CONTEXT]
        context.test_id = f"{function.test_id}[{case_label(item)}]"
        self._session.begin_test(
            seed=context.seeds.box(context.test_id),
            test_s=function.timeout_s or self._limits.test_s,
            call_s=function.timeout_s,
            hidden=False,
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item):  # type: ignore[no-untyped-def]  # a generator for pluggy
        """Show questions graded by hand as skipped, and print what the student would read."""
        try:
            return (yield)
        except NeedsReview as signal:
            pytest.skip(f"a person marks this: {signal.text[:60]!r}")
        except Exception as error:
            outcome = judge(error, answered=bool(self._session and self._session.test.answered))
            if not outcome.status.is_fault:
                if outcome.message != str(error):
                    error.add_note(f"the student reads: {outcome.message}")
                _cut_at_test(error, item.path)
            raise

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print how loading went."""
        if self._session is not None:
            context = self._config.stash[CONTEXT]
            for note in notes_for_student(context.submission, self._session.report):
                terminalreporter.write_line(f"note: {note}")

    def pytest_unconfigure(self) -> None:
        """End the boxes and the fork server."""
        if self._session is not None:
            self._session.close()
        if self._pool is not None:
            self._pool.close()
        if self._fork_server is not None:
            self._fork_server.close()


def _cut_at_test(error: Exception, test_file: Path) -> None:
    """End the traceback in the author's file: what is below it is viva's and says nothing about the answer."""
    last, frame = None, error.__traceback__
    while frame is not None:
        if Path(frame.tb_frame.f_code.co_filename) == test_file:
            last = frame
        frame = frame.tb_next
    if last is not None:
        last.tb_next = None


def _given(config: pytest.Config, option: str) -> Path | None:
    value = config.getoption(f"--{option}")
    return Path(value) if value else None


def _assignment_of(course: Course, test_file: Path) -> Assignment:
    for name in course.assignments:
        assignment = course.assignment(name)
        if test_file.resolve().is_relative_to(assignment.graders.resolve()):
            return assignment
    raise CourseError(f"{test_file} lies in the graders of no assignment of the course {course.root}.")


def _tier(wanted: str | None) -> Tier:
    if wanted is not None:
        try:
            return Tier[wanted]
        except KeyError:
            raise UsageError(f"--tier is {wanted!r}; allowed: T0, T1, T2, T3.") from None
    return max((report.tier for report in detect_tiers() if report.available), default=Tier.T0)

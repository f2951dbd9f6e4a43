"""Runs a suite on one submission: modules imported, classes set up, tests run, each within its own time.

Only what hangs or ends the box is lost; the rest continues in a fresh box, with everything imported again.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Ask, Loader, LoadProblem, LoadReport, TimeLeft, put_file
from viva.examiner.boxes.question import Question
from viva.examiner.outcome import Outcome, describe, judge
from viva.model import Status, Submission, untrusted
from viva.model.box_source import AnyBox, BoxSource
from viva.model.errors import BoxDied, BoxError, BoxTimeout, GraderError, MissingName, ProtocolViolation, StudentRaised
from viva.model.seeds import Seeds
from viva.plugins.suites.suite_grader import SuiteGrader
from viva.plugins.suites.unittests.suite_outcome import (
    NOT_IMPORTED,
    NOT_THERE,
    judge_set_up,
    judge_test,
    without_suite,
)
from viva.plugins.suites.unittests.suite_reading import FOLDER, RUNNER, Suite, SuiteTest, find_file, read_suite
from viva.sandbox.guest.transport.message_types import (
    BeginSuite,
    ClearSuite,
    EnterSuiteTest,
    LeaveSuiteTest,
    LoadSuiteModule,
    Request,
    RunSuiteTest,
)
from viva.sandbox.reply import Reply
from viva.submissions.file_names import CODE

MAX_ENDED: Final = 3
"""The most modules whose import may end the box; after that the cause is shared, and no other is tried."""
MAX_BOXES: Final = 6
"""The most boxes to try for one test: what the test before left running may end one."""
ENDS_AGAIN: Final = "Not asked: your program ends the Python process again and again before the test begins."
_ENDED: Final = (BoxTimeout, BoxDied, ProtocolViolation)


def start_unittest(assignment: Assignment, source: BoxSource, secret: bytes) -> SuiteGrader:
    """Read the suite in its own box; return what grades.

    Raises:
        CourseError: the suite cannot be read.
        BoxUnavailable: this host cannot create a box.
    """
    box = source.take()
    try:
        suite = read_suite(assignment, partial(_ask_box, box))
    finally:
        box.close()
    seeds = Seeds(secret, assignment.name, assignment.version)

    def begin(submission: Submission, test_s: float, *, record: bool) -> tuple[BoxSession, UnittestRun]:
        loader = SuiteLoader(submission, assignment, suite.open_files, seeds.box("suite"))
        session = BoxSession(source, loader, assignment.limits, record=record)
        return session, UnittestRun(suite, session, loader, assignment, test_s)

    is_mixed = any(test.function.hidden and test.module not in suite.apart for test in suite.tests)
    return SuiteGrader(assignment, seeds, suite.tests, begin, is_mixed)


def _ask_box(box: AnyBox, request: Request, *, timeout_s: float, soft_s: float | None = None) -> Any:
    """Ask a box that holds no student files."""
    reply = Reply.parse(box.ask(request.op, timeout_s=timeout_s, soft_s=soft_s, **request.fields()))
    if reply.raised is not None:
        raise StudentRaised.from_wire(reply.raised)
    return reply.value


class SuiteLoader(Loader):
    """Puts the student's files into the box, then the author's over them; the suite imports both itself."""

    def __init__(self, submission: Submission, assignment: Assignment, files: Mapping[str, bytes], seed: int) -> None:
        super().__init__(submission, assignment, {})
        self._suite_assignment = assignment
        self.files = files
        """The files of the suite, by their path below `tests/`."""
        self._seed = seed
        """Set once, so that a suite that seeds itself, or draws across tests, is not disturbed."""

    def load(self, ask: Ask, left_s: TimeLeft) -> LoadReport:
        """Put every file in its place; nothing runs yet.

        Raises:
            BoxError: the box ended.
            GraderError: the suite's files cannot be stored.
        """
        report = LoadReport()
        self._unpack(ask, report, self._put(ask, report))
        course = self._suite_assignment
        call_s = course.limits.call_s
        ours = {name: path.read_bytes() for name, path in zip(course.data_names, course.data, strict=True)}
        ours |= {f"{FOLDER}/{name}": data for name, data in self.files.items()}
        for path in [path for path in report.files if path == FOLDER or path.startswith(f"{FOLDER}/")]:
            del report.files[path]
            report.notes.append(f"{path} was left out: the folder {FOLDER} belongs to the assignment.")
        report.loaded = [path for path in report.files if path.endswith(CODE)]
        # An archive may hold the expected module in a folder.
        wanted = course.submission.module or RUNNER
        named = [path for path in report.files if PurePosixPath(path).name == wanted]
        main = min(named, key=lambda path: (path.count("/"), path), default=wanted)
        modules = sorted(_list_importable(report, {PurePosixPath(main).parent, PurePosixPath()}))
        try:
            ask(ClearSuite(FOLDER, sorted(ours)), timeout_s=call_s)
            for path, data in ours.items():
                put_file(ask, call_s, path, data)
            ask(BeginSuite(FOLDER, main, modules), timeout_s=call_s, seed=self._seed)
        except StudentRaised as error:
            raise GraderError(f"The suite cannot be put into the box: {error}") from error
        return report


def _list_importable(report: LoadReport, folders: set[PurePosixPath]) -> set[str]:
    """Return the names that `import` finds in these folders of the submission."""
    names = set()
    for path in map(PurePosixPath, report.files):
        if path.suffix == ".py":
            names |= {path.relative_to(folder).parts[0].removesuffix(".py") for folder in folders & {*path.parents}}
    return names


class UnittestRun:
    """What is known about one submission's suite; `outcome` is called for each test in order."""

    def __init__(
        self, suite: Suite, session: BoxSession, loader: SuiteLoader, assignment: Assignment, test_s: float
    ) -> None:
        self._suite, self._session, self._loader = suite, session, loader
        self._limits = assignment.limits
        self._test_s = test_s
        self._apart = False
        self._generation = -1
        self._loaded: set[str] = set()
        self._found_tests: set[str] = set()
        self._holder = ""
        self._broken: dict[str, Outcome] = {}
        """The outcome of the tests of a module that cannot be imported."""
        self._unusable: dict[str, Outcome] = {}
        """The outcome of the tests of a class that cannot be set up."""
        self._ended = 0
        self.asked: list[Question] = []
        self.leader: Any = None
        """What the last test reported for its leaderboard: an untrusted value."""

    def outcome(self, test: SuiteTest) -> Outcome:
        """Run one test, or say why it cannot run; never raise for what the submission does."""
        self.asked, self.leader = [], None
        if test.skipped is not None:
            return Outcome(Status.SKIPPED, f"Skipped by the test itself: {test.skipped}".rstrip(": "))
        if self._session.submission_left_s <= 0:
            limit_s = f"{self._limits.submission_s:g} s"
            return Outcome(Status.TIMEOUT, f"Not asked: your submission had used up its {limit_s}.")
        try:
            try:
                return self._run(test)
            except MissingName:  # the box had ended after we looked, and the fresh one has imported nothing
                self._session.close()
                return self._run(test)
        except StudentRaised as error:  # the limit of the box itself: what was interrupted is not asked again
            self._session.close()
            return judge(without_suite(error), answered=True)
        except (BoxError, MissingName, GraderError) as error:
            return judge(error, answered=True)

    def _run(self, test: SuiteTest) -> Outcome:
        blocked = self._prepare(test)
        if blocked is not None:
            return blocked
        test_id = test.function.test_id
        reply = self._ask(RunSuiteTest(test_id), test_id, self._test_s)
        self.leader = reply.get("leader")
        return judge_test(reply, test.function)

    def _prepare(self, test: SuiteTest) -> Outcome | None:
        """Open a box in which the module is imported and the class set up; otherwise return the test's outcome.

        Raises:
            BoxError: as BoxSession.ask; what one module or class does to its box is not raised.
            GraderError: as BoxSession.ask.
        """
        is_apart = test.module in self._suite.apart
        if is_apart is not self._apart:
            self._session.close()
            self._apart, self._loader.files = is_apart, self._suite.files
        for _ in range(MAX_BOXES):
            self._open()
            self._import_all()
            if self._session.epoch != self._generation:
                continue  # an import has ended the box; that module is not imported again
            if test.module in self._broken:
                return self._broken[test.module]
            if test.function.test_id not in self._found_tests:
                return Outcome(Status.ERROR, NOT_THERE)
            if self._holder in ("", test.holder) or self._leave_class(test):
                return self._enter_class(test)
        return Outcome(Status.ERROR, ENDS_AGAIN)

    def _open(self) -> None:
        self._begin(self._limits.load_s)
        self._session.open()
        if self._session.generation != self._generation:
            self._generation, self._holder = self._session.generation, ""
            self._loaded.clear()
            self._found_tests.clear()

    def _import_all(self) -> None:
        """Import every module that can be imported, in order; stop early where one ends the box."""
        for module in self._suite.modules(apart=self._apart):
            if module in self._loaded or module in self._broken:
                continue
            try:
                reply = self._ask(LoadSuiteModule(module), module, self._limits.load_s)
            except (StudentRaised, *_ENDED) as error:
                self._session.close()
                self._ended += 1
                self._note_broken(module, error)
                if self._ended >= MAX_ENDED:
                    for other in self._suite.modules(apart=True):
                        self._broken.setdefault(other, self._broken[module])
                return
            self._loaded.add(module)
            self._found_tests |= {untrusted.text(key, 300) for key in untrusted.rows(reply.get("tests"))}
            if raised := untrusted.table(reply.get("raised")):
                self._note_broken(module, StudentRaised.from_wire(raised))
            elif reply.get("skipped") is not None:
                reason = untrusted.text(reply["skipped"], 300)
                self._broken[module] = Outcome(Status.SKIPPED, f"Skipped by the tests themselves: {reason}")

    def _note_broken(self, module: str, error: StudentRaised | BoxError) -> None:
        """Record that a module cannot be imported; a note above the results says why, but not of hidden tests."""
        file = f"{FOLDER}/{find_file(module, self._suite.files)}"
        timed_out = isinstance(error, BoxTimeout) or (isinstance(error, StudentRaised) and error.limit == "time")
        staff = describe(error) if isinstance(error, StudentRaised) else str(error)
        doubtful = timed_out or (isinstance(error, BoxDied) and not error.by_limit)
        status = Status.TIMEOUT if timed_out else Status.ERROR
        self._broken[module] = Outcome(status, NOT_IMPORTED.format(file=file), staff, doubtful=doubtful)
        report, problem = self._session.report, _describe_problem(file, error, self._suite.students)
        if report is not None and not self._apart and problem.text not in [p.text for p in report.problems]:
            report.problems.append(problem)

    def _leave_class(self, test: SuiteTest) -> bool:
        """Tear down the class before; return False if that ended the box, which loses no test."""
        try:
            self._ask(LeaveSuiteTest(test.function.test_id), self._holder, self._test_s)
        except (StudentRaised, MissingName, *_ENDED):
            self._session.close()
            return False
        self._holder = ""
        return True

    def _enter_class(self, test: SuiteTest) -> Outcome | None:
        """Set up the class of the test once."""
        if test.holder not in self._unusable and self._holder != test.holder:
            try:
                reply = self._ask(EnterSuiteTest(test.function.test_id), test.holder, self._test_s)
                self._holder = test.holder
                if reply.get("failed") is True:
                    self._unusable[test.holder] = judge_set_up(None, reply.get("events"))
            except StudentRaised as error:
                self._session.close()
                self._unusable[test.holder] = judge_set_up(error, [])
            except _ENDED as error:
                self._session.close()
                self._unusable[test.holder] = judge(error, answered=True)
        return self._unusable.get(test.holder)

    def _begin(self, limit_s: float) -> None:
        self._session.begin_test(seed=None, test_s=limit_s, call_s=limit_s, hidden=self._apart)

    def _ask(self, request: Request, subject: str, limit_s: float) -> dict[object, object]:
        self._begin(limit_s)
        try:
            return untrusted.table(self._session.ask(request, subject=subject))
        finally:
            self.asked += self._session.test.questions


def _describe_problem(file: str, error: StudentRaised | BoxError, students: frozenset[str]) -> LoadProblem:
    if isinstance(error, BoxTimeout):
        return LoadProblem(file, "your code did not finish in time while it was imported")
    if isinstance(error, BoxError):
        return LoadProblem(file, f"your code ended the Python process while it was imported: {error}")
    if error.missing_module and error.missing_module.partition(".")[0] in students:
        return LoadProblem(file, f"no `{error.missing_module}.py` was found in your submission")
    shown = without_suite(error)
    return LoadProblem(file, str(shown), shown.missing_module, shown)

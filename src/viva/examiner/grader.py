"""Grade one submission: every test in order, each with its own time and seed and, after a hang, a fresh box."""

import itertools
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import viva
from viva.compare import Disagreement, hint_evidence
from viva.compare.counterexamples.shrinking import shrinking
from viva.compare.hint_recording import begin_case, using_hint_recording
from viva.config import Assignment
from viva.examiner.answer_notes import notes_on_answers
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import Loader
from viva.examiner.boxes.on_gpu import GpuSource, OnGpu
from viva.examiner.catalog import TestFunction, case_label, resolve, with_prerequisites
from viva.examiner.fixtures.submission_fixture import SubmissionView
from viva.examiner.interceptor import Answers, Interceptor
from viva.examiner.load_notes import notes_for_student
from viva.examiner.missing_names import explained, nothing_asked_for
from viva.examiner.other_parameters import other_parameters
from viva.examiner.outcome import Outcome, judge, with_second_calls
from viva.examiner.points import case_of, entry_of, exact_points, leader_value
from viva.examiner.pytest_internals import fresh, run_phases, tear_down
from viva.examiner.recorded_key.recorded_hints import HintReader
from viva.examiner.recorded_key.replayed_key import RecordedSeeds, ReplayedKey
from viva.examiner.sinks import Sinks
from viva.examiner.turns import Turns
from viva.grading.events import Events, collecting
from viva.model import Case, Entry, Isolation, Limits, Score, Status, Submission
from viva.model.answer_form import AnswerForm
from viva.model.box_source import BoxSource
from viva.model.errors import BoxUnavailable, MissingName
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.model.hand_grading import NOT_GRADED_YET
from viva.model.score import Leader
from viva.model.seeds import Seeds
from viva.proxies.key import Key
from viva.submissions.starter_code import parameters_of, starter_of

MOST_CONFIRMED = 3
"""After so many second tries that ended as the first, the machine is not the cause, and no other test has one."""
SECOND_LOOK_S = 5.0
"""Seconds of the box for finding out which mistake fits all answers of a test."""
TRAINING_LEFT_OUT = f"{NOT_GRADED_YET}: this test trains a model, and tests that train were left out of this run."
NOT_READABLE = "Not asked: your submission could not be read. The reason is at the top of the results."


Questions = tuple[str, list[list[str]]]
"""A case of a test, and for each question it asked: operation, subject, arguments and outcome."""


@dataclass(slots=True)
class Context:
    """What the fixtures of the test that is running refer to."""

    submission: Submission
    session: BoxSession
    key: Key | ReplayedKey
    seeds: Seeds | RecordedSeeds
    tested: frozenset[str] = frozenset()
    """The numbers of all tests."""
    forms: Mapping[str, AnswerForm] = field(default_factory=dict)
    """The declared form of each answer by hand."""
    test_id: str = ""
    set_points: Fraction | None = None
    leader: Any = None


CONTEXT: pytest.StashKey[Context] = pytest.StashKey()
RAISED: pytest.StashKey[BaseException] = pytest.StashKey()


@dataclass(slots=True)
class Grader:
    """Everything that is the same for all submissions of one assignment."""

    assignment: Assignment
    source: BoxSource
    key: Key | ReplayedKey
    seeds: Seeds | RecordedSeeds
    functions: Sequence[TestFunction]
    inside: dict[str, str]
    config: pytest.Config
    gpus: Gpus = field(default_factory=Gpus)
    """What the run offers to tests that need a GPU."""
    gpu_source: GpuSource | None = None
    """Boxes for them; None if no test needs one, or none is offered."""
    loader: type[Loader] = Loader
    """How a submission gets into its box."""
    turns: Turns = field(default_factory=Turns)

    def grade(self, request: GradeRequest, sinks: Sinks) -> tuple[Score, list[Questions]]:
        """Grade one submission and leave nothing of it in this process.

        Returns:
            The score, and the questions and answers of each test as texts (empty unless `options.questions`).
        """
        started = time.monotonic()
        submission, options = request.submission, request.options
        assignment = replace(self.assignment, limits=_limits(self.assignment.limits, options))
        loader = self.loader(submission, assignment, self.inside)
        on_gpu = OnGpu(self.gpu_source, sinks.on_progress) if self.gpu_source is not None else None
        interceptor = sinks.interceptor or Interceptor()
        source = interceptor.wrap_boxes(self.source, lambda: session.place)
        session = BoxSession(source, loader, assignment.limits, on_gpu, record=options.questions)
        session.alone = lambda: self.turns.alone(sinks.on_progress)
        answers = interceptor.wrap_answers(self._answers())
        tested = frozenset(function.number for function in self.functions)
        context = Context(submission, session, answers.key, answers.seeds, tested, assignment.answers)
        self.config.stash[CONTEXT] = context
        events = Events(sinks.on_progress, lambda: session.counted_s)
        events.whole_trainings = request.options.whole_trainings
        run = _Run(self, context, options, events, on_gpu)
        chosen = self._selected(options)
        try:
            shrinks = options.explain and not options.until_loss
            with using_hint_recording(answers.hints), shrinking(on=shrinks):
                run.run_all(chosen, sinks.on_entry)
            interceptor.end(session.sought, session.answer_readers)
            wall_s = time.monotonic() - started
            on_answers = self._notes_on_answers(request, context, run)
            session.close()  # how a GPU was used is known only after its box has ended
            score = self._score(request, session, run, wall_s)
            score = replace(score, notes=(*score.notes, *on_answers))
            if session.report is not None:
                sinks.on_loaded(session.report)
        finally:
            session.close()
            if chosen:
                tear_down(chosen[0].items[0])
            del self.config.stash[CONTEXT]
        return score, run.questions

    def _answers(self) -> Answers:
        """Return the key, the seeds and, in a released folder, the recorded hints."""
        hints = HintReader(self.key.record) if isinstance(self.key, ReplayedKey) else None
        return Answers(self.key, self.seeds, hints)

    def _selected(self, options: GradeOptions) -> list[TestFunction]:
        """Return the selected tests and all that must pass before them, in their order."""
        needed = [f for f in self.functions if options.selects(f.test_id, f.number, visible=not f.hidden)]
        return with_prerequisites(needed, self.functions)

    def _notes_on_names(self, submission: Submission, session: BoxSession) -> list[str]:
        sought = {n: found for n, found in session.sought.items() if n in self.key and callable(self.key[n])}
        note = nothing_asked_for(self.assignment, submission, session.report, sought) if session.report else ""
        return [note] if note else []

    def _notes_on_answers(self, request: GradeRequest, context: Context, run: "_Run") -> list[str]:
        if context.session.report is None:
            return []
        view = SubmissionView(context.submission, context.session, context.tested, context.forms)
        is_check = request.options.visible_only and request.options.only is None
        return notes_on_answers(view, list(run.entries.values()), is_check=is_check)

    def _notes_on_parameters(self, submission: Submission, session: BoxSession, run: "_Run") -> list[str]:
        """Say which functions do not fit the starter if the submission's own code raised in a test."""
        errors = "\n".join(entry.message for entry in run.entries.values() if entry.status is Status.ERROR)
        if not errors or session.report is None:
            return []
        loaded = session.report.loaded
        files = (parameters_of(file.path, file.data) for file in submission.files if file.path in loaded)
        note = other_parameters(starter_of(self.assignment.starter).parameters, files, errors)
        return [note] if note else []

    def _score(self, request: GradeRequest, session: BoxSession, run: "_Run", wall_s: float) -> Score:
        submission, ready_message = request.submission, session.isolation
        names = self._notes_on_names(submission, session)
        isolation = (
            Isolation(
                str(ready_message.tier),
                dict(ready_message.layers),
                dict(ready_message.probes),
                tuple(ready_message.missing),
            )
            if ready_message is not None
            else Isolation("none")
        )
        return Score(
            submission=submission.name,
            content_hash=submission.content_hash,
            assignment=self.assignment.name,
            version=self.assignment.version,
            entries=tuple(run.entries[f.test_id] for f in self.functions if f.test_id in run.entries),
            notes=(
                *self._notes_on_parameters(submission, session, run),
                *notes_for_student(submission, session.report, with_skipped=run.lost_a_visible_test),
                *_not_loaded_on(run.on_gpu),
                *names,
                *run.events.notes,
            ),
            isolation=isolation,
            signature=signature(self.assignment, self.seeds, ready_message),
            leaderboard=tuple(run.leaders),
            choice=session.report.choice if session.report is not None else "",
            environment=session.environment,
            wall_s=wall_s,
            curves=run.events.curves,
            gpu=run.on_gpu.use if run.on_gpu is not None else None,
        )


def _not_loaded_on(on_gpu: OnGpu | None) -> tuple[str, ...]:
    """Return a note if loading has ended the boxes that have a GPU."""
    if on_gpu is None or on_gpu.failure is None:
        return ()
    return (f"In a box with a GPU your submission could not be loaded: {on_gpu.failure}",)


def signature(assignment: Assignment, seeds: Seeds | RecordedSeeds, ready_message: Any) -> dict[str, str]:
    """Return what the score was made with: enough to reproduce it."""
    made_with = {
        "assignment": f"{assignment.name}@{assignment.version}",
        "seed": seeds.id,
        "viva": viva.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if ready_message is not None:
        made_with |= {f"box.{name}": str(version) for name, version in dict(ready_message.versions).items()}
        made_with["tier"] = str(ready_message.tier)
    return made_with


def _limits(limits: Limits, options: GradeOptions) -> Limits:
    if options.load_s is not None:
        limits = replace(limits, load_s=options.load_s)
    return limits if options.call_s is None else replace(limits, call_s=options.call_s, test_s=options.call_s)


class _Run:
    """One submission in progress."""

    def __init__(
        self,
        grader: Grader,
        context: Context,
        options: GradeOptions,
        events: Events,
        on_gpu: OnGpu | None,
    ) -> None:
        self._grader, self._context, self._options = grader, context, options
        self.entries: dict[str, Entry] = {}
        self.questions: list[Questions] = []
        self.leaders: list[Leader] = []
        self.events = events
        self.on_gpu = on_gpu
        """Boxes for tests that need a GPU, if there is one."""
        self._epoch = context.session.epoch
        self._confirmed = 0
        """Tests whose second try ended as the first."""

    @property
    def lost_a_visible_test(self) -> bool:
        """Return whether a test lost points that students may know of."""
        return any(entry.status.is_lost and entry.visibility == "visible" for entry in self.entries.values())

    def run_all(self, functions: Sequence[TestFunction], on_entry: Callable[[Entry], None]) -> None:
        """Run the tests in their order, until one loses points if that ends the run."""
        following = dict(itertools.pairwise(item for function in functions for item in function.items))
        for function in functions:
            entry = self._grade_test(function, following)
            on_entry(entry)
            if self._options.until_loss and entry.earned < entry.points and not entry.status.is_open:
                return

    def _grade_test(self, function: TestFunction, following: Mapping[pytest.Function, pytest.Function]) -> Entry:
        """Run every case of one function."""
        blocked = self._blocked(function)
        cases: list[Case] = []
        outcomes: list[Outcome] = []
        for item in function.items:
            started = time.monotonic()
            self._context.set_points, self._context.leader = None, None
            outcome = blocked or self._run_with_retry(function, item, following.get(item))
            outcomes.append(outcome)
            wall_s = time.monotonic() - started
            cases.append(case_of(function, case_label(item), outcome, self._context.set_points, wall_s))
            self._keep_leader(function)
        if blocked is not None:
            # What the previous test left set up for this one is not needed if the next one is in another file.
            last = function.items[-1]
            tear_down(last, following.get(last))
        entry = self.entries[function.test_id] = entry_of(function, cases, outcomes)
        return entry

    def _blocked(self, function: TestFunction) -> Outcome | None:
        """Return the outcome of a test that is not run at all; None if it runs."""
        if self._context.submission.problem:
            return Outcome(Status.FAILED, NOT_READABLE)
        if function.training and not self._options.training:
            return Outcome(Status.DEFERRED, TRAINING_LEFT_OUT)
        if function.gpu is not None and (why := self._grader.gpus.reason_unavailable(function.gpu.memory_mib)):
            return Outcome(Status.DEFERRED, why)
        for name in function.depends:
            needed = self.entries[resolve(name, function, self._grader.functions).test_id]
            if needed.status.is_lost:
                return Outcome(Status.SKIPPED, f"Not asked, because another test must pass first: {needed.name}")
        return None

    def _run_with_retry(
        self, function: TestFunction, item: pytest.Function, following: pytest.Function | None
    ) -> Outcome:
        """Ask one case; where a busy machine may be the cause of its end, ask once more.

        No other test runs meanwhile, unless the program slept: then others have not held it up, and need not wait.
        """
        turns, session, tell = self._grader.turns, self._context.session, self.events.progress
        on_gpu = function.gpu is not None  # it may wait for a GPU, and must not make others wait meanwhile
        with nullcontext() if on_gpu else turns.shared(tell):
            outcome = self._run_case(function, item, following)
        if on_gpu and outcome.status.is_lost and (fault := self._fault_of_gpu()):
            return fault
        if not outcome.doubtful or self._confirmed >= MOST_CONFIRMED or self._options.call_s is not None:
            return outcome
        del self.questions[-1:]
        self._context.set_points, self._context.leader = None, None
        slept = session.test.slept
        turn = nullcontext() if on_gpu else turns.shared(tell) if slept else turns.alone(tell)
        with turn, session.second_try() as excuse:
            again = self._run_case(function, item, following)
            if again.doubtful:
                self._confirmed += 1
            else:
                excuse()
        return again

    def _run_case(self, function: TestFunction, item: pytest.Function, following: pytest.Function | None) -> Outcome:
        session = self._context.session
        case_id = f"{function.test_id}[{case_label(item)}]"
        call_s = self._options.call_s
        self._begin_case(function, item, self._test_s(function))
        with collecting(self.events), hint_evidence.of_one_test():
            error = run_item(fresh(item), following)
        try:
            self._take_gradescope_values(item.obj, case_id)
        except ValueError as fault:
            error = error or fault
        if self._options.questions:
            self.questions.append((case_id, [question.shown() for question in session.test.questions]))
        looks_again = self._options.explain and not (function.needs or call_s)
        if isinstance(error, Disagreement) and error.suspected:
            evidence = hint_evidence.Evidence()
            if looks_again:
                evidence = self._look_again(function, item, following, error.suspected)
            error = error.naming_only(partial(evidence.supports, error=error))
        incomplete = session.report is not None and session.report.incomplete
        if isinstance(error, MissingName) and session.report is not None:
            error = explained(error, self._context.submission, session.report)
        on_gpu = function.gpu is not None
        outcome = judge(error, answered=session.test.answered, incomplete=incomplete, on_gpu=on_gpu)
        return with_second_calls(outcome, session.test.changed_answers)

    def _fault_of_gpu(self) -> Outcome | None:
        """Return an outcome that costs nothing if the GPU of the test that has ended fails its check now."""
        try:
            self._context.session.check_gpu_again()
        except BoxUnavailable as error:
            return judge(error, answered=False)
        return None

    def _test_s(self, function: TestFunction) -> float:
        return self._options.call_s or function.timeout_s or self._grader.assignment.limits.test_s

    def _begin_case(self, function: TestFunction, item: pytest.Function, test_s: float) -> None:
        """Let a case begin, for the first time or once more: box, seeds, fixtures and events."""
        session = self._context.session
        self._context.test_id = case_id = f"{function.test_id}[{case_label(item)}]"
        session.begin_test(
            seed=self._context.seeds.box(case_id),
            test_s=test_s,
            call_s=self._options.call_s or function.timeout_s,
            hidden=function.hidden,
            gpu=function.gpu,
            case_id=case_id,
        )
        if session.epoch != self._epoch:
            # Fixtures of every scope may hold objects of the box that is gone: they are set up again, once.
            tear_down(item)
            self._epoch = session.epoch
        begin_case()
        self.events.begin_test(function.test_id, hidden=function.hidden)

    def _look_again(
        self,
        function: TestFunction,
        item: pytest.Function,
        following: pytest.Function | None,
        suspected: tuple[str, ...],
    ) -> hint_evidence.Evidence:
        """Run the test of a wrong answer once more, and return what its answers say about the mistakes."""
        context, session = self._context, self._context.session
        if session.submission_left_s <= 0:
            return hint_evidence.Evidence()
        kept = context.set_points, context.leader
        with session.second_look(), collecting(Events()), hint_evidence.of_one_test(suspected) as evidence:
            self._begin_case(function, item, SECOND_LOOK_S)
            run_item(fresh(item), following)
        for name in ("__score__", "__leaderboard_value__"):
            vars(item.obj).pop(name, None)
        context.set_points, context.leader = kept
        return evidence

    def _take_gradescope_values(self, test: object, case_id: str) -> None:
        """Take the points and leaderboard value that gradescope_utils leaves on the function, so that none leaks."""
        left = vars(test)
        if "__score__" in left:
            self._context.set_points = exact_points(left.pop("__score__"), case_id)
        if "__leaderboard_value__" in left:
            self._context.leader = leader_value(
                left.pop("__leaderboard_value__"), case_id, hidden=self._context.session.test.hidden
            )

    def _keep_leader(self, function: TestFunction) -> None:
        if function.leaderboard is not None and self._context.leader is not None:
            name, order = function.leaderboard
            self.leaders.append(Leader(name, self._context.leader, order))


def run_item(item: pytest.Function, following: pytest.Function | None) -> BaseException | None:
    """Run setup, body and teardown of one item; return the first exception of the three.

    Args:
        item: the item to run.
        following: the item that comes next, so that fixtures it shares stay; None tears down everything.
    """
    run_phases(item, following)
    return item.stash.get(RAISED, None)

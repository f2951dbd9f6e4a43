"""One submission in its boxes: take a box, load it, ask it; when a box ends, load a fresh one and continue."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from viva.examiner.boxes.load import Loader, LoadProblem, LoadReport
from viva.examiner.boxes.on_gpu import OnGpu, serves
from viva.examiner.boxes.question import Question
from viva.examiner.boxes.submission_time import SubmissionTime
from viva.model import Limits, untrusted
from viva.model.box_source import AnyBox, BoxSource
from viva.model.errors import (
    BoxDied,
    BoxError,
    BoxTimeout,
    GraderError,
    LoadFailed,
    MissingName,
    NotAskedAgain,
    ProtocolViolation,
    StudentRaised,
    TimeSpent,
)
from viva.model.gpu import GpuNeed
from viva.proxies.proxies import STOP
from viva.sandbox.guest.transport.message_types import CallObject, Find, Request
from viva.sandbox.guest.transport.wire import TooLarge
from viva.sandbox.reply import Reply

STUDENT: Final = "student"
GRACE_S: Final = 1.0
"""How long after the box's own soft limit the examiner kills the box."""
HANGS_BEFORE_UNASKED: Final = 3
MOST_DIFFERENCES: Final = 50
"""Differences of the environment that are kept for one submission."""


@dataclass(slots=True)
class TestState:
    """What the session knows about the test that is running."""

    seed: int | None = None
    limit_s: float = math.inf
    """Counted seconds for all its questions."""
    began_at: float = 0.0
    """The wall clock when it began."""
    counted_before_s: float = 0.0
    """Counted seconds of the submission that belong to earlier tests, or to loading."""
    spent: bool = False
    """Whether the submission's time was used up before this test began: asking the box raises TimeSpent."""
    call_s: float | None = None
    hidden: bool = False
    gpu: GpuNeed | None = None
    """What it needs of a GPU; None where it needs none."""
    slept: bool = False
    """Whether its program slept most of the time of the request that took too long."""
    answered: bool = False
    """True once a value from the student's code has arrived in this test."""
    questions: list[Question] = field(default_factory=list)
    case_id: str = ""
    asked_twice: set[str] = field(default_factory=set)
    """The student's names that have been called twice."""
    changed_answers: list[str] = field(default_factory=list)
    """Those of them whose second call did not give what the first one gave."""
    hangs_before: Counter[str] = field(default_factory=Counter)


class BoxSession:
    """The `BoxConnection` of one submission, for its handles."""

    def __init__(
        self, source: BoxSource, loader: Loader, limits: Limits, on_gpu: OnGpu | None = None, *, record: bool = False
    ) -> None:
        self._source = source
        self.alone: Callable[[], AbstractContextManager[None]] = nullcontext
        """In this context, no other test runs on this machine."""
        self._on_gpu = on_gpu
        self._gpu: GpuNeed | None = None
        """What the test needed for which the box was taken; None for a box without a GPU."""
        self._loader = loader
        self.questions = loader.questions
        self.looked_up_answers: set[str] = set()
        """The numbers of answers that tests looked for."""
        self._limits = limits
        self._box: AnyBox | None = None
        self._releases: list[int] = []
        self._hangs: Counter[str] = Counter()
        self._others: list[str] | None = None
        """Code that has not been run yet; None before the first request for more code."""
        self._more: list[str] = []
        """Code that was run on demand."""
        self.generation = 0
        self.tainted = False
        self.report: LoadReport | None = None
        self.isolation: Any = None
        self.test = TestState()
        self._loading = 0
        self.record = record
        """Keep what each test asks."""
        self.sought: dict[str, bool] = {}
        """The student's names that tests looked for, and whether they are there."""
        self.answer_readers: set[str] = set()
        """The cases that read an answer of the submission that is not code."""
        self._time = SubmissionTime(limits, lambda: loader.read_s)
        self._environment: list[str] = []
        """Missing packages and incompatible versions that calls met, as far as students may read it."""

    # --- the life of boxes

    def open(self) -> None:
        """Open and load a box; a load that fails is reported once and never tried again.

        Raises:
            LoadFailed: the load ended the box; raised again, without loading, for every later question.
            BoxUnavailable: this host cannot make a box.
            GraderError: the author's own part could not be loaded.
        """
        if self._box is not None and self._box.alive:
            return
        if self.test.spent:
            raise TimeSpent(f"Not asked: your submission had used up its {self._limits.submission_s:g} s.")
        self._drop()
        if failure := self._failure():
            raise failure
        self._loading += 1
        before_s, counted_s = self.test.counted_before_s, self.counted_s
        try:
            self._load()
        finally:
            self._loading -= 1
            self.test.counted_before_s = before_s + self.counted_s - counted_s  # loading has its own limit

    def _load(self) -> None:
        """Take a box and load it; if loading ends it, load again in a fresh one as long as the loader knows a way."""
        place: AbstractContextManager[None] = nullcontext()
        while True:
            failed_s = self._time.failed_loads_s
            try:
                with place:
                    self._load_box()
                return
            except (BoxTimeout, BoxDied, ProtocolViolation) as error:
                if not self._loader.can_load_again(
                    error, self._time.failed_loads_s - failed_s, self._time.load_left_s()
                ):
                    raise self._load_failed(error) from error
                place = nullcontext() if self.test.slept else self.alone()

    def _load_box(self) -> None:
        self._box = box = self._take()
        self._time.begin_load(box)
        self.generation += 1
        self.tainted = self.test.hidden
        self.isolation = box.ready_message
        try:
            report = self._loader.load(self._ask_loading, self._time.load_left_s)
        except BaseException:
            self.test.slept = box.slept
            self._drop()  # a box that is only partly loaded is never asked
            self._time.fail_load()
            raise
        if self._time.was_slow_load():
            report.incomplete = False
        if self.report is None or (self.report.incomplete and not report.incomplete):
            self.report = report
        known = self.report.problems
        known += [problem for problem in report.problems if problem.is_left_out and problem not in known]
        if not self._load_again():
            self.open()  # without the file that ended this box

    def _ask_loading(
        self, request: Request, *, timeout_s: float, soft_s: float | None = None, seed: int | None = None
    ) -> object:
        """Ask the box while it is loaded; what runs the student's code gets the time that loading has left.

        Raises:
            StudentRaised: loading has used up its time.
        """
        if soft_s is not None:
            left_s = self._time.load_left_s()
            if left_s <= 0:
                raise StudentRaised("TimeoutError", "not run: loading had used up its time", limit="time")
            timeout_s = min(timeout_s, timeout_s - soft_s + left_s)
            soft_s = min(soft_s, left_s)
        return self._send(request, timeout_s=timeout_s, soft_s=soft_s, seed=seed)

    def _take(self) -> AnyBox:
        """Return a box of the kind that the test needs."""
        self._gpu = self.test.gpu if self._on_gpu is not None else None
        self._loader.on_gpu = self._gpu is not None
        if self._on_gpu is None or self._gpu is None:
            return self._source.take()
        return self._on_gpu.take(self._gpu)

    def _failure(self) -> LoadFailed | None:
        """Return why the kind of box that the test needs is not loaded again."""
        if self.report is not None and self.report.failure is not None:
            return self.report.failure
        return self._on_gpu.failure if self._on_gpu is not None and self.test.gpu is not None else None

    def _load_failed(self, error: BoxError) -> LoadFailed:
        """Remember, for the kind of box in which it happened, that loading ends it; return the error."""
        failure = LoadFailed(error)
        if self._on_gpu is not None and self._gpu is not None:
            self._on_gpu.failure = failure
        else:
            self.report = self._loader.begun
            self.report.failure = failure
        return failure

    def load_more(self) -> bool:
        """Run the next file of code next to the main one; return False if there is none left.

        A file that ends its box is run again without the statement that did it, if there is time. The student sees what
        it prints or raises only if the box has not seen hidden inputs.

        Raises:
            LoadFailed, BoxUnavailable, GraderError: as `open`.
        """
        self.open()
        if self.report is None:
            return False
        if self._others is None:
            self._others = self._loader.list_others(self.report)
        if not self._others:
            return False
        report = LoadReport() if self.tainted else self.report
        counted_s = self.counted_s
        left_s = self._limits.submission_s - counted_s
        if left_s <= 0:
            left_out, self._others = self._others, []
            report.problems.append(LoadProblem(_files(left_out), "not run: the time of the submission was used up"))
            return False
        path = self._others.pop(0)
        self._loading += 1
        try:
            self._loader.load_file(self._send, lambda: self.submission_left_s, report, path)
            self._more.append(path)
        except (BoxTimeout, BoxDied, ProtocolViolation) as error:
            self._drop()
            if self._loader.can_load_again(error, self.counted_s - counted_s, self.submission_left_s):
                self._others.insert(0, path)
            else:
                report.problems.append(LoadProblem(path, f"was left out, because it could not be run: {error}"))
        finally:
            self._loading -= 1
        self.test.counted_before_s += self.counted_s - counted_s
        return True

    def _load_again(self) -> bool:
        """Run what was run on demand in an earlier box, without repeating notes; return False if that ended the box."""
        for path in list(self._more):
            try:
                self._loader.load_file(self._send, lambda: self.submission_left_s, LoadReport(), path)
            except (BoxTimeout, BoxDied, ProtocolViolation):
                self._more.remove(path)
                self._drop()
                return False
        return True

    @property
    def epoch(self) -> int:
        """Return a number that changes whenever objects in the box are lost: it ended, or another one replaced it."""
        return self.generation if self._box is not None and self._box.alive else self.generation + 1

    @property
    def place(self) -> str:
        """Return the case of the running test; empty while a box is loaded, which any test may be the first to need."""
        return "" if self._loading else self.test.case_id

    @property
    def disk_mib(self) -> int:
        """Return the size of the largest file that the box may hold, in MiB."""
        return self._limits.disk_mib

    def begin_test(
        self,
        *,
        seed: int | None,
        test_s: float,
        call_s: float | None,
        hidden: bool,
        gpu: GpuNeed | None = None,
        case_id: str = "",
    ) -> None:
        """Reset what belongs to one test; the seed is sent with the next request.

        If the time of the submission is used up, questions to the box raise TimeSpent.
        """
        if self.tainted and not hidden:
            # The messages of a visible test may quote the box, so the box must not have seen hidden inputs.
            self._drop()
        if self._on_gpu is not None and not serves(self._gpu, gpu):
            self._drop()
        self.tainted = self.tainted or hidden
        counted_s = self.counted_s
        left_s = self._limits.submission_s - counted_s
        self.test = TestState(
            seed,
            min(test_s, left_s),
            time.monotonic(),
            counted_s,
            left_s <= 0,
            call_s,
            hidden,
            gpu,
            case_id=case_id,
            hangs_before=self._hangs.copy(),
        )

    def check_gpu_again(self) -> None:
        """End the box, and check its GPU, where the test that has ended may have lost points through it.

        Raises:
            BoxUnavailable: the GPU fails its check.
        """
        if self._on_gpu is not None and self.test.gpu is not None:
            self._drop()
            self._on_gpu.check_again()

    @contextmanager
    def second_try(self) -> Iterator[Callable[[], None]]:
        """Let the test that has ended be asked again in a fresh box, at no cost to the submission's time.

        Yields:
            Call it if the second try ends better: the first one then says nothing about the submission.
        """
        hangs = self.test.hangs_before
        self._drop()
        counted_s = self.counted_s

        def excuse() -> None:
            self._hangs = hangs.copy()

        try:
            yield excuse
        finally:
            self._time.excuse(counted_s)
            if self.report is not None:
                self.report.incomplete = False

    @contextmanager
    def second_look(self) -> Iterator[None]:
        """Let the test that has ended be asked again to find its cause; nothing that happens then counts."""
        test, hangs, counted_s = self.test, self._hangs.copy(), self.counted_s
        try:
            yield
        finally:
            self._time.excuse(counted_s)
            self.test, self._hangs = test, hangs

    def prompt(self) -> None:
        """Remove the limit on a test's time: a person at a prompt takes as long as they like."""
        self.test = TestState()

    def close(self) -> None:
        """End the box; the session can be opened again."""
        self._drop()

    def _drop(self) -> None:
        box, self._box = self._box, None
        self._releases.clear()
        if box is not None:
            self._time.end_box()
            box.close()
        if self._on_gpu is not None:
            self._on_gpu.ended()

    # --- asking

    def release(self, generation: int, ref_id: int) -> None:
        """Remember to free an object of the current box; those of earlier boxes are gone already."""
        if generation == self.generation:
            self._releases.append(ref_id)

    def ask(self, request: Request, *, subject: str = "", generation: int | None = None) -> Any:
        """Ask the loaded box one question; see `BoxConnection.ask`.

        Raises:
            StudentRaised, MissingName: untrusted values from the box about the student's code.
            BoxTimeout, BoxDied, ProtocolViolation: the box has ended; the next question opens a fresh one.
        """
        if self._hangs[subject] >= HANGS_BEFORE_UNASKED and subject:
            raise NotAskedAgain(
                f"`{subject}` did not answer {HANGS_BEFORE_UNASKED} times before and was not asked again."
            )
        if self.test.spent:
            raise TimeSpent(f"Not asked: your submission had used up its {self._limits.submission_s:g} s.")
        if self._box is None or not self._box.alive:
            self.open()
        if generation not in (None, self.generation):
            raise BoxDied("the box that held the object had ended")
        question = Question(request.op, subject, request.fields())
        if self.record:
            self.test.questions.append(question)
        if isinstance(request, CallObject) and request.space == STUDENT:
            self.sought.setdefault(subject, True)  # a function that the box had named need not be searched for
        call_s = self.test.call_s or self._limits.call_s
        soft_s = self._test_left_s(call_s)
        if soft_s <= 0:
            raise BoxTimeout("The test had used up its time.")
        value = self._answer(request, question, soft_s)
        self.test.answered = True
        if isinstance(request, CallObject) and request.full:
            raised = untrusted.table(untrusted.table(value).get("raised"))
            if raised:
                self._note_environment(StudentRaised.from_wire(raised))
        question.value = value
        if isinstance(request, Find) and request.space == STUDENT:
            self.sought[subject] = untrusted.table(value).get("found") is True
        return value

    def asks_twice(self, name: str) -> bool:
        """Return whether the next call of a name must be made twice; see `BoxConnection`."""
        if name in self.test.asked_twice:
            return False
        self.test.asked_twice.add(name)
        return True

    def answered_differently(self, name: str) -> None:
        """Note that the second call of a function did not give what the first one gave."""
        self.test.changed_answers.append(name)

    @property
    def counted_s(self) -> float:
        """Return how much of its time the submission has used; see SubmissionTime."""
        return self._time.counted_s

    @property
    def submission_left_s(self) -> float:
        """Return how much of its time the submission has left; not above zero once it is used up."""
        return self._time.remaining_s

    def _test_left_s(self, most_s: float) -> float:
        """Return how much of its time the test has left, at most `most_s`; counting is only needed if that is less."""
        test = self.test
        left_s = test.limit_s - (time.monotonic() - test.began_at)
        if left_s < most_s:
            left_s = test.limit_s - (self.counted_s - test.counted_before_s)
        return min(most_s, left_s)

    def _answer(self, request: Request, question: Question, soft_s: float) -> object:
        """Return the box's answer, or note in the question why there is none and raise."""
        subject = question.subject
        seed, self.test.seed = self.test.seed, None
        try:
            return self._send(request, timeout_s=soft_s + GRACE_S, soft_s=soft_s, seed=seed)
        except BoxTimeout:
            self.test.slept = self._box is not None and self._box.slept
            self._hangs[subject] += 1
            question.outcome = "no answer in time"
            self._drop()
            raise BoxTimeout(f"`{subject}` did not answer within {soft_s:g} s." if subject else "no answer") from None
        except BoxError as error:
            question.outcome = str(error)
            self._drop()
            raise
        except StudentRaised as error:
            question.outcome = str(error)
            if error.limit == "time":
                self.test.slept = self._box is not None and self._box.slept
                self._hangs[subject] += 1
            self._note_environment(error)
            self.test.answered = True
            raise

    @property
    def environment(self) -> tuple[str, ...]:
        """Return how the environment differs from the one the code was written for: untrusted values, each once."""
        problems = self.report.problems if self.report else []
        loading = [problem.raised.environment for problem in problems if problem.raised]
        return tuple(dict.fromkeys(text for text in (*loading, *self._environment) if text))[:MOST_DIFFERENCES]

    def _note_environment(self, raised: StudentRaised) -> None:
        text = raised.environment
        if (
            text
            and not self.test.hidden
            and len(self._environment) < MOST_DIFFERENCES
            and text not in self._environment
        ):
            self._environment.append(text)

    def note(self, question: Question) -> None:
        """Keep a question that was answered without the box, if questions are recorded."""
        if self.record:
            self.test.questions.append(question)

    def _send(
        self, request: Request, *, timeout_s: float, soft_s: float | None = None, seed: int | None = None
    ) -> object:
        """Send one request and return the value of its reply."""
        box = self._box
        if box is None:
            raise BoxDied("the box had ended")
        release, self._releases = self._releases, []
        more = {name: value for name, value in (("soft_s", soft_s), ("seed", seed)) if value is not None}
        try:
            message = box.ask(request.op, timeout_s=timeout_s, release=release, **more, **request.fields())
        except (TypeError, TooLarge) as error:  # nothing was sent: only the author can have given the value
            raise GraderError(f"The question cannot be sent to the box: {error}") from error
        try:
            reply = Reply.parse(message)
        except ProtocolViolation:
            box.kill()
            raise
        if reply.raised is not None:
            raise StudentRaised.from_wire(reply.raised)
        if reply.missing is not None:
            raise MissingName(reply.missing, reply.close)
        return STOP if reply.is_exhausted else reply.value


def _files(paths: list[str]) -> str:
    """Return a short phrase that names some files."""
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"

"""The parent's side of an examiner: start it, send submissions, end it if it hangs, and always return a result."""

import contextlib
import dataclasses
import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple, Self

from viva.config import Assignment, Course
from viva.model import Case, Entry, Score, Status
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.model.hand_grading import NOT_GRADED_YET
from viva.model.plain import from_plain, to_plain
from viva.pipeline.process.launch import Launched, launch
from viva.pipeline.process.messages import receive, send
from viva.pipeline.process.settings import BoxOptions, ExaminerSettings
from viva.sandbox.guest.process.counted_time import Countdown, CountedTime, wall_countdown

START_S: Final = 120.0
GRACE_S: Final = 20.0
"""How long the examiner may be silent beyond the submission's own time before it is ended; counted as that is."""


class _Interruption(NamedTuple):
    """Why an examiner does not finish a submission."""

    why: str
    ended: bool = True
    """As `Graded.ended`."""


def check_selection(assignment: Assignment, tests: Sequence[Entry], options: GradeOptions) -> None:
    """Check that every selected test exists.

    Raises:
        UsageError: one does not exist, or is hidden when only visible tests run; the message lists those there are.
    """
    there = [e for e in tests if e.visibility == "visible" or not options.visible_only]
    for name in options.only or ():
        if not any(name in e.names for e in there):
            kind = "visible test" if options.visible_only else "test"
            numbers = ", ".join(dict.fromkeys(e.number or e.test_id.split("::", 1)[-1] for e in there))
            raise UsageError(
                f"{assignment.name} has no {kind} {name!r}; ask for a number or a function's name: {numbers}."
            )


class ExaminerProcess:
    """One examiner; a new process replaces it after it crashes or hangs."""

    def __init__(
        self,
        course: Course,
        assignment: Assignment,
        secret: bytes,
        boxes: BoxOptions,
        unused: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """Prepare; `open` or `grade` starts the process.

        Args:
            course: the course of the assignment.
            assignment: the assignment whose tests run.
            secret: the course's secret, from which tests draw.
            boxes: how boxes are made.
            unused: returns modules that boxes need not load, as BoxOptions.unused. Called while the process starts.
        """
        self._course = course
        self.settings = ExaminerSettings(course.root, assignment.name, assignment.limits, secret, boxes)
        self.assignment = assignment
        self._unused = unused
        self._process: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._left_s: Callable[[], float] = wall_countdown(0.0)
        """How long to wait for the next message."""
        self._log: Any = None
        self._stopped = False
        self.is_asked = False
        """Whether it grades a submission now."""
        self.tests: list[Entry] = []
        self.left_out: dict[str, Fraction] = {}
        """In a released folder: why tests of the assignment are not in it, and their points."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self.close(kill=kind is not None)

    def open(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Start the examiner if none is running.

        Args:
            meanwhile: called while it starts, if it does.

        Raises:
            UsageError: the course has an error, or the host cannot make boxes of the tier.
            GraderError: the examiner ended before it was ready.
        """
        if self._sock is not None:
            return
        self._process, ours, self._log = self._launch()
        self._sock = ours
        if self._stopped:
            self._process.kill()
        try:
            self._leave_out_unused()
        except UsageError:
            self.close()
            raise
        ours.settimeout(START_S)
        ready, what = None, "ended before it was ready"
        try:
            self._left_s = Countdown(self._new_clock(), START_S).left_s  # a busy machine may take longer
            send(ours, to_plain(self.settings))
            meanwhile()
            ready = self._next()
        except TimeoutError:
            what = f"was not ready within {START_S:g} s"
        except OSError:
            pass  # it ended, or was ended
        if ready is None:
            log_tail = self._log_tail()
            self.close(kill=True)
            raise GraderError(f"The examiner of {self.assignment.name} {what}.\n{log_tail}")
        self.tests = [from_plain(Entry, e) for e in ready["tests"]]
        self.left_out = {why: Fraction(points) for why, points in ready["left_out"].items()}

    def _leave_out_unused(self) -> None:
        """Write into the settings which modules boxes need not load; does nothing when it is called again."""
        boxes = self.settings.boxes
        unused, self._unused = (*boxes.unused, *self._unused()), tuple
        self.settings = dataclasses.replace(self.settings, boxes=dataclasses.replace(boxes, unused=unused))

    def _launch(self) -> Launched:
        """Start the process."""
        return launch()

    def check_selection(self, options: GradeOptions) -> None:
        """Check that every selected test exists, as `check_selection` does; the examiner must be open."""
        check_selection(self.assignment, self.tests, options)

    def grade(
        self,
        request: GradeRequest,
        on_entry: Callable[[Entry], None] = lambda _: None,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> Graded:
        """Grade one submission. A crash or hang of the examiner still gives a score; its other tests stay pending.

        Args:
            request: what to grade, and how.
            on_entry: called with each entry as soon as it is known.
            on_progress: called with a line about a slow test: how far a training is, or that it waits for a GPU.

        Raises:
            UsageError, GraderError: as `open`; never after the submission has been sent.
            Exception: what one of the functions raises.
        """
        self.open()
        started = time.monotonic()
        clock = self._new_clock()
        entries: list[Entry] = []
        say: dict[str, Any] | None = to_plain(request)
        self.is_asked = True
        while not isinstance(message := self._reply(say, clock), _Interruption):
            say = None
            if message["event"] == "graded":
                self.is_asked = False
                return from_plain(Graded, message["graded"])
            if message["event"] == "progress":
                on_progress(message["text"])
            else:
                entries.append(from_plain(Entry, message["entry"]))
                on_entry(entries[-1])
        log_tail = self._log_tail()
        self.close(kill=True)
        score = self._interrupted(request, entries, f"{message.why}\n{log_tail}", time.monotonic() - started)
        return Graded(score, finished=False, ended=message.ended)

    def close(self, *, kill: bool = False) -> None:
        """End the examiner; its fork server and every box die with it."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._process is not None:
            if kill:
                self._process.kill()
            if self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self.is_asked = False
        if self._log is not None:
            self._log.close()
            self._log = None

    def interrupt(self) -> None:
        """End the process from another thread; a thread that waits for it sees the connection close."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        """End the process like `interrupt`, and do not start another one."""
        self._stopped = True
        self.interrupt()

    def pending(self, options: GradeOptions, known: list[Entry], why: str = "") -> tuple[Entry, ...]:
        """Return the entries known so far, and a pending one for each other test."""
        have = {e.test_id for e in known}
        rest = [e for e in self.tests if e.test_id not in have and options.selects_entry(e)]
        message = f"{NOT_GRADED_YET}: grading was interrupted."
        return (
            *known,
            *(
                dataclasses.replace(e, cases=(Case("", Status.GRADER_ERROR, Fraction(0), e.points, message, why),))
                for e in rest
            ),
        )

    def _interrupted(self, request: GradeRequest, entries: list[Entry], why: str, wall_s: float) -> Score:
        submission = request.submission
        return Score(
            submission=submission.name,
            content_hash=submission.content_hash,
            assignment=self.assignment.name,
            version=self.assignment.version,
            entries=self.pending(request.options, entries, why),
            notes=("Grading was interrupted on the grader's side; it will be run again.",),
            wall_s=wall_s,
        )

    def _new_clock(self) -> CountedTime:
        """Return a clock of the examiner and its boxes."""
        from viva.sandbox.host.limits.processes import clock_of

        assert self._process is not None  # open() has started it
        pid = self._process.pid
        return clock_of(lambda: pid, time.monotonic)

    def _reply(self, say: dict[str, Any] | None, clock: CountedTime) -> "dict[str, Any] | _Interruption":
        """Send a message, if there is one, and return the next one of the examiner, or why none comes."""
        assert self._sock is not None  # open() has made it
        try:
            if say is not None:
                send(self._sock, say)
            self._left_s = Countdown(clock, self.assignment.limits.submission_s + GRACE_S).left_s
            return self._next() or _Interruption("the examiner ended")
        except TimeoutError:
            return _Interruption("the examiner did not come back in time", ended=False)
        except OSError:
            return _Interruption("the connection to the examiner broke")
        except (UsageError, GraderError) as error:
            return _Interruption(f"the examiner gave up: {error}")

    def _wait(self) -> None:
        """Wait until something can be read from the examiner.

        What has arrived counts, however late it is looked at: this process may have been stopped for hours.

        Raises:
            TimeoutError: the time for the next message has passed.
        """
        assert self._sock is not None  # only called between open() and close()
        while True:
            left_s = self._left_s()
            ready, _, _ = select.select([self._sock], [], [], max(0.0, left_s))
            if ready:
                return
            if left_s <= 0:
                raise TimeoutError

    def _next(self) -> dict[str, Any] | None:
        assert self._sock is not None  # as in _wait
        self._wait()
        message = receive(self._sock)
        if message is not None and message["event"] == "fatal":
            log_tail = self._log_tail().strip()
            self.close()
            if message["kind"] == "not started":
                last = log_tail.splitlines()[-1].removeprefix("E ").strip() if log_tail else "pytest said nothing"
                raise UsageError(f"{message['text']}: {last}")
            if message["kind"] == "usage":
                raise UsageError(message["text"])
            raise GraderError(message["text"])
        return message

    def _log_tail(self) -> str:
        if self._log is None:
            return ""
        with contextlib.suppress(OSError):
            self._log.seek(0, os.SEEK_END)
            self._log.seek(max(0, self._log.tell() - 4000))
            return str(self._log.read().decode("utf-8", "replace"))
        return ""

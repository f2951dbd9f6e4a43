"""What an examiner does for its parent: list the tests, grade what it receives."""

import contextlib
import ctypes
import gc
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from viva.config import Assignment
from viva.examiner.boxes.load import LoadReport
from viva.examiner.catalog import TestFunction
from viva.examiner.dropped import check_dropped, without_dropped
from viva.examiner.grader import Grader, Questions
from viva.examiner.interceptor import Interceptor
from viva.examiner.outcome import Outcome
from viva.examiner.recorded_key.replayed_key import ReplayedKey
from viva.examiner.sinks import Sinks
from viva.hooks import hooks
from viva.model import Entry, Score, Status
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import Graded, GradeRequest
from viva.model.plain import from_plain, to_plain
from viva.pipeline.process.messages import receive, send
from viva.submissions.notebook_count import with_notebooks_counted


class AnyGrader(Protocol):
    """Grades one submission after the other: the tests of a course, or an existing suite."""

    @property
    def assignment(self) -> Assignment:
        """The assignment that it grades."""
        ...

    @property
    def functions(self) -> Sequence[TestFunction]:
        """The tests, in the order in which they run."""
        ...

    def grade(self, request: GradeRequest, sinks: Sinks) -> tuple[Score, list[Questions]]:
        """Grade one submission; see Grader.grade."""
        ...


def serve_requests(sock: socket.socket, grader: AnyGrader, lost: Callable[[], bool] = lambda: False) -> None:
    """Report that all is ready, then grade what the parent sends until it closes the connection.

    Args:
        sock: the connection to the parent.
        grader: grades the submissions.
        lost: whether no box can be made any more, though nothing here ended the fork server.

    Raises:
        GraderError: the fork server ended.
        OSError: the parent is gone.
    """
    check_dropped(grader.assignment, grader.functions)
    key = grader.key if isinstance(grader, Grader) else None
    left_out = key.record.left_out if isinstance(key, ReplayedKey) else {}
    tests = [to_plain(describe_test(grader.assignment, function)) for function in grader.functions]
    send(sock, {"event": "ready", "tests": tests, "left_out": left_out})
    memory = Memory()
    while (message := receive(sock)) is not None:
        graded = _Grading(sock, grader, from_plain(GradeRequest, message), lost).run()
        send(sock, {"event": "graded", "graded": to_plain(graded)})
        del message, graded
        memory.give_back()


class _Grading:
    """One request in progress; what only the tests of a course have is left out for existing suites."""

    def __init__(self, sock: socket.socket, grader: AnyGrader, request: GradeRequest, lost: Callable[[], bool]) -> None:
        self._sock, self._grader, self._lost = sock, grader, lost
        submission = with_notebooks_counted(request.submission, grader.assignment.handed_out_names)
        self._request = replace(request, submission=submission)
        self._own = grader if isinstance(grader, Grader) else None
        self._load_reports: list[LoadReport] = []

    def run(self) -> Graded:
        """Grade, and collect what the options ask for."""
        sinks = self._sinks()
        score, questions = self._grader.grade(self._request, sinks)
        entries = tuple(without_dropped(self._grader.assignment, entry) for entry in score.entries)
        score = replace(score, entries=entries)
        graded = Graded(score, questions)
        if sinks.interceptor is not None:
            graded.interceptor_output = sinks.interceptor.output()
        if self._request.options.notebook and self._load_reports and self._own is not None:
            graded.notebook = self._notebook(self._own)
        return graded

    def _sinks(self) -> Sinks:
        request, own = self._request, self._own
        sinks = Sinks(on_entry=self._send_entry, on_loaded=self._load_reports.append)
        sinks.on_progress = lambda text: send(self._sock, {"event": "progress", "text": text})
        if own is None:
            return sinks
        if request.options.interceptor:
            sinks.interceptor = _open_interceptor(request, self._grader.functions)
        return sinks

    def _send_entry(self, entry: Entry) -> None:
        if self._lost():  # the test may have turned it into another error; the parent tries again with a fresh examiner
            raise GraderError("the fork server of its boxes has ended")
        counted = without_dropped(self._grader.assignment, entry)
        send(self._sock, {"event": "entry", "entry": to_plain(counted)})

    def _notebook(self, grader: Grader) -> bytes:
        """Return the executed notebook; of a load that ended its box, the part that ran."""
        from viva.examiner.executed import executed_notebook

        return executed_notebook(self._load_reports[0], grader.assignment, self._request.submission.content_hash)


def _open_interceptor(request: GradeRequest, tests: Sequence[TestFunction]) -> Interceptor:
    """Return the interceptor that the options name.

    Raises:
        UsageError: no plugin has it, or it cannot use its input.
    """
    name = request.options.interceptor
    interceptor: Interceptor | None = hooks().viva_interceptor(name=name, data=request.interceptor_input, tests=tests)
    if interceptor is None:
        raise UsageError(f"No plugin of this installation provides the interceptor {name!r}.")
    return interceptor


def describe_test(assignment: Assignment, function: TestFunction) -> Entry:
    """Return the pending result of a test, with which the parent finishes a result when this process is gone."""
    from viva.examiner.points import case_of, entry_of

    outcome = Outcome(Status.GRADER_ERROR)
    entry = entry_of(function, [case_of(function, "", outcome, None, 0.0)], [outcome])
    return without_dropped(assignment, entry)


MOST_KEPT_BYTES: Final = 16 << 20
"""How much more than it had at rest a process may keep; looking for it costs a hundredth of a second."""
_LITTLE_BYTES: Final = 1 << 20
_STATUS: Final = Path("/proc/self/statm")


class Memory:
    """Remembers how much memory this process needs at rest; does nothing where there is no /proc."""

    def __init__(self) -> None:
        """Begin when everything is loaded: what there is now is never looked through for unused objects."""
        gc.freeze()
        gc.enable()
        self._rested = _resident_bytes()
        self._left = 0
        """What the last attempt could not return to the system."""

    def give_back(self) -> None:
        """Return unused memory to the system, if there is much of it.

        Memory that could not be returned twice is permanently in use, such as libraries that a test has loaded. Once
        does not prove it, because what is kept until the next submission may still hold the last answers.
        """
        if _resident_bytes() <= self._rested + MOST_KEPT_BYTES:
            return
        gc.collect()
        with contextlib.suppress(AttributeError, OSError):  # a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)
        resident = _resident_bytes()
        if resident < self._rested or abs(resident - self._left) < _LITTLE_BYTES:
            self._rested = resident
        self._left = resident


def _resident_bytes() -> int:
    try:
        return int(_STATUS.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0

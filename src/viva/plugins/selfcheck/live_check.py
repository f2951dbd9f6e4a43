"""`viva.check()` in a live notebook: the tests run in the kernel, on what it defines, and its state is restored.

There is no isolation, because the code is the student's, on the student's machine. The score is advice: nothing that is
computed here leaves the process, and grading runs the submission again elsewhere.
"""

import contextlib
import os
import signal
import threading
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from viva.config import Assignment, Course, find_course, load_course
from viva.examiner.dropped import check_dropped, without_dropped
from viva.examiner.grader import Grader
from viva.examiner.pytest_session import Serving
from viva.examiner.recorded_key.replayed_key import ReplayedKey
from viva.examiner.sinks import Sinks
from viva.model import Entry, Score
from viva.model.errors import CourseError, UsageError
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.model.hand_grading import NOT_GRADED_YET, NOTHING_WRITTEN, NOTHING_WRITTEN_FOR
from viva.pipeline.process.examiner_process import check_selection
from viva.pipeline.process.request_loop import describe_test
from viva.plugins.selfcheck.check_report import Report
from viva.plugins.selfcheck.kernel_state import Snapshot, restore_process, silence_output
from viva.plugins.selfcheck.live_kernel import LiveKernel, LiveLoader
from viva.plugins.selfcheck.live_notebook import LiveNotebook, add_places, find_notebook
from viva.plugins.selfcheck.not_included import find_left_out
from viva.submissions import recognize_assignment

NOT_KEPT: Final = "Too large to be protected against changes while it was checked: {names}."
IMPORTS_NOT_CHECKED: Final = (
    "The assignment forbids some imports, and that is looked at only where a file is loaded: `viva check` does."
)
DEVICE_NOT_CHANGED: Final = (
    "{assignment} means the CPU where code names a graphics card; here it runs as it is written."
)
NO_GPU: Final = f"{NOT_GRADED_YET}: this test needs a GPU, and such tests are not run in a live notebook."
_RUNNING: Final = threading.Lock()


class CheckRefused(UsageError):
    """The check cannot be made: the course, the assignment or the question does not exist. Shown as one sentence."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: only the sentence."""
        return [f"viva: {self}"]


def check(
    *questions: str,
    assignment: str | None = None,
    course: str | os.PathLike[str] | None = None,
    training: bool = False,
) -> Report:
    """Run the public tests of the assignment on this notebook, and say what to fix.

    The tests call the functions that are defined now, in this very process; no cell runs a second time. Variables,
    random numbers, the working directory and the settings of numpy and torch are restored afterwards.

    Args:
        questions: numbers or names of tests (`"3.3"`); none for all.
        assignment: its name; without it, recognized by what the notebook defines.
        course: the course's folder; without it, $VIVA_COURSE, or the nearest folder upwards that has a grader.yaml.
        training: whether tests that train a model run as well, which takes minutes.

    Returns:
        An object that displays itself as a table. A wrong answer does not raise an exception.

    Raises:
        CheckRefused: there is no such course, assignment or question.
        GraderError: the author's files cannot be loaded.
        KeyboardInterrupt: Ctrl-C.
    """
    began = time.monotonic()
    if not _RUNNING.acquire(blocking=False):
        raise CheckRefused("A check is running already: a function under test cannot call `viva.check()`.")
    try:
        live = find_notebook()
        options = GradeOptions(only=tuple(map(str, questions)) or None, visible_only=True, training=training)
        found = load_course(
            find_course(None if course is None else Path(course), os.environ, live.folder, released=True)
        )
        return _check(live, found, assignment, options, began)
    except CheckRefused:
        raise
    except UsageError as error:
        raise CheckRefused(str(error)) from None
    finally:
        _RUNNING.release()


def _check(live: LiveNotebook, course: Course, name: str | None, options: GradeOptions, began: float) -> Report:
    submission, notes = live.read_submission()
    assignment = course.assignment(name) if name else recognize_assignment(course, live.outline(submission))
    if assignment.suite is not None:
        raise UsageError(
            f"{assignment.title} is graded by a unittest suite, which cannot question a live notebook: save "
            "it, and run `viva check` on the file."
        )
    run = _Run(live, assignment, GradeRequest(submission, options))
    snapshot = Snapshot(live.namespace, *map(vars, live.modules()))
    with contextlib.ExitStack() as after:
        after.callback(snapshot.restore)
        after.callback(run.kernel.close)  # once the working directory is another one again
        after.enter_context(silence_output(live.shell))
        after.enter_context(restore_process(assignment.graders))  # left first: the clean-up needs the restored builtins
        score = run.grade(course)
    if snapshot.too_large:
        notes.append(NOT_KEPT.format(names=", ".join(f"`{name}`" for name in snapshot.too_large)))
    if assignment.forbid:
        notes.append(IMPORTS_NOT_CHECKED)
    if assignment.device == "cpu":
        notes.append(DEVICE_NOT_CHANGED.format(assignment=assignment.title))
    shown = {entry.test_id for entry in score.entries if options.selects_entry(entry)}
    score = replace(score, notes=(*score.notes, *notes))
    left_out = find_left_out(run.tests, score.entries, run.not_released)
    return Report(score, left_out, took_s=time.monotonic() - began, shown=shown)


class _Run:
    """One check: pytest collects the tests in this process, and they ask the kernel."""

    def __init__(self, live: LiveNotebook, assignment: Assignment, request: GradeRequest) -> None:
        self._live, self._assignment, self._request = live, assignment, request
        self._cells = live.cells()
        self._placed: dict[str, Entry] = {}
        self._score: Score | None = None
        self._interrupted = False
        self.kernel = LiveKernel(live, self._cells)
        self.tests: list[Entry] = []
        """All tests of the assignment, as pending results."""
        self.not_released: dict[str, Fraction] = {}
        """In a released folder: why tests of the assignment are not in it, and their points."""

    def grade(self, course: Course) -> Score:
        """Run the tests.

        Raises:
            UsageError: there is no such question, or the tests cannot be collected.
            GraderError: the author's own files cannot be loaded.
            KeyboardInterrupt: Ctrl-C, also while a function of the student ran.
        """
        self.kernel.begin()
        os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupt)  # restored with the rest of the process's state
        secret = course.secret_or_public(os.environ)
        gpus = Gpus(why_none=NO_GPU)
        Serving(
            course.root, self._assignment, lambda: self.kernel, secret, self._serve, gpus, _refuse_gpu, LiveLoader
        ).run()
        if self._interrupted or self._score is None:
            raise KeyboardInterrupt
        notes = self._score.notes
        if self._live.file is None:
            notes = tuple(note for note in notes if not note.startswith(NOTHING_WRITTEN_FOR))
        entries = tuple(_say_what_was_read(entry, self._live.file) for entry in self._placed.values())
        return replace(self._score, entries=entries, notes=notes)

    def _serve(self, grader: Grader) -> None:
        if isinstance(grader.key, ReplayedKey):
            self.not_released = {why: Fraction(points) for why, points in grader.key.record.left_out.items()}
        check_dropped(self._assignment, grader.functions)
        self.tests = [describe_test(self._assignment, function) for function in grader.functions]
        check_selection(self._assignment, self.tests, self._request.options)
        self._score, _ = grader.grade(self._request, Sinks(on_entry=self._place))

    def _place(self, entry: Entry) -> None:
        """Note a result, with where the functions that it is about are defined."""
        entry = without_dropped(self._assignment, entry)
        self._placed[entry.test_id] = add_places(entry, self.kernel.called, self._live.namespace, self._cells)
        self.kernel.called.clear()
        if self._interrupted:
            raise KeyboardInterrupt

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Note Ctrl-C: in a function of the student, it is reported as that function's error."""
        self._interrupted = True
        raise KeyboardInterrupt


def _refuse_gpu() -> NoReturn:
    raise CourseError("a live notebook offers no GPU")


def _say_what_was_read(entry: Entry, file: Path | None) -> Entry:
    """Return an entry that claims no more of the notebook's Markdown than its saved file shows."""
    looked = "No answer was found; Markdown cells were not looked at here."
    if file is not None:
        looked = f"No answer was found in {file.name} as it was last saved."
    cases = tuple(replace(case, message=case.message.replace(NOTHING_WRITTEN, looked)) for case in entry.cases)
    return replace(entry, cases=cases)

"""`viva.check()` in a live notebook: the kernel itself answers the questions, and its state is restored."""

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from viva.model import Entry, Score, Submission
from viva.model.errors import UsageError
from viva.model.hand_grading import NOTHING_WRITTEN, NOTHING_WRITTEN_FOR
from viva.plugins.selfcheck.environment import restored_afterwards

if TYPE_CHECKING:
    from viva.config import Assignment, Course
    from viva.model.grade_request import GradeOptions
    from viva.plugins.selfcheck.check_report import Report
    from viva.plugins.selfcheck.kernel_server import LiveExaminer
    from viva.plugins.selfcheck.live_notebook import LiveNotebook

NOT_KEPT: Final = "Too large to be protected against changes while it was checked: {names}."
IMPORTS_NOT_CHECKED: Final = (
    "The assignment forbids some imports, and that is looked at only where a file is loaded: `viva check` does."
)
DEVICE_NOT_CHANGED: Final = (
    "{assignment} means the CPU where code names a graphics card; here it runs as it is written."
)


class CheckRefused(UsageError):
    """The check cannot be made: the course, the assignment or the question does not exist. Shown as one sentence."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: only the sentence."""
        return [f"viva: {self}"]


class _LastExaminer:
    """The examiner of the last check, kept for the next one."""

    key: tuple[Any, ...] = ()
    examiner: "LiveExaminer | None" = None


def check(
    *questions: str,
    assignment: str | None = None,
    course: str | os.PathLike[str] | None = None,
    training: bool = False,
) -> "Report":
    """Run the public tests of the assignment on this notebook, and say what to fix.

    The tests call the functions that are defined now, in this very process; no cell runs a second time. Variables,
    random numbers, the working directory and the settings of numpy and torch are restored afterwards.

    Args:
        questions: numbers or names of tests (`"3.3"`); none for all.
        assignment: its name; without it, recognised by what the notebook defines.
        course: the course's folder; without it, $VIVA_COURSE, or the nearest folder upwards that has a grader.yaml.
        training: whether tests that train a model run as well, which takes minutes.

    Returns:
        An object that displays itself as a table. A wrong answer does not raise an exception.

    Raises:
        CheckRefused: there is no such course, assignment or question.
        GraderError: the examiner could not be started.
        KeyboardInterrupt: Ctrl-C.
    """
    began = time.monotonic()
    from viva.model.grade_request import GradeOptions
    from viva.plugins.selfcheck import live_notebook

    if _LastExaminer.examiner is not None and _LastExaminer.examiner.kernel is not None:
        raise CheckRefused("A check is running already: a function that is asked cannot ask in its turn.")
    live = live_notebook.find()
    options = GradeOptions(only=tuple(map(str, questions)) or None, visible_only=True, training=training)
    try:
        return _check(live, options, assignment, None if course is None else Path(course), began)
    except CheckRefused:
        raise
    except UsageError as error:
        raise CheckRefused(str(error)) from None


def _check(
    live: "LiveNotebook", options: "GradeOptions", assignment: str | None, course_dir: Path | None, began: float
) -> "Report":
    from viva.config import find_course, load_course
    from viva.submissions import recognize_assignment

    submission, notes = live.submission()
    course = load_course(find_course(course_dir, os.environ, live.folder, released=True))
    chosen = course.assignment(assignment) if assignment else recognize_assignment(course, live.outline(submission))
    examiner = _examiner(course, chosen)
    try:
        examiner.open()
        examiner.check_selection(options)
        score, too_large = _ask(examiner, live, submission, options)
    except BaseException:
        forget()  # it may be in the middle of a question
        raise
    if too_large:
        notes.append(NOT_KEPT.format(names=", ".join(f"`{name}`" for name in too_large)))
    notes += [IMPORTS_NOT_CHECKED] if chosen.forbid else []
    notes += [DEVICE_NOT_CHANGED.format(assignment=chosen.title)] if chosen.device == "cpu" else []
    return _report(examiner, score, notes, options, time.monotonic() - began)


def _examiner(course: "Course", assignment: "Assignment") -> "LiveExaminer":
    """Return the examiner of the last check if its tests have not changed, else a new one."""
    from viva.plugins.selfcheck.kernel_server import LiveExaminer

    secret = course.secret_or_public(os.environ)
    key = (course.root, assignment.name, secret, os.getpid(), _newest(assignment))
    if _LastExaminer.examiner is None or _LastExaminer.key != key:
        forget()
        _LastExaminer.examiner, _LastExaminer.key = LiveExaminer(course, assignment, secret), key
    return _LastExaminer.examiner


def _newest(assignment: "Assignment") -> int:
    """Return when the tests were last changed, because an author may be editing them."""
    paths = [assignment.folder / "assignment.yaml", *assignment.graders.rglob("*.py")]
    newest = 0
    for path in paths:
        with contextlib.suppress(OSError):
            newest = max(newest, path.stat().st_mtime_ns)
    return newest


def forget() -> None:
    """End the examiner that is kept; the next check starts another one."""
    examiner, _LastExaminer.examiner, _LastExaminer.key = _LastExaminer.examiner, None, ()
    if examiner is not None:
        examiner.close(kill=True)


def _ask(
    examiner: "LiveExaminer", live: "LiveNotebook", submission: Submission, options: "GradeOptions"
) -> tuple[Score, list[str]]:
    """Return the score and the names of variables that could not be protected; everything else is restored."""
    from viva.model.grade_request import GradeRequest
    from viva.plugins.selfcheck.definition_places import with_places
    from viva.plugins.selfcheck.kernel_server import Interruption, Kernel
    from viva.plugins.selfcheck.output_capture import output_discarded
    from viva.plugins.selfcheck.snapshot import Snapshot

    cells = live.cells()
    snapshot = Snapshot(live.namespace, *map(vars, live.modules()))
    placed: dict[str, Entry] = {}
    examiner.interruption = Interruption()
    with contextlib.ExitStack() as after:
        after.callback(snapshot.restore)
        kernel = examiner.kernel = Kernel(live)
        after.callback(setattr, examiner, "kernel", None)
        after.callback(kernel.file_overlay.close)  # once the working directory is another one again
        after.enter_context(output_discarded(live.shell))
        after.enter_context(restored_afterwards())  # left first: the clean-up needs the restored builtins
        kernel.begin()
        after.enter_context(examiner.interruption.noticed())

        def place(entry: Entry) -> None:
            placed[entry.test_id] = with_places(entry, kernel.called, live.namespace, cells)
            kernel.called.clear()

        graded = examiner.grade(GradeRequest(submission, options), place)
    from dataclasses import replace

    entries = tuple(_as_looked_at(placed.get(entry.test_id, entry), live.file) for entry in graded.score.entries)
    notes = [note for note in graded.score.notes if live.file is not None or not note.startswith(NOTHING_WRITTEN_FOR)]
    return replace(graded.score, entries=entries, notes=tuple(notes)), snapshot.too_large


def _as_looked_at(entry: Entry, file: Path | None) -> Entry:
    """Return an entry that claims no more of the notebook's Markdown than its saved file shows."""
    from dataclasses import replace

    looked = "No answer was found; Markdown cells were not looked at here."
    if file is not None:
        looked = f"No answer was found in {file.name} as it was last saved."
    cases = tuple(replace(case, message=case.message.replace(NOTHING_WRITTEN, looked)) for case in entry.cases)
    return replace(entry, cases=cases)


def _report(
    examiner: "LiveExaminer", score: Score, notes: list[str], options: "GradeOptions", took_s: float
) -> "Report":
    from dataclasses import replace

    from viva.plugins.selfcheck.check_report import Report
    from viva.plugins.selfcheck.not_included import left_out

    shown = {entry.test_id for entry in score.entries if options.selects_entry(entry)}
    noted = replace(score, notes=(*score.notes, *notes))
    return Report(noted, left_out(examiner.tests, score.entries, examiner.left_out), took_s=took_s, shown=shown)

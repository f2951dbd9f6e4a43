"""Write all files of a report into one folder."""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from viva.config import Assignment
from viva.formats.atomic_write import write_atomically
from viva.model.attempt import ScoredAttempt, Student
from viva.model.errors import EXPECTED_ERRORS, UsageError
from viva.plugins.report.class_page import class_csv, class_page
from viva.plugins.report.feedback import feedback_page as pages
from viva.plugins.report.graded_files import graded_files, notebook_of

Withheld = Callable[[], Container[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """What a report consists of."""

    files: tuple[Path, ...]
    pages: int
    """The number of feedback pages."""
    without_page: tuple[tuple[str, str], ...] = ()
    """Submissions whose feedback page could not be written, and why."""


def write_report(
    marked: Sequence[ScoredAttempt],
    assignment: Assignment,
    folder: Path,
    *,
    feedback: bool = False,
    withheld: Withheld = frozenset,
    executed: Mapping[str, bytes] | None = None,
    missing: Sequence[Student] | None = None,
) -> WrittenReport:
    """Write report.html and report.csv, and optionally feedback pages.

    Args:
        marked: all submissions of the class.
        assignment: the assignment.
        folder: where the files are written.
        feedback: whether to write a feedback page for each submission.
        withheld: as for `open_submission`.
        executed: notebooks that the course has run, by the name of the submission; for others the source is shown.
        missing: the students on the roster without a submission; None without a roster.

    Raises:
        UsageError: two submissions have the same name, a file cannot be written, or jinja2 or nh3 is not installed.
    """
    counts = Counter(graded.attempt.name for graded in marked)
    if feedback and (twice := [name for name, n in counts.items() if n > 1]):
        raise UsageError(f"Two submissions are called {twice[0]!r}, and each needs a page of its own; rename one.")
    html, csv = folder / "report.html", folder / "report.csv"
    write_atomically(csv, class_csv.table(marked))
    write_atomically(html, class_page.page(marked, assignment, missing, feedback=feedback))
    without = list[tuple[str, str]]()
    for graded in marked if feedback else ():
        try:
            _write_feedback(graded, assignment, folder / "feedback", withheld, executed or {})
        except Exception as error:  # a student's names and contents, read by many libraries
            why = str(error) if isinstance(error, EXPECTED_ERRORS) else f"{type(error).__name__}: {error}"
            without.append((graded.attempt.name, why))
    pages_written = len(marked) - len(without) if feedback else 0
    return WrittenReport((html, csv), pages_written, tuple(without))


def _write_feedback(
    graded: ScoredAttempt, assignment: Assignment, folder: Path, withheld: Withheld, executed: Mapping[str, bytes]
) -> None:
    path = folder / pages.path_of(graded.attempt)
    if ran := executed.get(graded.attempt.name):
        notebook = pages.Notebook("notebook.ipynb", ran, executed=True)
        write_atomically(path, pages.page(graded, assignment, notebook), durable=False)
        return
    submission, why_none = graded_files(graded, withheld)
    file = notebook_of(submission, assignment) if submission else None
    shown = pages.Notebook(file.path, file.data) if file else None
    write_atomically(path, pages.page(graded, assignment, shown, why_none=why_none), durable=False)

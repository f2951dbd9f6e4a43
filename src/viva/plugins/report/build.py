"""Write all files of a report into one folder, and find the notebooks that its pages show."""

import stat
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.examiner.executed import MOST_BYTES
from viva.formats.atomic_write import write_atomically
from viva.model.attempt import ScoredAttempt, Student
from viva.model.errors import EXPECTED_ERRORS, UsageError
from viva.plugins.report.class_page import render_class_page, write_class_csv
from viva.plugins.report.feedback_page import Notebook, name_page, render_page
from viva.submissions import open_submission
from viva.submissions.notebook_cells import EXECUTED_FILE, about

Withheld = Callable[[], Container[tuple[int, int]]]
GONE: Final = "The submission is not where it was graded."
CHANGED: Final = "The submission has changed since it was graded."
NO_NOTEBOOK: Final = "It has no notebook."
_MAX_BYTES: Final = 4 * MOST_BYTES


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
    results: Mapping[str, Path] | None = None,
    missing: Sequence[Student] | None = None,
) -> WrittenReport:
    """Write report.html and report.csv, and optionally feedback pages.

    Args:
        marked: all submissions of the class.
        assignment: the assignment.
        folder: where the files are written.
        feedback: whether to write a feedback page for each submission.
        withheld: as for `open_submission`.
        results: the folder of the result by the name of the submission, where its executed notebook may be.
        missing: the students on the roster without a submission; None without a roster.

    Raises:
        UsageError: two submissions have the same name, a file cannot be written, or a library is not installed.
    """
    counts = Counter(graded.attempt.name for graded in marked)
    if feedback and (twice := [name for name, n in counts.items() if n > 1]):
        raise UsageError(f"Two submissions are called {twice[0]!r}, and each needs a page of its own; rename one.")
    html, csv = folder / "report.html", folder / "report.csv"
    write_atomically(csv, write_class_csv(marked))
    write_atomically(html, render_class_page(marked, assignment, missing, feedback=feedback))
    without = list[tuple[str, str]]()
    if not feedback:
        return WrittenReport((html, csv), 0)
    for graded in marked:
        name = graded.attempt.name
        try:
            path = folder / "feedback" / name_page(graded.attempt)
            notebook, why_none = find_notebook(graded, assignment, withheld, (results or {}).get(name))
            shown_reason = "" if why_none == NO_NOTEBOOK else why_none
            page = render_page(graded, assignment, notebook, why_none=shown_reason)
            write_atomically(path, page, durable=False)
        except Exception as error:  # a student's names and contents, read by many libraries
            why = str(error) if isinstance(error, EXPECTED_ERRORS) else f"{type(error).__name__}: {error}"
            without.append((name, why))
    return WrittenReport((html, csv), len(marked) - len(without), tuple(without))


def find_notebook(
    graded: ScoredAttempt, assignment: Assignment, withheld: Withheld, result: Path | None = None
) -> tuple[Notebook | None, str]:
    """Return the notebook of a submission, or None and a sentence that says why no notebook is shown.

    Args:
        graded: the submission with its score.
        assignment: the assignment, which may name the notebook.
        withheld: as for `open_submission`.
        result: the folder of the result; if it holds the notebook as the course executed it, that one is returned.
            Otherwise it is the submitted one, if it is outside of archives and has not changed since.
    """
    content_hash = graded.score.content_hash
    executed = _read_executed(result / EXECUTED_FILE) if result is not None else b""
    if executed and content_hash and about(executed).content_hash == content_hash:
        return Notebook(executed, executed=True), ""
    try:
        submission = open_submission(graded.attempt.path, graded.score.submission, withheld=withheld)
    except UsageError:
        return None, GONE
    if submission.content_hash != content_hash:
        return None, CHANGED
    pattern = assignment.submission.notebook or "*.ipynb"
    notebooks = [file for file in submission.files if file.path.lower().endswith(".ipynb")]
    wanted = [file for file in notebooks if fnmatch(file.path.rpartition("/")[2], pattern)]
    for file in wanted or notebooks:
        return Notebook(file.data), ""
    return None, NO_NOTEBOOK


def _read_executed(path: Path) -> bytes:
    """Read a regular file up to the size that viva writes; return nothing for any other."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            return b""
        with path.open("rb") as file:
            return file.read(_MAX_BYTES)
    except OSError:
        return b""

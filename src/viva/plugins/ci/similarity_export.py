"""Lay out the code of a cohort as compare50, JPlag and MOSS take it: a folder for each student, the starter apart."""

import shlex
import tempfile
from pathlib import Path

from viva.config import Course
from viva.formats.atomic_write import write_atomically
from viva.hooks import hooks
from viva.model import Submission
from viva.model.errors import UsageError
from viva.submissions.code_names import NOT_PYTHON
from viva.submissions.decode_text import decode
from viva.submissions.notebook_cells import NotebookError, read_notebook
from viva.submissions.open_submission import open_submission
from viva.submissions.recognize import recognize_assignment
from viva.submissions.safe_names import Names


def export_for_similarity(cohort: Path, course: Course, name: str | None, folder: Path) -> tuple[list[str], list[str]]:
    """Write the last submission of each student or team; return the commands to run, and what was left out and why.

    Raises:
        UsageError: the cohort cannot be read, or the folder is not empty or cannot be written.
    """
    assignment = None if name is None else course.assignment(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty. Give a new folder, so that none of your files are overwritten.")
    submissions, starter = folder / "submissions", folder / "starter"
    with tempfile.TemporaryDirectory(prefix="viva-class-") as unpacked:
        found = hooks().viva_cohort_reader().read(cohort, None, Path(unpacked).resolve())
        left_out = [f"{each.name}: {each.reason}" for each in found.unmatched]
        attempts = sorted(found.attempts, key=lambda attempt: attempt.number)
        last = {frozenset(student.id for student in each.students) or each.name: each for each in attempts}
        for attempt in last.values():
            submission = open_submission(attempt.path, attempt.name, withheld=course.withheld)
            assignment = assignment or recognize_assignment(course, submission)
            left_out += _write_code(submission, submissions / attempt.name)
    if assignment is not None and assignment.starter.is_dir():
        _write_code(open_submission(assignment.starter, "starter"), starter)
    # compare50 expands the pattern itself. By default it replaces `results`, where the results of grading may be.
    compare50 = ["compare50", f"{submissions}/*", "-o", f"{folder}/compare50"]
    jplag = ["java", "-jar", "jplag.jar", "-l", "python3", f"{submissions}"]
    moss = ["moss", "-l", "python", "-d"]
    if starter.exists():
        compare50 += ["-d", f"{starter}"]
        jplag += ["-bc", f"{starter}"]
        moss += [word for file in sorted(starter.iterdir()) for word in ("-b", f"{file}")]
    moss_command = f"{shlex.join(moss)} {shlex.quote(str(submissions))}/*/*.py"
    return [shlex.join(compare50), shlex.join(jplag), moss_command], left_out


def _write_code(submission: Submission, folder: Path) -> list[str]:
    """Write modules and the code cells of notebooks as .py files; return what was left out, with the reasons."""
    names, left_out = Names(), list[str]()
    for file in submission.files:
        stem, _, ending = file.path.rpartition(".")
        code = decode(file.data) if ending == "py" else ""
        if ending == "ipynb":
            try:
                code = "\n\n".join(NOT_PYTHON.sub("", cell.source) for cell in read_notebook(file.data).code)
            except NotebookError as error:
                left_out.append(f"{submission.name}: {file.path}: {error}")
        if code.strip():  # MOSS takes every folder for a submission, so the folders in it become a part of the names
            write_atomically(folder / f"{names.give(stem.replace('/', '_'))}.py", code.encode(), durable=False)
    if not folder.exists() and not left_out:
        left_out.append(f"{submission.name}: {submission.problem or 'contains no Python code outside of archives'}")
    return left_out

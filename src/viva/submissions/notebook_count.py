"""Whether a folder is one submission: how many notebooks it holds, and how many files with the same answers."""

from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from viva.config import Assignment
from viva.model import Submission
from viva.submissions.file_names import CODE
from viva.submissions.starter_code import starter_of

MOST_NOTEBOOKS: Final = 4
"""A student may split the work over a few notebooks; more of them mean that a whole folder was submitted."""


def with_notebooks_counted(submission: Submission, handed_out_names: frozenset[str]) -> Submission:
    """Return the submission with a note if it holds more notebooks than asked for, and a problem if far more.

    Args:
        submission: a submission as it was opened.
        handed_out_names: the names of the assignment's files; notebooks with these names are never too many.
    """
    paths = sorted(file.path for file in submission.files if file.path.endswith(".ipynb"))
    count = len(paths)
    expected = sum(name.endswith(".ipynb") and "*" not in name for name in handed_out_names)
    if submission.problem or count <= max(1, expected):
        return submission
    if any(PurePosixPath(path).name in handed_out_names for path in paths):
        return submission
    if count <= max(MOST_NOTEBOOKS, expected):
        note = (
            f"{count} notebooks were found ({', '.join(paths)}), and all of them are used; "
            "if one is a left-over, submit without it."
        )
        return replace(submission, notes=(*submission.notes, note))
    shown = PurePosixPath(submission.name).name or submission.name
    problem = (
        f"{count} notebooks were found ({', '.join(paths[:3])} and {count - 3} more), and it cannot be told which "
        f"one is the submission: submit the one with your answers (or grade each by itself: {shown}/*.ipynb)."
    )
    return replace(submission, problem=problem)


def same_answers(submission: Submission, assignment: Assignment) -> list[str]:
    """Return the files at the top of a folder that each define the same names, as those of several students do.

    If one of them has a name that the course handed out, it is one submission, and there are none.
    """
    files = [file for file in submission.files if "/" not in file.path and file.path.endswith(CODE)]
    if len(files) < 2 or not assignment.handed_out_names.isdisjoint(file.path for file in files):
        return []
    starter = starter_of(assignment.starter)
    answers = {file.path: starter.compare(file.path, file.data).answers for file in files}
    counts = Counter(name for names in answers.values() for name in names)
    return [path for path, names in answers.items() if any(counts[name] > 1 for name in names)]

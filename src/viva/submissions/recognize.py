"""Recognizes which assignment a submission belongs to by its content; nothing is executed or imported.

The names that a submission defines are compared with those of each starter, as text: student code is not even parsed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

from viva.config import Assignment, Course
from viva.model import File, Submission
from viva.model.errors import CourseError, UsageError
from viva.submissions.code_names import names_in_text

_READ: Final = 4 << 20
# A line of a cell begins a JSON string, or follows a line break that is written as an escape.
_LINE_OF_CELL: Final = r'(?:"|\\n)'
_HINT: Final = re.compile(r'"viva"\s{0,20}:\s{0,20}\{[^{}]{0,200}?"assignment"\s{0,20}:\s{0,20}"([\w.-]{1,100})"')


def recognize_assignment(course: Course, submission: Submission) -> Assignment:
    """Return the assignment that fits the submission best.

    Compares these in this order, each only to break a tie: the names that only one starter defines,
    file names, what the notebook's metadata says, the path.

    Raises:
        UsageError: the assignment cannot be recognized; lists the assignments and the option.
        CourseError: an assignment.yaml is wrong, or the course has no assignment.
    """
    if not course.assignments:
        raise CourseError(f"{course.root / 'grader.yaml'}: assignments is empty; list at least one.")
    left = [course.assignment(name) for name in course.assignments]
    if len(left) == 1:
        return left[0]
    defined = _defined(submission)
    own = _distinctive(left)
    hints = {hint for f in submission.files if f.path.endswith(".ipynb") for hint in _HINT.findall(_text(f.data))}
    steps = PurePath(submission.name).parts
    evidence: list[Callable[[Assignment], int]] = [
        lambda a: len(own[a.name] & defined),
        lambda a: _fitting_files(a, submission.files),
        lambda a: int(a.name in hints),
        lambda a: int(a.name in steps),
    ]
    for fits in evidence:
        fitting = [fits(a) for a in left]
        left = [a for a, fit in zip(left, fitting, strict=True) if fit == max(fitting)]
        if len(left) == 1:
            return left[0]
    names = ", ".join(course.assignments)
    raise UsageError(
        f"It cannot be told which assignment {submission.name} is for; say it with --assignment NAME (one of: {names})."
    )


def find_better_fit(course: Course, assignment: str, submission: Submission) -> tuple[Assignment, list[str]] | None:
    """Return another assignment, and which names of its starter alone the submission defines; None if it has none.

    A submission that defines a name of its own assignment's starter alone fits no other.

    Raises:
        CourseError: an assignment.yaml is wrong.
    """
    every = [course.assignment(name) for name in course.assignments]
    own = _distinctive(every)
    defined = _defined(submission)
    best = max(every, key=lambda a: len(own[a.name] & defined), default=None)
    if best is None or best.name == assignment or own.get(assignment, set()) & defined or not own[best.name] & defined:
        return None
    return best, sorted(own[best.name] & defined)


def _fitting_files(assignment: Assignment, files: Iterable[File]) -> int:
    """Return how well file names fit: an exact name counts more than a pattern."""
    wanted = assignment.submission
    names = [PurePosixPath(f.path).name for f in files]
    exact = sum(2 for name in names if name in (wanted.module, wanted.notebook))
    return exact + any(wanted.notebook is not None and fnmatchcase(name, wanted.notebook) for name in names)


def _distinctive(assignments: list[Assignment]) -> dict[str, set[str]]:
    """Return the names that the starter of one assignment defines and no other starter does."""
    names = {a.name: set().union(*(_names(p.name, p.read_bytes()) for p in _starter_files(a))) for a in assignments}
    common = {name for name, count in Counter(n for found in names.values() for n in found).items() if count > 1}
    return {assignment: found - common for assignment, found in names.items()}


def _starter_files(assignment: Assignment) -> list[Path]:
    if not assignment.starter.is_dir():
        return []
    return sorted(p for p in assignment.starter.rglob("*") if p.suffix in (".py", ".ipynb") and p.is_file())


def _defined(submission: Submission) -> set[str]:
    return {name for file in submission.files for name in _names(file.path, file.data)}


def _names(path: str, data: bytes) -> set[str]:
    """Return the names defined at the top level of a module or of a notebook's cells."""
    line = {".py": "^", ".ipynb": _LINE_OF_CELL}.get(PurePosixPath(path).suffix)
    return names_in_text(_text(data), line) if line is not None else set()


def _text(data: bytes) -> str:
    return data[:_READ].decode("utf-8", "replace")

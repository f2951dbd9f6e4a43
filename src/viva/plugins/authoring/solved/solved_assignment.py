"""An assignment whose source is one solved notebook: `assignments/NAME/source.ipynb` with `tests.py` next to it.

An author edits at most four files: the notebook, tests.py, assignment.yaml and rubric.yaml. viva makes the answer key,
the starter, the folder of the tests and the accepted submission from these files, whenever one of them has changed.
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import viva
from viva.config import Assignment, Course
from viva.config.assignment import SOURCES, TESTS
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.plugins.authoring.solved.comment_headings import questions_in
from viva.plugins.authoring.solved.key_source import HEAD, key_source
from viva.plugins.authoring.source import starter_from
from viva.plugins.authoring.source.solution_markers import solved
from viva.plugins.authoring.source.source_cells import Cell
from viva.plugins.authoring.source.starter import notebook_of, read_source
from viva.submissions.code_names import attributes_read

MADE: Final = ".made"
"""In the folder of the graders: from what its files were made."""
OWN_HEAD: Final = '"""The model answers, in the API that students use."""\n'


def refresh(course: Course) -> None:
    """Make again what is out of date, for all assignments of a course that have one source.

    Raises:
        CourseError: a source or the settings of such an assignment cannot be read.
    """
    for name in course.assignments:
        folder = course.root / "assignments" / name
        if (folder / TESTS).is_file() and source_of(folder) is not None and not _is_made(course, name):
            make(course, course.assignment(name))


def _is_made(course: Course, name: str) -> bool:
    made = course.root / "graders" / name / MADE
    return made.is_file() and made.read_text("utf-8") == _digest(course.root / "assignments" / name)


def source_of(folder: Path) -> Path | None:
    """Return the solved notebook or module of an assignment's folder; None if it has none."""
    return next((folder / name for name in SOURCES if (folder / name).is_file()), None)


def make(course: Course, assignment: Assignment) -> None:
    """Make key, starter, tests and the accepted submission of one assignment.

    Raises:
        CourseError: the source cannot be read.
    """
    source = source_of(assignment.folder)
    assert source is not None  # `refresh` has looked
    digest = _digest(assignment.folder)
    cells = read_source(source)
    questions = questions_in(cells)
    names = [name for question in questions for name in question.names]
    classes = [name for question in questions for name in question.classes]
    used = attributes_read((assignment.folder / TESTS).read_text("utf-8"), "key")  # such as classes that are given
    networks = {name for name in names if f"outputs_{name}" in used}
    trained = [name for name in names if f"trained_{name}" in used]
    wanted = frozenset(names) | used
    key = key_source(cells, wanted, source=source.name, classes=classes, networks=networks, trained=trained)
    starter = starter_from(assignment) or {}
    _replace(assignment.starter, starter)
    accepted = course.root / "fixtures" / assignment.name / "submissions" / "accepted" / "source"
    name = assignment.submission.module if source.suffix == ".py" else f"{assignment.name}.ipynb"
    _replace(accepted, {name or source.name: _solved(cells, source)})
    write_atomically(assignment.graders / "key.py", key.encode())
    module = "".join(letter if letter.isalnum() else "_" for letter in assignment.name)
    write_atomically(assignment.graders / f"test_{module}.py", (assignment.folder / TESTS).read_bytes())
    write_atomically(assignment.graders / MADE, digest.encode())


def make_large(course: Course, name: str) -> None:
    """Leave everything that was made to the author, and remove what it was made from.

    Raises:
        UsageError: the assignment has no solved notebook with tests.
        CourseError: a source or the settings cannot be read.
    """
    folder = course.root / "assignments" / name
    source = source_of(folder)
    if source is None or not (folder / TESTS).is_file():
        raise UsageError(f"{folder} has no solved notebook and {TESTS} from which the rest was made; nothing to do.")
    assignment = course.assignment(name)
    make(course, assignment)
    key = assignment.graders / "key.py"
    write_atomically(key, key.read_text("utf-8").replace(HEAD.format(source=source.name), OWN_HEAD, 1).encode())
    for path in (assignment.graders / MADE, folder / TESTS, source):
        path.unlink()


def _solved(cells: Sequence[Cell], source: Path) -> bytes:
    """Return the solved notebook as a student would submit it: without tests and marks."""
    kept = [replace(cell, source=without_marks(cell.source)) for cell in cells if cell.kind != "raw"]
    if source.suffix == ".ipynb":
        return notebook_of(kept)
    return "\n\n".join(cell.source for cell in kept if cell.kind == "code").encode() + b"\n"


def without_marks(text: str) -> str:
    """Return a cell with its solutions, without their markers and without hidden tests."""
    lines, hidden = [], False
    for line in text.splitlines():
        if "BEGIN HIDDEN TESTS" in line or "BEGIN MARK SCHEME" in line:
            hidden = True
        elif "END HIDDEN TESTS" in line or "END MARK SCHEME" in line:
            hidden = False
        elif not hidden:
            lines.append(line)
    return solved("\n".join(lines))


def _replace(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a folder, and remove what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in files.items():
        write_atomically(folder / path, data)


def _digest(folder: Path) -> str:
    """Return a hash of what everything else is made from, and of the version of viva that makes it."""
    sha = hashlib.sha256(f"{viva.__version__}\0".encode())
    for name in (*SOURCES, TESTS, "assignment.yaml"):
        path = folder / name
        sha.update(path.read_bytes() if path.is_file() else b"")
        sha.update(b"\0")
    return sha.hexdigest()

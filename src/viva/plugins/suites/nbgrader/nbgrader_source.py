"""An nbgrader assignment as its author wrote it: the cells of `source/*.ipynb`, and which of them are worth points."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from viva.config.yaml_types import as_name
from viva.model.errors import CourseError
from viva.submissions.code_names import bound_names, free_names
from viva.submissions.notebook_cells import Cell, NotebookError, read_notebook

FOLDER: Final = "source"
"""The folder of the notebooks, below graders/<a>/; they hold solutions, and never go into a box unchanged."""
CODE_STUB: Final = "# YOUR CODE HERE\nraise NotImplementedError()"
TEXT_STUB: Final = "YOUR ANSWER HERE"
AUTOTEST: Final = "AUTOTEST"
HIDDEN_TESTS: Final = "HIDDEN TESTS"
SOLUTION: Final = "SOLUTION"
MARK_SCHEME: Final = "MARK SCHEME"
OUR_SCHEMA: Final = 3
_SCHEMAS: Final = (None, 0, 1, 2, OUR_SCHEMA)
"""Versions of nbgrader's metadata, the first two before it wrote a version; what is read here means the same in all."""
_FLAGS: Final = ("grade", "solution", "task", "locked")
"""nbgrader takes no notice of a cell in which none of these is set."""
MAX_POINTS: Final = 1_000_000


class SourceError(Exception):
    """What is wrong with a cell; the text is a phrase for the author."""


@dataclass(frozen=True, slots=True)
class SourceCell:
    """A cell that nbgrader knows by its id."""

    grade_id: str
    kind: str
    """"code", "markdown" or "raw"."""
    source: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    """Whether this text replaces the student's before the notebook runs."""
    points: Fraction

    @property
    def number(self) -> str:
        """Return the id in the letters that the number of a question in rubric.yaml may have."""
        return as_name(self.grade_id, "_")

    @property
    def is_test(self) -> bool:
        """Return whether this is a code cell that gives points automatically."""
        return self.grade and not self.solution and self.kind == "code"

    @property
    def is_graded_by_hand(self) -> bool:
        """Return whether this is an answer or a task that a person grades."""
        return (self.grade and not self.is_test) or self.task

    @property
    def has_hidden_tests(self) -> bool:
        """Return whether a part of it is hidden from students."""
        return f"BEGIN {HIDDEN_TESTS}" in self.source

    @property
    def released(self) -> str:
        """Return the text that students are given: without solutions, hidden tests and mark schemes."""
        text = self.source
        if self.solution:
            stub = CODE_STUB if self.kind == "code" else TEXT_STUB
            text = replace_regions(text, SOLUTION, stub) if f"BEGIN {SOLUTION}" in text else stub
        return replace_regions(replace_regions(text, HIDDEN_TESTS), MARK_SCHEME)

    @property
    def mark_scheme(self) -> str:
        """Return the author's notes for markers; empty if there is no mark scheme."""
        lines = [line for line, place in _mark_lines(self.source, MARK_SCHEME) if place == "inside"]
        return "\n".join(lines).strip()

    @property
    def shows_tests(self) -> bool:
        """Return whether anything that can run is left of a test without its hidden tests."""
        text = self.released
        try:
            return bool(ast.parse(text).body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return bool(text.strip())


@dataclass(frozen=True, slots=True)
class SourceNotebook:
    """One notebook of the assignment."""

    file: str
    """Its name: `ps1.ipynb`."""
    cells: Mapping[str, SourceCell]
    """By their ids, in the order of the notebook."""
    after_hidden: frozenset[str]
    """The ids of the tests that use a name which a hidden region of an earlier cell binds, such as an import."""


def replace_regions(source: str, marker: str, stub: str = "") -> str:
    """Return the cell with each region, as between `### BEGIN SOLUTION` and its END, replaced by the lines of `stub`.

    They are indented as the region's first line. Markers are whole lines.

    Raises:
        SourceError: a region begins inside another, or does not end.
    """
    kept: list[str] = []
    for line, place in _mark_lines(source, marker):
        if place == "begin" and stub:
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + each for each in stub.split("\n")]
        elif place == "outside":
            kept.append(line)
    return "\n".join(kept)


def _mark_lines(source: str, marker: str) -> Iterator[tuple[str, str]]:
    """Yield each line with "begin", "inside", "end" or "outside"."""
    inside = False
    for line in source.split("\n"):
        if f"BEGIN {marker}" in line:
            if inside:
                raise SourceError(f"`BEGIN {marker}` is inside another such region")
            inside = True
            yield line, "begin"
        elif f"END {marker}" in line:
            inside = False
            yield line, "end"
        else:
            yield line, "inside" if inside else "outside"
    if inside:
        raise SourceError(f"`BEGIN {marker}` has no `END {marker}` behind it")


def is_autotest(line: str) -> bool:
    """Return whether a line is a comment that asks for tests: `### AUTOTEST f(3)`, `### HASHED AUTOTEST f(3); f(4)`."""
    return AUTOTEST in line and line.lstrip().startswith("#")


def has_autotest(source: str) -> bool:
    """Return whether a line of a cell asks for tests."""
    return any(map(is_autotest, source.splitlines()))


def read_source(folder: Path) -> tuple[SourceNotebook, ...]:
    """Read all notebooks of the folder, by name.

    Raises:
        CourseError: there is none, one cannot be read, or a cell uses what cannot be imported.
    """
    paths = sorted(path for path in folder.glob("*.ipynb") if path.is_file() and not path.is_symlink())
    if not paths:
        raise CourseError(f"{folder} holds no notebook: `suite: nbgrader` expects the source version (*.ipynb) there.")
    notebooks = []
    for path in paths:
        cells = _read_cells(path)
        notebooks.append(SourceNotebook(path.name, cells, _find_after_hidden(cells)))
    if not any(cell.is_test or cell.is_graded_by_hand for each in notebooks for cell in each.cells.values()):
        raise CourseError(f"{folder}: no cell of any notebook is worth points: nbgrader's metadata are missing.")
    return tuple(notebooks)


def _find_after_hidden(cells: Mapping[str, SourceCell]) -> frozenset[str]:
    found: set[str] = set()
    names: set[str] = set()
    for cell in cells.values():
        if cell.kind != "code" or not cell.locked:
            continue
        if cell.is_test and free_names(cell.released) & names:
            found.add(cell.grade_id)
        names |= bound_names(cell.source) - bound_names(cell.released)
    return frozenset(found)


def _read_cells(path: Path) -> dict[str, SourceCell]:
    try:
        notebook = read_notebook(path.read_bytes())
    except (NotebookError, OSError) as error:
        raise CourseError(f"{path}: {error}.") from None
    found: dict[str, SourceCell] = {}
    by_hand: set[str] = set()
    for cell in notebook.cells:
        try:
            known = _read_cell(cell)
            if known is None:
                continue
            if known.grade_id in found:
                raise SourceError(f"has the id `{known.grade_id}` of a cell above; ids must differ")
            if known.is_graded_by_hand and known.number in by_hand:
                raise SourceError(f"has the id `{known.grade_id}`, which differs from another one in signs only")
        except SourceError as error:
            raise CourseError(f"{path}: cell {cell.position} of all cells {error}.") from None
        found[known.grade_id] = known
        if known.is_graded_by_hand:
            by_hand.add(known.number)
    return found


def _read_cell(cell: Cell) -> SourceCell | None:
    """Return a cell that nbgrader knows; None for any other. Raises SourceError if it cannot be imported."""
    about = cell.metadata.get("nbgrader")
    if not isinstance(about, dict) or not any(about.get(flag) is True for flag in _FLAGS):
        if f"BEGIN {SOLUTION}" in cell.source or f"BEGIN {HIDDEN_TESTS}" in cell.source:
            raise SourceError("has regions of nbgrader, but none of its metadata; mark it in nbgrader")
        return None
    grade_id, version = about.get("grade_id"), about.get("schema_version")
    if version not in _SCHEMAS:
        raise SourceError(f"has nbgrader metadata of version {version!r:.20}; expected at most {OUR_SCHEMA}")
    if not isinstance(grade_id, str) or not grade_id:
        raise SourceError("has nbgrader metadata without a grade_id")
    grade, solution, task = (about.get(flag) is True for flag in ("grade", "solution", "task"))
    is_locked = not solution and (grade or about.get("locked") is True)
    points = _read_points(about.get("points")) if grade or task else Fraction(0)
    known = SourceCell(grade_id, cell.kind, cell.source, grade, solution, task, is_locked, points)
    try:
        _ = known.released
    except SourceError as error:
        raise SourceError(f"(`{grade_id}`): {error}") from None
    if known.is_test and has_autotest(cell.source):
        raise SourceError(
            f"(`{grade_id}`) has an {AUTOTEST}, which becomes tests when the solution runs; "
            "run `viva import nbgrader` with the source notebook"
        )
    return known


def _read_points(value: Any) -> Fraction:
    try:
        points = Fraction(str(value)) if type(value) in (int, float, str) else None  # nbgrader 0.3 wrote texts
    except (ValueError, ZeroDivisionError):
        points = None
    if points is None or not 0 <= points <= MAX_POINTS:
        raise SourceError(f"is worth {value!r:.40} points; expected a number from 0 on")
    return points

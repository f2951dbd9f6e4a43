"""Tell which cells of a starter fail although they need nothing that students are still to write."""

import ast
import contextlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Submission
from viva.submissions.code_names import NOT_PYTHON, StatementNames, statement_names
from viva.submissions.notebook_cells import NotebookError, read_notebook


@dataclass(frozen=True, slots=True)
class _Cell:
    """The statements of a cell."""

    statements: list[tuple[ast.stmt, StatementNames]]

    @property
    def uses(self) -> set[str]:
        return {name for _, names in self.statements for name in names.uses}

    @property
    def defines(self) -> set[str]:
        return {name for _, names in self.statements for name in names.binds | names.changes}


def unforeseen(notes: Sequence[str], starter: Submission, right: Submission) -> list[str]:
    """Return the notes on a starter that are not due to what students are still to write.

    A cell may fail if it uses what a right submission defines otherwise, such as a check of `x` below `x = None`, or
    the names of such a cell. Code that calls a function to be written raises NotImplementedError; in a module, what
    it was to define is missing below. A module may also call a function that it lacks and a right submission defines.

    Args:
        notes: what went wrong while the starter was loaded.
        starter: the starter.
        right: a right submission.
    """
    cells = _cells(starter)
    changed = _unwritten(cells.values(), _cells(right).values())
    grows = True
    while grows:
        added = {name for cell in cells.values() if cell.uses & changed for name in cell.defines} - changed
        changed |= added
        grows = bool(added)
    due = tuple(f"{WHILE_LOADING}{where}:" for where, cell in cells.items() if cell.uses & changed)
    unwritten = any("NotImplementedError" in note for note in notes)
    lacking = tuple(f"NameError: name '{name}' is" for name in _module_names(right) - _module_names(starter))
    return [
        note
        for note in notes
        if not (
            note.startswith(due)
            or "NotImplementedError" in note
            or (unwritten and "NameError" in note)
            or any(error in note for error in lacking)
        )
    ]


def _module_names(submission: Submission) -> set[str]:
    """Return the names that the modules of a submission define, without modules that cannot be read."""
    nodes: list[ast.stmt] = []
    for file in submission.files:
        if file.path.endswith(".py"):
            with contextlib.suppress(SyntaxError, ValueError):
                nodes += ast.parse(file.data).body
    return {name for names in statement_names(iter(nodes)) for name in names.binds}


def _cells(submission: Submission) -> dict[str, _Cell]:
    """Return the code cells of its notebooks, as notes name them; none of what cannot be read."""
    found: dict[str, ast.Module] = {}
    for file in submission.files:
        if file.path.endswith(".ipynb"):
            try:
                code = read_notebook(file.data).code
            except NotebookError:
                continue
            for cell in code:
                try:
                    found[f"cell {cell.number} of {file.path}"] = ast.parse(NOT_PYTHON.sub("", cell.source))
                except (SyntaxError, ValueError):
                    continue
    names = statement_names(node for tree in found.values() for node in tree.body)
    return {where: _Cell([(node, next(names)) for node in tree.body]) for where, tree in found.items()}


def _unwritten(starter: Iterable[_Cell], right: Iterable[_Cell]) -> set[str]:
    """Return the names that a right submission defines by other statements than the starter."""
    theirs, ours = _definitions(right), _definitions(starter)
    return {name for name in theirs if theirs[name] != ours.get(name)}


def _definitions(cells: Iterable[_Cell]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for statement, names in (pair for cell in cells for pair in cell.statements):
        for name in names.binds | names.changes:
            found[name].append(ast.dump(statement))
    return found

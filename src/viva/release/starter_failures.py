"""Tell which cells of a starter fail although they need nothing that students are still to write."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Submission
from viva.submissions.notebook_cells import NOT_PYTHON, NotebookError, read_notebook


def unforeseen(notes: Sequence[str], starter: Submission, right: Submission) -> list[str]:
    """Return the notes on a starter that are not due to what students are still to write.

    A cell may fail if it uses what a right submission defines otherwise, such as a check of `x` below `x = None`, or
    the names of such a cell. Code that calls a function to be written raises NotImplementedError; in a module, what
    it was to define is missing below.

    Args:
        notes: what went wrong while the starter was loaded.
        starter: the starter.
        right: a right submission.
    """
    cells, changed = _cells(starter), _unwritten(_cells(starter).values(), _cells(right).values())
    grows = True
    while grows:
        added = {name for tree in cells.values() if _used(tree) & changed for name in _bound(tree)} - changed
        changed |= added
        grows = bool(added)
    due = tuple(f"{WHILE_LOADING}{where}:" for where, tree in cells.items() if _used(tree) & changed)
    unwritten = any("NotImplementedError" in note for note in notes)
    return [
        note
        for note in notes
        if not (note.startswith(due) or "NotImplementedError" in note or (unwritten and "NameError" in note))
    ]


def _cells(submission: Submission) -> dict[str, ast.Module]:
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
    return found


def _unwritten(starter: Iterable[ast.Module], right: Iterable[ast.Module]) -> set[str]:
    """Return the names that a right submission defines by other statements than the starter."""
    theirs, ours = _definitions(right), _definitions(starter)
    return {name for name in theirs if theirs[name] != ours.get(name)}


def _definitions(cells: Iterable[ast.Module]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for statement in (node for tree in cells for node in tree.body):
        for name in set(_bound(statement)):
            found[name].append(ast.dump(statement))
    return found


def _bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code may bind in its module, also by changing what they name (`table[x] = y`)."""
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield tree.name
        return
    if isinstance(tree, ast.alias):
        yield (tree.asname or tree.name).partition(".")[0]
    elif isinstance(tree, ast.Name) and isinstance(tree.ctx, ast.Store):
        yield tree.id
    elif isinstance(tree, ast.Subscript | ast.Attribute) and isinstance(tree.ctx, ast.Store):
        yield from (part.id for part in ast.walk(tree.value) if isinstance(part, ast.Name))
    for child in ast.iter_child_nodes(tree):
        yield from _bound(child)


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}

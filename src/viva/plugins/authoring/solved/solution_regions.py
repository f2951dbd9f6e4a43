"""Markers around solutions that have none: functions' bodies, answers in words, and solution cells of nbgrader."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viva.plugins.authoring.solved.questions import Question, parsed
from viva.plugins.authoring.source.solution_markers import solution_lines
from viva.plugins.authoring.source.source_cells import ANSWER_HERE, Cell
from viva.submissions.code_names import Definition

BEGIN: Final = "### BEGIN SOLUTION"
END: Final = "### END SOLUTION"
_ON_THE_LINE: Final = "# SOLUTION"
_IN_WORDS: Final = "<!-- BEGIN SOLUTION -->\n{}\n<!-- END SOLUTION -->"
_STEP: Final = "    "


def with_markers(cells: Sequence[Cell], questions: Sequence[Question]) -> list[Cell]:
    """Return the cells with markers around what the questions ask for.

    These are the bodies of functions and of the methods of classes, the values of variables, and the author's answers
    in words.
    """
    names = frozenset(name for question in questions for name in question.names)
    answers = {text for question in questions if question.is_written for text in question.prose}
    found = []
    for cell in cells:
        if cell.kind == "markdown" and cell.source in answers:
            cell = replace(cell, source=_IN_WORDS.format(cell.source))
        found.append(_marked(cell, names) if cell.kind == "code" else cell)
    return found


def with_nbgrader_regions(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with markers in those that are a solution as a whole by the metadata of nbgrader."""
    return [
        cell
        if not (cell.nbgrader or {}).get("solution") or solution_lines(cell.source)
        else replace(cell, source=_IN_WORDS.format(cell.source))
        if cell.kind == "markdown"
        else _as_solution(cell)
        for cell in cells
    ]


def _as_solution(cell: Cell) -> Cell:
    """Return a code cell with markers around the bodies if it defines things, and around all of it if it does more."""
    tree = parsed(cell.source)
    body = tree.body if tree is not None else []
    names = frozenset(node.name for node in body if isinstance(node, Definition))
    if names and all(isinstance(node, Definition | ast.Import | ast.ImportFrom) for node in body):
        return _marked(cell, names)
    return replace(cell, source=f"{BEGIN}\n{cell.source}\n{END}")


def with_headings(cells: Sequence[Cell], questions: Sequence[Question]) -> list[Cell]:
    """Return the cells with a numbered line above each answer that a person grades and nbgrader knows by an id.

    Below a task of nbgrader, there is then a cell for the answer.
    """
    found = []
    by_cell = {question.cell.number: question for question in questions if question.cell is not None}
    for cell in cells:
        question = by_cell.get(cell.number)
        if question is None:
            found.append(cell)
            continue
        heading = f"**{question.number} {question.title}".rstrip() + "**\n\n"
        if (cell.nbgrader or {}).get("task"):
            found += [cell, Cell("markdown", heading + ANSWER_HERE, cell.number)]
        elif cell.kind == "code":
            found += [Cell("markdown", heading.strip(), cell.number), cell]
        else:
            found.append(replace(cell, source=heading + cell.source))
    return found


def _marked(cell: Cell, names: frozenset[str]) -> Cell:
    tree = parsed(cell.source)
    if tree is None:
        return cell
    lines = cell.source.split("\n")
    answers = list(_assignments(tree.body, names))
    for node in sorted([*_functions(tree.body, names), *answers], key=lambda node: node.lineno, reverse=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            on_line = [other for other in tree.body if other.lineno == node.lineno]
            if node is next(other for other in on_line if other in answers):
                last = max(other.end_lineno or other.lineno for other in on_line)
                lines[node.lineno - 1 : last] = [_as_line(other, is_answer=other in answers) for other in on_line]
            continue
        function = node
        body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
        if body:
            _mark(lines, function, body)
    return replace(cell, source="\n".join(lines))


def _as_line(node: ast.stmt, *, is_answer: bool) -> str:
    """Return a statement; with a marker if it assigns an answer, which takes one line then."""
    return f"{ast.unparse(node)}  {_ON_THE_LINE}" if is_answer else ast.unparse(node)


def _assignments(nodes: Sequence[ast.stmt], names: frozenset[str]) -> Iterator[ast.Assign | ast.AnnAssign]:
    """Yield the assignments to variables of these names."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id in names for target in targets):
                yield node


def _mark(lines: list[str], function: ast.FunctionDef | ast.AsyncFunctionDef, body: Sequence[ast.stmt]) -> None:
    """Put markers around a body; one on the line of its `def` gets lines of its own."""
    first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
    before = lines[first - 1].encode()[: body[0].col_offset].decode()
    if before.strip():
        header = lines[function.lineno - 1]
        indent = header[: len(header) - len(header.lstrip())] + _STEP
        lines[first - 1 : first] = [before.rstrip(), indent + lines[first - 1][len(before) :]]
        first, last = first + 1, last + 1
    else:
        indent = before
        first = min([first, *(decorator.lineno for decorator in getattr(body[0], "decorator_list", []))])
        while lines[first - 2].strip().startswith("#") or not lines[first - 2].strip():
            first -= 1
    lines[last:last] = [indent + END]
    lines[first - 1 : first - 1] = [indent + BEGIN]


def _functions(
    nodes: Sequence[ast.stmt], names: frozenset[str] | None
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of these names, and all methods of classes of these names; `names` None means all."""
    for node in nodes:
        if isinstance(node, Definition) and (names is None or node.name in names):
            if isinstance(node, ast.ClassDef):
                yield from _functions(node.body, None)
            else:
                yield node

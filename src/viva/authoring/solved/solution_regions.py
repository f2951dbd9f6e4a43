"""Markers around the solutions of a notebook that has none: each body, and each answer in words."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viva.authoring.solved.questions import Definition, Question, parsed
from viva.authoring.source.source_cells import Cell

BEGIN: Final = "### BEGIN SOLUTION"
END: Final = "### END SOLUTION"
_IN_WORDS: Final = "<!-- BEGIN SOLUTION -->\n{}\n<!-- END SOLUTION -->"
_STEP: Final = "    "


def with_markers(cells: Sequence[Cell], questions: Sequence[Question]) -> list[Cell]:
    """Return the cells with markers around what the questions ask for.

    These are the bodies of functions and of the methods of classes, and the author's answers in words.
    """
    names = frozenset(name for question in questions for name in (*question.functions, *question.classes))
    answers = {text for question in questions if question.is_written for text in question.prose}
    found = []
    for cell in cells:
        if cell.kind == "markdown" and cell.source in answers:
            cell = replace(cell, source=_IN_WORDS.format(cell.source))
        found.append(_marked(cell, names) if cell.kind == "code" else cell)
    return found


def _marked(cell: Cell, names: frozenset[str]) -> Cell:
    tree = parsed(cell.source)
    if tree is None:
        return cell
    lines = cell.source.split("\n")
    for function in sorted(_functions(tree.body, names), key=lambda node: node.lineno, reverse=True):
        body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
        if body:
            _mark(lines, function, body)
    return replace(cell, source="\n".join(lines))


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

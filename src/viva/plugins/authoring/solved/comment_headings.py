"""Questions of a solved module: comments such as `# ## 2.1 Softmax (5 points)` at the top level are its headings."""

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from viva.plugins.authoring.solved.questions import Question, parsed, points_in, questions_of
from viva.plugins.authoring.source.solution_markers import Unbalanced, stripped
from viva.plugins.authoring.source.source_cells import Cell

_COMMENT: Final = re.compile(r"#[ \t]?(?P<text>.*)")
_MARKER: Final = re.compile(r"#+\s*(BEGIN|END)\b", re.IGNORECASE)
_TEXT_CELL: Final = re.compile(r"#\s*%%")
"""Begins a cell where an editor shows a module as a notebook."""


def questions_in(cells: Sequence[Cell]) -> list[Question]:
    """Return the questions of a solved notebook or module, where a module is one cell of code.

    There is one for each function if no heading numbers them. A module asks no questions in words.
    """
    if any(cell.kind != "code" for cell in cells):
        return questions_of(cells)
    split = [part for cell in cells for part in _parts(cell)]
    return [question for question in questions_of(split) if not question.is_written]


def _parts(cell: Cell) -> Iterator[Cell]:
    """Yield the code of a module, and its headings with the comments below them as cells of text."""
    tree, lines = parsed(cell.source), cell.source.splitlines()
    inner = set[int]() if tree is None else {number for node in tree.body for number in _lines_of(node)}
    begin = 0
    for outside, group in itertools.groupby(range(len(lines)), lambda at: _is_comment(lines[at]) and at not in inner):
        block = list(group)
        text = _heading([lines[at] for at in block]) if outside else ""
        if text and _is_balanced(lines[begin : block[0]]):
            yield Cell("code", "\n".join(lines[begin : block[0]]), cell.number)
            yield Cell("markdown", text, cell.number)
            begin = block[-1] + 1
    yield Cell("code", "\n".join(lines[begin:]), cell.number)


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno - 1, node.end_lineno or node.lineno)


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not _MARKER.match(line)


def _heading(comments: list[str]) -> str:
    """Return the first heading in a block of comments, and the comments below it; a line with points is a heading."""
    texts = [_COMMENT.sub(r"\g<text>", line) for line in comments if not _TEXT_CELL.match(line)]
    below = list(itertools.dropwhile(lambda text: not (text.startswith("#") or points_in(text)), texts))
    if not below:
        return ""
    return "\n".join([below[0] if below[0].startswith("#") else f"## {below[0]}", "", *below[1:]])


def _is_balanced(lines: list[str]) -> bool:
    """Return whether no solution is open at the end."""
    try:
        stripped("\n".join(lines))
    except Unbalanced:
        return False
    return True

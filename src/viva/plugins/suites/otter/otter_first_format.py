"""Otter's first format of master notebooks: `BEGIN QUESTION` in a code block of a markdown cell, without an `END`.

A question consists of its markdown cell, one cell with the answer, and the cells of tests below it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from viva.plugins.suites.importing.student_notebook import Cell, read_cell_source

_BLOCK: Final = re.compile(
    r"^```[ \t]*\n[ \t]*BEGIN (ASSIGNMENT|QUESTION)[ \t]*\n(.*?)^```[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
_TEST: Final = re.compile(r"\s*(?:##\s*(hidden\s+)?test\s*##|#\s*(hidden\s+)?test\b)[^\n]*\n?", re.IGNORECASE)
_PROSE_SOLUTION: Final = re.compile(r"\s*(?:<strong>|\*\*)solution:?(?:</strong>|\*\*)[^\S\n]*\n?", re.IGNORECASE)
_EVERYWHERE: Final = "strip_solutions_from_all_cells: true\n"


def is_first_format(data: bytes) -> bool:
    """Return whether the bytes look like a notebook in this format."""
    return re.search(rb'```[ \t]*\\n(?:",\s*")?[ \t]*BEGIN (ASSIGNMENT|QUESTION)\b', data) is not None


def convert_first_format(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with raw cells at the edges of questions, as otter writes them today."""
    return [_raw(f"# ASSIGNMENT CONFIG\n{_EVERYWHERE}"), *_Converter().cells(cells)]


class _Converter:
    def __init__(self) -> None:
        self._in_question = self._is_answered = self._in_tests = False

    def cells(self, cells: Sequence[Cell]) -> Iterator[Cell]:
        for cell in cells:
            text = read_cell_source(cell)
            block = _BLOCK.search(text) if cell.get("cell_type") == "markdown" else None
            if block is not None:
                yield from self._block(cell, block)
            elif self._in_question and cell.get("cell_type") == "code" and _TEST.match(text):
                yield from self._test(cell, text)
            elif self._in_question and not self._is_answered:
                yield from self._answer(cell, text)
            else:
                yield from self._end()
                yield cell
        yield from self._end()

    def _block(self, cell: Cell, block: re.Match[str]) -> Iterator[Cell]:
        rest = {**cell, "source": (block.string[: block.start()] + block.string[block.end() :]).strip("\n")}
        if block[1] == "ASSIGNMENT":
            yield _raw(f"# ASSIGNMENT CONFIG\n{block[2]}")
        else:
            yield from self._end()
            self._in_question = True
            yield _raw(f"# BEGIN QUESTION\n{block[2]}")
        if rest["source"]:
            yield rest

    def _answer(self, cell: Cell, text: str) -> Iterator[Cell]:
        is_prose = cell.get("cell_type") == "markdown"
        found = _PROSE_SOLUTION.match(text) if is_prose else None
        if is_prose and found is None:
            yield cell  # the question's text goes on
            return
        self._is_answered = True
        yield from _block("SOLUTION", {**cell, "source": text[found.end() :]} if found is not None else cell)

    def _test(self, cell: Cell, text: str) -> Iterator[Cell]:
        mark = _TEST.match(text)
        assert mark is not None  # the caller has looked
        if not self._in_tests:
            self._in_tests = self._is_answered = True
            yield _raw("# BEGIN TESTS")
        hidden = "# HIDDEN\n" if mark[1] or mark[2] else ""
        yield {**cell, "source": hidden + text[mark.end() :]}

    def _end(self) -> Iterator[Cell]:
        if self._in_tests:
            yield _raw("# END TESTS")
        if self._in_question:
            yield _raw("# END QUESTION")
        self._in_question = self._is_answered = self._in_tests = False


def _block(kind: str, cell: Cell) -> list[Cell]:
    return [_raw(f"# BEGIN {kind}"), cell, _raw(f"# END {kind}")]


def _raw(text: str) -> Cell:
    return {"cell_type": "raw", "metadata": {}, "source": text}

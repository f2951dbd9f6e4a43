"""What can be saved of source that is no Python: its statements before and after those that are broken.

A file that was closed in the middle of its last function, or that holds a shell line or the marks of a merge, has
right answers in it; Python itself would run nothing of it.
"""

from __future__ import annotations

import ast
import re
from typing import List, Optional, Tuple

_NEWLINE = re.compile(r"\r\n|\r|\n")
_GOES_ON = re.compile(r"\s|[)\]}#]|$|(?:else|elif|except|finally)\b")
"""A line that begins so belongs to the statement before it."""
_MOST_PARTS = 25
"""A statement with lines that begin at the margin (a text in three quotes, a decorator) is put together of so many."""
_MOST_FAILURES = 5000


def parse(text: str, filename: str) -> Tuple[ast.Module, Optional[SyntaxError]]:
    """The syntax tree of what is Python in `text`, and what is wrong with the rest, if anything is.

    Raises:
        SyntaxError: no statement of it is Python.
        ValueError, RecursionError, MemoryError: it cannot be read at all, or is too deeply nested.
    """
    try:
        return ast.parse(text, filename), None
    except SyntaxError as error:
        body = _saved(_NEWLINE.split(text), filename)
        if not body:
            raise
        return ast.Module(body, []), error


def _saved(lines: List[str], filename: str) -> List[ast.stmt]:
    starts = [number for number, line in enumerate(lines) if not _GOES_ON.match(line)]
    edges = [*starts, len(lines)]
    saved: List[ast.stmt] = []
    at = failures = 0
    while at < len(starts) and failures < _MOST_FAILURES:
        for end in range(at + 1, min(at + _MOST_PARTS, len(starts)) + 1):
            body = _parsed(lines[edges[at] : edges[end]], edges[at], filename)
            if body is not None:
                saved += body
                at = end
                break
            failures += 1
        else:
            at += 1
    return saved


def _parsed(lines: List[str], above: int, filename: str) -> Optional[List[ast.stmt]]:
    """The statements of some lines, which say where they stand in the file."""
    try:
        tree = ast.parse("\n".join(lines) + "\n", filename)
    except (SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, above)
    return tree.body

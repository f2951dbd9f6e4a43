"""Recover the valid statements of source that is not Python: those before and after the broken ones.

A file that ends in the middle of its last function, or that contains a shell line or merge conflict markers, still has
right answers in it; Python itself would run none of it.
"""

from __future__ import annotations

import ast
import re
from typing import List, Optional, Tuple

_NEWLINE = re.compile(r"\r\n|\r|\n")
_CONTINUATION = re.compile(r"\s|[)\]}#]|$|(?:else|elif|except|finally)\b")
"""A line that begins like this belongs to the statement before it."""
_MOST_PARTS = 25
"""The most parts of one statement: a triple-quoted text or a decorator makes lines that begin at the margin."""
_MOST_FAILURES = 5000


def parse(text: str, filename: str) -> Tuple[ast.Module, Optional[SyntaxError]]:
    """Return the syntax tree of the valid part of `text`, and the error of the rest, if there is one.

    Raises:
        SyntaxError: No statement is valid Python.
        ValueError, RecursionError, MemoryError: The text cannot be read at all, or is too deeply nested.
    """
    try:
        return ast.parse(text, filename), None
    except SyntaxError as error:
        body = _recovered(_NEWLINE.split(text), filename)
        if not body:
            raise
        return ast.Module(body, []), error


def _recovered(lines: List[str], filename: str) -> List[ast.stmt]:
    starts = [number for number, line in enumerate(lines) if not _CONTINUATION.match(line)]
    edges = [*starts, len(lines)]
    recovered: List[ast.stmt] = []
    at = failures = 0
    while at < len(starts) and failures < _MOST_FAILURES:
        for end in range(at + 1, min(at + _MOST_PARTS, len(starts)) + 1):
            body = _parsed(lines[edges[at] : edges[end]], edges[at], filename)
            if body is not None:
                recovered += body
                at = end
                break
            failures += 1
        else:
            at += 1
    return recovered


def _parsed(lines: List[str], lines_above: int, filename: str) -> Optional[List[ast.stmt]]:
    """Parse some lines, and number the statements as in the whole file; return None if they are not Python."""
    try:
        tree = ast.parse("\n".join(lines) + "\n", filename)
    except (SyntaxError, ValueError):
        return None
    ast.increment_lineno(tree, lines_above)
    return tree.body

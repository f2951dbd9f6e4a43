"""Which statements of the answer key the tests reach: what no test asks for, no wrong answer can fail.

It traces the key's functions and what they call in the course's own files, in one grading. A statement that is reached
may still not matter; whether it does, mutants show.
"""

import ast
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

_NOT_ASKED: Final = (ast.Raise, ast.Assert, ast.Pass)
"""Statements that refuse what the question does not allow."""
_LAMBDA: Final = "<"
"""How the names of lambdas and comprehensions begin."""


class KeyLines:
    """Collects the executed lines of the functions of some files."""

    def __init__(self, *paths: Path) -> None:
        """Take the files and folders that are the key."""
        self._paths = tuple(str(path) for path in paths)
        self._executed: dict[CodeType, set[int]] = {}

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Trace what runs within the block."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    def unreached(self) -> list[str]:
        """Return each statement that no test reached, of the functions that were called: file:line and source."""
        found = {}
        for code, lines in self._executed.items():
            for statement in _statements(code):
                first = statement.lineno
                if lines.isdisjoint(range(first, _last_line(statement) + 1)):
                    found[code.co_filename, first] = linecache.getline(code.co_filename, first).strip()
        return [f"{file}:{line}: {source}" for (file, line), source in sorted(found.items())]

    def _call(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(self._paths) or code.co_name.startswith(_LAMBDA):
            return None
        lines = self._executed.setdefault(code, set())

        def line(frame: FrameType, event: str, _arg: Any) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            return line

        return line


def _statements(code: CodeType) -> Iterator[ast.stmt]:
    """Yield the statements of a function, without those of functions within it."""
    for node in ast.walk(_tree(code.co_filename)):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name and _first_line(node) == code.co_firstlineno:
            yield from _below(node.body)


def _below(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not isinstance(statement, _NOT_ASKED):
            yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from _below(getattr(statement, name, []))
        for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from _below(part.body)


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _last_line(statement: ast.stmt) -> int:
    """Return the last line of a statement, of a compound one that of its head."""
    body = getattr(statement, "body", None)
    return (
        body[0].lineno - 1 if body and body[0].lineno > statement.lineno else statement.end_lineno or statement.lineno
    )


@lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text("utf-8"))

"""Run a student's source so that a statement that raises does not cost the statements after it."""

from __future__ import annotations
import __future__

import ast
import functools
import itertools
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import definitions
from .alarm import SoftTimeout, time_is_up, within
from .raised import Raised, describe, traceback_of

Namespace = Dict[str, Any]
_MOST_PROBLEMS = 50
_compile = compile


class Ran(NamedTuple):
    """How running went."""

    problems: List[Raised]
    """What raised, each with the `line` of this source where it did; at most 50."""
    skipped: List[str]
    """What was not run on purpose, in words."""


class Source:
    """One file, or one cell of a notebook, parsed."""

    def __init__(self, text: str, filename: str) -> None:
        """Parse.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: it is no Python, or too deeply nested.
        """
        self.text, self._filename = text, filename
        self.tree: ast.Module = ast.parse(text, filename)
        self._flags = _future_flags(self.tree)

    def run(self, namespace: Namespace, *, only_definitions: bool = False) -> Ran:
        """Run the statements in order; never raises. Stops when the time limit around it has passed."""
        return self._definitions(namespace) if only_definitions else Ran(self._everything(namespace), [])

    def _everything(self, namespace: Namespace) -> List[Raised]:
        problems: List[Raised] = []
        rest = list(self.tree.body)
        while rest and len(problems) < _MOST_PROBLEMS:
            try:
                self._execute(rest, namespace)
                break
            except BaseException as error:
                failed = self._failed(rest, error)
                problems.append({**describe(error), "line": _place(error, self._filename)[0] or rest[failed].lineno})
                if isinstance(error, SoftTimeout) or time_is_up():
                    break
                rest = rest[failed + 1 :]
        return problems

    def _definitions(self, namespace: Namespace) -> Ran:
        problems: List[Raised] = []
        skipped: List[str] = []
        for node in self.tree.body:
            kind = definitions.kind_of(node)
            where = f"line {node.lineno}: {definitions.first_words(node, self.text)}"
            if kind == definitions.SKIP or time_is_up():
                skipped.append(where)
                continue
            quick = kind == definitions.QUICK
            try:
                run = functools.partial(self._execute, [node], namespace)
                within(definitions.QUICK_S if quick else None, run)
            except BaseException as error:
                raised = describe(error)
                if quick and isinstance(error, SoftTimeout):
                    skipped.append(f"{where} (took longer than {definitions.QUICK_S:g} s)")
                elif quick:
                    skipped.append(f"{where} ({raised['type']}: {raised['message'][:100]})")
                else:
                    problems.append({**raised, "line": node.lineno})
        return Ran(problems[:_MOST_PROBLEMS], skipped)

    def _execute(self, body: List[ast.stmt], namespace: Namespace) -> None:
        code = _compile(ast.Module(body, []), self._filename, "exec", self._flags, dont_inherit=True)
        exec(code, namespace)

    def _failed(self, body: List[ast.stmt], error: BaseException) -> int:
        """Which top-level statement raised: the one that holds this file's outermost place in the traceback."""
        line, column = _place(error, self._filename)
        if line is None:
            return 0
        holding = [
            index for index, node in enumerate(body) if _first_line(node) <= line <= (node.end_lineno or node.lineno)
        ]
        for index in holding:
            node = body[index]
            if column is not None and line == node.end_lineno and column < (node.end_col_offset or 0):
                return index
        return holding[-1] if holding else len(body) - 1


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(decorator.lineno) for decorator in decorators)])


def _place(error: BaseException, filename: str) -> Tuple[Optional[int], Optional[int]]:
    """Line and column of the outermost frame of this file; no column before Python 3.11."""
    trace = traceback_of(error)
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename:
            positions = getattr(code, "co_positions", None)
            places = itertools.islice(positions(), trace.tb_lasti // 2, None) if positions else iter(())
            return trace.tb_lineno, next(places, (None, None, None, None))[2]
        trace = trace.tb_next
    return (error.lineno, None) if isinstance(error, SyntaxError) and error.filename == filename else (None, None)


def _future_flags(tree: ast.Module) -> int:
    """`from __future__ import annotations` holds for every statement, also when they are compiled one by one."""
    flags: int = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature: Any = getattr(__future__, alias.name, None)
                flags |= int(feature.compiler_flag) if feature is not None else 0
    return flags

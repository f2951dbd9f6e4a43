"""Run a student's source: if a statement raises, hangs or is broken, the statements after it still run."""

from __future__ import annotations
import __future__

import ast
import functools
import itertools
import sys
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple

from ..process.alarm import SoftTimeout, now, time_is_up, within
from ..values.raised import Raised, describe, traceback_of
from . import definitions, recovery

if TYPE_CHECKING:
    import types

Namespace = Dict[str, object]
_MOST_PROBLEMS = 50
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TEXT_ANNOTATIONS = __future__.annotations.compiler_flag
_compile, _settrace = compile, sys.settrace


class Ran(NamedTuple):
    """The result of running a source."""

    problems: List[Raised]
    """The errors, at most 50, each with the `line` of this source that raised it."""
    skipped: List[str]
    """What was deliberately skipped, as phrases."""


class Source:
    """One file, or one cell of a notebook, parsed."""

    def __init__(self, text: str, filename: str) -> None:
        """Parse the source; invalid parts are left out, and reported when the rest runs.

        Args:
            text: the source.
            filename: its name in tracebacks.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: No statement is valid, or the nesting is too deep.
        """
        self.text, self._filename = text, filename
        self.tree, self._broken = recovery.parse(text, filename)
        self._flags = future_flags(self.tree)

    def run(self, namespace: Namespace, *, only_definitions: bool = False, limit_s: Optional[float] = None) -> Ran:
        """Run the statements in order without ever raising; stop when the time limit around it has passed.

        Args:
            namespace: the globals in which they run.
            only_definitions: skip what does work instead of defining names (definitions.py).
            limit_s: counted seconds for all statements together; after them, only definitions are run.
        """
        broken = self.broken()
        if only_definitions:
            ran = self._definitions(self.statements(), namespace)
        else:
            ran = Ran(self._run_all(self.statements(), namespace, limit_s), [])
        return Ran((broken + ran.problems)[:_MOST_PROBLEMS], ran.skipped)

    def statements(self) -> List[ast.stmt]:
        """Return the statements as they are run, one by one where one fails."""
        return _with_split_imports(self.tree.body)

    def run_statement(
        self, node: ast.stmt, namespace: Namespace, *, only_definitions: bool, limit_s: Optional[float]
    ) -> Ran:
        """Run one of the statements of a source that is not run as a whole; the arguments are those of `run`."""
        if only_definitions:
            return self._definitions([node], namespace)
        return Ran(self._run_all([node], namespace, limit_s), [])

    def broken(self) -> List[Raised]:
        """Return the error of the parts that are not Python and were left out, if there are any."""
        return [] if self._broken is None else [{**describe(self._broken), "line": self._broken.lineno}]

    def define_the_rest(self, namespace: Namespace, error: BaseException) -> None:
        """Run the definitions after the statement that raised `error` when this source was run as a whole."""
        body = self.statements()
        if self._broken is None and not (isinstance(error, SyntaxError) and _place(error, self._filename)[0] is None):
            failed = self._failed(body, error)
            body = body[failed if isinstance(body[failed], _DEFINITIONS) else failed + 1 :] if body else []
        self._definitions(body, namespace)

    def _run_all(self, rest: List[ast.stmt], namespace: Namespace, limit_s: Optional[float]) -> List[Raised]:
        problems: List[Raised] = []
        until = None if limit_s is None else now() + limit_s
        while rest and len(problems) < _MOST_PROBLEMS:
            code = None
            try:
                code = self._compiled(rest)
                within(None if until is None else until - now(), functools.partial(exec, code, namespace))
                break
            except BaseException as error:
                _settrace(None)  # a debugger without a terminal would raise again in every statement
                failed = self._failed(rest, error)
                node, before = rest[failed], rest[:failed] if code is None else []
                rest = before + rest[failed + 1 :]
                if isinstance(error, SoftTimeout) or time_is_up():
                    problems.append(self._described(error, node))
                    if not time_is_up():
                        problems += self._definitions(rest, namespace).problems
                    break
                if code is None or not self._defined_without_hints(node, namespace):
                    problems.append(self._described(error, node))
        return problems

    def _described(self, error: BaseException, node: ast.stmt) -> Raised:
        return {**describe(error), "line": _place(error, self._filename)[0] or node.lineno}

    def _definitions(self, body: List[ast.stmt], namespace: Namespace) -> Ran:
        problems: List[Raised] = []
        skipped: List[str] = []
        for node in body:
            kind = definitions.kind_of(node)
            if kind == definitions.SKIP or time_is_up():
                skipped.append(self._line_of(node))
                continue
            quick = kind == definitions.QUICK
            try:
                run = functools.partial(self._execute, [node], namespace)
                within(definitions.QUICK_S if quick else None, run)
            except BaseException as error:
                _settrace(None)
                if self._defined_without_hints(node, namespace):
                    continue
                raised = describe(error)
                if quick and isinstance(error, SoftTimeout):
                    skipped.append(f"{self._line_of(node)} (took longer than {definitions.QUICK_S:g} s)")
                elif quick:
                    skipped.append(f"{self._line_of(node)} ({raised['type']}: {raised['message'][:100]})")
                else:
                    problems.append({**raised, "line": node.lineno})
        return Ran(problems[:_MOST_PROBLEMS], skipped)

    def _line_of(self, node: ast.stmt) -> str:
        return f"line {node.lineno}: {definitions.first_words(node, self.text)}"

    def _defined_without_hints(self, node: ast.stmt, namespace: Namespace) -> bool:
        """Run a definition without its type hints, which may name what is not installed; return whether that worked."""
        if not isinstance(node, _DEFINITIONS) or time_is_up():
            return False
        try:
            exec(self._compiled([node], _TEXT_ANNOTATIONS), namespace)
        except BaseException:
            return False
        return True

    def _compiled(self, body: List[ast.stmt], flags: int = 0) -> types.CodeType:
        made: types.CodeType = _compile(
            ast.Module(body, []), self._filename, "exec", self._flags | flags, dont_inherit=True
        )
        return made

    def _execute(self, body: List[ast.stmt], namespace: Namespace) -> None:
        exec(self._compiled(body), namespace)

    def _failed(self, body: List[ast.stmt], error: BaseException) -> int:
        """Return the index of the statement that raised: the one with this file's outermost line in the traceback."""
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


def _with_split_imports(body: List[ast.stmt]) -> List[ast.stmt]:
    """Split `import a, b`, so that `b` is imported even if `a` is not installed (from Python 3.10 on)."""
    found: List[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Import) and all(hasattr(alias, "lineno") for alias in node.names):
            found += [ast.copy_location(ast.Import([alias]), alias) for alias in node.names]
        else:
            found.append(node)
    return found


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(int(decorator.lineno) for decorator in decorators)])


def _place(error: BaseException, filename: str) -> Tuple[Optional[int], Optional[int]]:
    """Return line and column of the outermost frame of this file; no column before Python 3.11."""
    trace = traceback_of(error)
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename:
            positions = getattr(code, "co_positions", None)
            places = itertools.islice(positions(), trace.tb_lasti // 2, None) if positions else iter(())
            return trace.tb_lineno, next(places, (None, None, None, None))[2]
        trace = trace.tb_next
    return (error.lineno, None) if isinstance(error, SyntaxError) and error.filename == filename else (None, None)


def future_flags(tree: ast.Module) -> int:
    """Return the compiler flags of `from __future__ import …`, for statements that are compiled one by one."""
    flags: int = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and is_future_import(node):
            for alias in node.names:
                feature: Any = getattr(__future__, alias.name, None)
                flags |= int(feature.compiler_flag) if feature is not None else 0
    return flags


def is_future_import(node: ast.stmt) -> bool:
    """Return whether the statement is `from __future__ import …`."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"

"""Run a student's source so that a statement that raises, hangs or is broken does not cost the statements after it."""

from __future__ import annotations
import __future__

import ast
import functools
import itertools
import re
import sys
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..process.alarm import SoftTimeout, time_is_up, within
from ..values.raised import Raised, describe, traceback_of
from . import definitions, recovery

Namespace = Dict[str, Any]
_MOST_PROBLEMS = 50
_SEVERAL_IMPORTS = re.compile(r"(?:^|;)[ \t]*import[ \t][^\n;#]*,", re.MULTILINE)
"""`import a, b`, which is made two statements."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HINTS_ARE_TEXTS = __future__.annotations.compiler_flag
_compile, _monotonic, _settrace = compile, time.monotonic, sys.settrace


class Ran(NamedTuple):
    """How running went."""

    problems: List[Raised]
    """What raised, each with the `line` of this source where it did; at most 50."""
    skipped: List[str]
    """What was not run on purpose, in words."""


class Source:
    """One file, or one cell of a notebook, parsed."""

    def __init__(self, text: str, filename: str, *, only_to_run: bool = False) -> None:
        """Parse; what is no Python in it is left out, and reported when the rest runs.

        Args:
            text: the source.
            filename: what tracebacks call it.
            only_to_run: all of it is run, and nothing else asked: it is parsed once more when a statement fails.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: no statement of it is Python, or too deeply nested.
        """
        self.text, self._filename = text, filename
        self._broken: Optional[SyntaxError] = None
        self._whole = _whole(text, filename) if only_to_run else None
        if self._whole is None:
            self._parse()

    def _parse(self) -> None:
        self.tree, self._broken = recovery.parse(self.text, self._filename)
        self._flags = future_flags(self.tree)

    def run(self, namespace: Namespace, *, only_definitions: bool = False, limit_s: Optional[float] = None) -> Ran:
        """Run the statements in order; never raises. Stops when the time limit around it has passed.

        Args:
            namespace: where they run.
            only_definitions: leave out what works instead of defining (definitions.py).
            limit_s: wall seconds for all statements together; of what comes after them only the definitions are run.
        """
        broken: List[Raised] = [] if self._broken is None else [{**describe(self._broken), "line": self._broken.lineno}]
        if only_definitions:
            ran = self._definitions(_with_an_import_each(self.tree.body), namespace)
        else:
            ran = Ran(self._everything(namespace, limit_s), [])
        return Ran((broken + ran.problems)[:_MOST_PROBLEMS], ran.skipped)

    def define_the_rest(self, namespace: Namespace, error: BaseException) -> None:
        """Run the definitions that come after the place where running this source as a whole has failed."""
        body = _with_an_import_each(self.tree.body)
        if self._broken is None and not (isinstance(error, SyntaxError) and _place(error, self._filename)[0] is None):
            failed = self._failed(body, error)
            body = body[failed if isinstance(body[failed], _DEFINITIONS) else failed + 1 :] if body else []
        self._definitions(body, namespace)

    def _everything(self, namespace: Namespace, limit_s: Optional[float]) -> List[Raised]:
        problems: List[Raised] = []
        code = self._whole
        rest = [] if code else _with_an_import_each(self.tree.body)
        until = None if limit_s is None else _monotonic() + limit_s
        while (code or rest) and len(problems) < _MOST_PROBLEMS:
            try:
                code = code or self._compiled(rest)
                within(None if until is None else until - _monotonic(), functools.partial(exec, code, namespace))
                break
            except BaseException as error:
                _settrace(None)  # a debugger that found nobody to talk to would raise again in every statement
                if self._whole is not None and not (rest := self._parsed_late()):
                    return [{**describe(error), "line": _place(error, self._filename)[0] or 1}]
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
                code = None
        return problems

    def _parsed_late(self) -> List[ast.stmt]:
        """The statements of what was compiled as a whole; none where the tree would be nested too deeply."""
        self._whole = None
        try:
            self._parse()
        except (RecursionError, MemoryError):
            return []
        return _with_an_import_each(self.tree.body)

    def _described(self, error: BaseException, node: ast.stmt) -> Raised:
        return {**describe(error), "line": _place(error, self._filename)[0] or node.lineno}

    def _definitions(self, body: List[ast.stmt], namespace: Namespace) -> Ran:
        problems: List[Raised] = []
        skipped: List[str] = []
        for node in body:
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
                _settrace(None)
                if self._defined_without_hints(node, namespace):
                    continue
                raised = describe(error)
                if quick and isinstance(error, SoftTimeout):
                    skipped.append(f"{where} (took longer than {definitions.QUICK_S:g} s)")
                elif quick:
                    skipped.append(f"{where} ({raised['type']}: {raised['message'][:100]})")
                else:
                    problems.append({**raised, "line": node.lineno})
        return Ran(problems[:_MOST_PROBLEMS], skipped)

    def _defined_without_hints(self, node: ast.stmt, namespace: Namespace) -> bool:
        """Whether a definition works when its type hints are not looked up: they may name what is not installed."""
        if not isinstance(node, _DEFINITIONS) or time_is_up():
            return False
        try:
            exec(self._compiled([node], _HINTS_ARE_TEXTS), namespace)
        except BaseException:
            return False
        return True

    def _compiled(self, body: List[ast.stmt], flags: int = 0) -> Any:
        return _compile(ast.Module(body, []), self._filename, "exec", self._flags | flags, dont_inherit=True)

    def _execute(self, body: List[ast.stmt], namespace: Namespace) -> None:
        exec(self._compiled(body), namespace)

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


def _whole(text: str, filename: str) -> Any:
    """The code of all statements together, without a syntax tree made of objects; None where one is needed."""
    if _SEVERAL_IMPORTS.search(text):
        return None
    try:
        return _compile(text, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _with_an_import_each(body: List[ast.stmt]) -> List[ast.stmt]:
    """`import a, b` as two statements, so that `b` is there when `a` is not installed (from Python 3.10 on)."""
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


def future_flags(tree: ast.Module) -> int:
    """`from __future__ import annotations` holds for every statement, also when they are compiled one by one."""
    flags: int = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                feature: Any = getattr(__future__, alias.name, None)
                flags |= int(feature.compiler_flag) if feature is not None else 0
    return flags

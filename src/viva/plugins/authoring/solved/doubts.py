"""Doubts about a solution: what its author has to decide before anything is graded by it."""

import ast
import contextlib
import doctest
import inspect
import io
import re
import textwrap
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any, Final

from viva.compare.agree import difference
from viva.compare.context import Context
from viva.plugins.authoring.solved.recorded_run import CELL, Recorded, source_of
from viva.plugins.authoring.solved.solution_code import tree_of
from viva.plugins.authoring.solved.trial import TooSlow, within

_SCALAR: Final = re.compile(r"\bnp\.\w+\(([^()]*)\)")
"""How numpy 2 shows a number."""
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?", re.IGNORECASE)
_CLOSE: Final = Context.of(1e-3, 1e-3, ())
_NOT_ITS_FAULT: Final = (NameError, ImportError, OSError, SyntaxError)
"""Exceptions of an example that is not complete; they contradict nothing."""
_LONGEST: Final = 80
_EXAMPLES_S: Final = 10.0
"""How long the examples of one docstring may take."""


def doubt_about(name: str, recorded: Recorded) -> str:
    """Return why nothing is graded by a function or class of the solution yet; empty if nothing speaks against it.

    Args:
        name: the function's or the class's.
        recorded: the run of the notebook.
    """
    return _variable_in_place_of_argument(name, recorded) or _contradicted_example(name, recorded)


def unused_argument(name: str, function: Callable[..., Any]) -> list[str]:
    """Return a sentence if a function never reads one of its arguments."""
    tree = tree_of(function)
    nodes = list(ast.walk(tree))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    read |= {ast.unparse(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    if not tree.body or "locals" in read:
        return []
    unused = [p for p in inspect.signature(function).parameters if p not in read and not p.startswith("_")]
    return [f"`{name}` never uses its argument `{unused[0]}`."] if unused else []


def _variable_in_place_of_argument(name: str, recorded: Recorded) -> str:
    for called, (function, variable, parameter) in recorded.read_and_passed.items():
        if called == name or called.startswith(f"{name}."):
            what = "it" if called == name else f"`{called.rpartition('.')[2]}`"
            where = _where(function, rf"\b{re.escape(variable)}\b")
            return (
                f"{what} reads the variable `{variable}`{where}, which the notebook passes as its argument "
                f"`{parameter}`; an answer that uses the argument would lose points"
            )
    return ""


def _contradicted_example(name: str, recorded: Recorded) -> str:
    """Return which example in the docstring a function contradicts; one that only looks otherwise is none."""
    function = recorded.originals[name]
    runner = _Examples()
    recorded.is_running = True  # the examples are calls of the notebook, too
    try:
        tests = doctest.DocTestFinder(recurse=False).find(function, name, globs=dict(recorded.namespace), module=False)
        with redirect_stdout(io.StringIO()), within(_EXAMPLES_S):
            for test in tests:
                runner.run(test, out=lambda _: None)
    except (Exception, TooSlow):
        return ""
    finally:
        recorded.is_running = False
    if runner.failed is None:
        return ""
    example, found = runner.failed
    call = example.source.strip()
    where = _where(function, re.escape(call.partition("\n")[0]))
    return f"it contradicts an example in its docstring{where}: `{_short(call)}` {_short(found)}"


class _Examples(doctest.DocTestRunner):
    """Runs the examples of docstrings, and keeps the first that gives another value."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        self.failed: tuple[doctest.Example, str] | None = None

    def report_failure(self, _out: object, _test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        """Note an example that printed something else."""
        if self.failed is None and not _are_equal(got, example.want):
            self.failed = example, f"gives {got.strip() or 'nothing'}, and not {example.want.strip() or 'nothing'}"

    def report_unexpected_exception(
        self, _out: object, _test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """Note an example that raised an exception."""
        if isinstance(exc_info[1], TooSlow):
            raise exc_info[1]
        if self.failed is None and not isinstance(exc_info[1], _NOT_ITS_FAULT):
            self.failed = example, f"raises {type(exc_info[1]).__name__}: {exc_info[1]}"


def _are_equal(got: str, want: str) -> bool:
    """Return whether two printed values are the same, however they are printed."""
    texts = [" ".join(_SCALAR.sub(r"\1", text).split()) for text in (got, want)]
    if texts[0] == texts[1]:
        return True
    with contextlib.suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        values = [ast.literal_eval(text) for text in texts]
        return difference(values[0], values[1], _CLOSE) is None
    if any("<" in text for text in texts):
        return True  # an object that is shown with its address
    got_numbers, wanted_numbers = ([float(number) for number in _NUMBER.findall(text)] for text in texts)
    return bool(got_numbers) and difference(got_numbers, wanted_numbers, _CLOSE) is None


def _where(function: Any, pattern: str) -> str:
    """Return the place in the notebook where the code of a function first holds a text; empty for a class."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return ""
    lines = source_of(function).splitlines()
    at = next((number for number, line in enumerate(lines) if re.search(pattern, line)), 0)
    cell = code.co_filename.removeprefix(CELL).rstrip(">")
    return f" (cell {cell}, line {code.co_firstlineno + at})"


def _short(text: str) -> str:
    return textwrap.shorten(text, _LONGEST, placeholder=" …")

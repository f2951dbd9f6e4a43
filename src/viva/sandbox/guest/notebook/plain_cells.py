"""Run cells where IPython is not installed: its lines are left out, and the last expression is shown by its `repr`."""

from __future__ import annotations

import ast
import re
import types
from typing import List, Tuple

from ..loading import sources
from ..loading.statements import future_flags, is_future_import
from ..values.raised import Raised
from .cell_outputs import Outputs, Streams

_SHELL_LINE = re.compile(r"^([ \t]*)(?:[%!].*|\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t]*$", re.M)
_CELL_MAGIC = re.compile(r"\A\s*%%(\w+)")
_PYTHON_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
"""Cell magics that contain ordinary Python."""
_compile, _eval = compile, eval


def without_magics(text: str) -> Tuple[str, List[str]]:
    """Return the Python of a cell with unchanged line numbers, and the lines that only IPython understands."""
    cell_magic = _CELL_MAGIC.match(text)
    if cell_magic and cell_magic.group(1) not in _PYTHON_MAGICS:
        return "", [f"the cell %%{cell_magic.group(1)}"]
    left_out: List[str] = []

    def leave_out(found: re.Match[str]) -> str:
        left_out.append(found.group(0).strip())
        return f"{found.group(1)}pass"

    return _SHELL_LINE.sub(leave_out, text), left_out


class PlainCells:
    """Runs cells in a module's namespace; has the same interface as `ipython_shell.Shell`."""

    def __init__(self, module: types.ModuleType, outputs: Outputs) -> None:
        self._namespace, self._outputs = vars(module), outputs
        self._flags = 0

    def run(self, number: int, text: str) -> None:
        """Run a cell.

        Raises:
            BaseException: The cell raised it; after a SyntaxError nothing of the cell has run.
        """
        filename = sources.remember_cell(number, text)
        python, left_out = without_magics(text)
        if left_out:
            lines = "; ".join(left_out)[:500]
            self._outputs.stream("stderr", f"IPython is not installed here, so these lines were left out: {lines}\n")
        tree = ast.parse(python, filename)
        self._flags |= future_flags(tree)
        tree.body.sort(key=lambda node: not is_future_import(node))  # in a cell, they may come after other statements
        self._namespace.pop("__warningregistry__", None)  # each cell warns again, as in IPython
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with Streams(self._outputs):
            exec(_compile(tree, filename, "exec", self._flags, dont_inherit=True), self._namespace)
            if isinstance(last, ast.Expr):
                expression = _compile(ast.Expression(last.value), filename, "eval", self._flags, dont_inherit=True)
                value = _eval(expression, self._namespace)
                if value is not None and not _ends_with_semicolon(last, python):
                    self._outputs.result({"text/plain": repr(value)}, {}, number)

    def show_error(self, _error: BaseException, raised: Raised) -> None:
        """Add what `run` has raised to the outputs."""
        self._outputs.error(raised)


def _ends_with_semicolon(last: ast.Expr, text: str) -> bool:
    """Return whether a semicolon follows the last expression, which suppresses its display."""
    line = sources.lines_of(text)[(last.end_lineno or 1) - 1].encode("utf-8", "surrogatepass")
    return line[last.end_col_offset :].strip().startswith(b";")

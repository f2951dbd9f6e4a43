"""Cells that are ordinary Python, run without IPython: the last expression is displayed as a notebook displays it."""

from __future__ import annotations

import ast
import re
import sys
import types
from typing import Any, Callable, Dict, List, Tuple

from . import sources
from .outputs import Outputs, Streams

_SHELL_LINE = re.compile(r"^([ \t]*)(?:[%!].*|\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t]*$", re.M)
_CELL_MAGIC = re.compile(r"\A\s*%%(\w+)")
_PYTHON_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
"""Cell magics around ordinary Python."""
_RICH = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_svg_": "image/svg+xml",
}
_compile, _eval = compile, eval


def without_magics(text: str) -> Tuple[str, List[str]]:
    """The Python of a cell with every line kept in its place, and the lines that only IPython understands."""
    cell_magic = _CELL_MAGIC.match(text)
    if cell_magic and cell_magic.group(1) not in _PYTHON_MAGICS:
        return "", [f"the cell %%{cell_magic.group(1)}"]
    left_out: List[str] = []

    def leave_out(found: re.Match[str]) -> str:
        left_out.append(found.group(0).strip())
        return f"{found.group(1)}pass"

    return _SHELL_LINE.sub(leave_out, text), left_out


class PlainCells:
    """Runs cells in a module's namespace; the same face as shell.Shell."""

    def __init__(self, module: types.ModuleType, outputs: Outputs) -> None:
        self._namespace, self._outputs = vars(module), outputs

    def run(self, number: int, text: str) -> None:
        """Run a cell.

        Raises:
            BaseException: what the cell raises; a SyntaxError costs the whole cell.
        """
        filename = sources.remember_cell(number, text)
        text, left_out = without_magics(text)
        if left_out:
            words = "; ".join(left_out)[:500]
            self._outputs.stream("stderr", f"IPython is not installed here, so these lines were left out: {words}\n")
        tree = ast.parse(text, filename)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with Streams(self._outputs):
            exec(_compile(tree, filename, "exec", dont_inherit=True), self._namespace)
            if isinstance(last, ast.Expr):
                value = _eval(
                    _compile(ast.Expression(last.value), filename, "eval", dont_inherit=True), self._namespace
                )
                if value is not None and not _is_kept_quiet(last, text):
                    self._outputs.result(_data(value), {}, number)


def _is_kept_quiet(last: ast.Expr, text: str) -> bool:
    """Whether a semicolon follows the last expression."""
    line = text.splitlines()[(last.end_lineno or 1) - 1].encode("utf-8", "surrogatepass")
    return line[last.end_col_offset :].strip().startswith(b";")


def _data(value: Any) -> Dict[str, Any]:
    """A value in the forms that a notebook shows; IPython's own printer where it is loaded."""
    pretty: Callable[[Any], str] = getattr(sys.modules.get("IPython.lib.pretty"), "pretty", repr)
    data: Dict[str, Any] = {"text/plain": pretty(value)}
    for method, mime in _RICH.items():
        make = getattr(type(value), method, None)
        text = make(value) if callable(make) else None
        if type(text) is str:
            data[mime] = text
    return data

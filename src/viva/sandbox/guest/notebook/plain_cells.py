"""Run cells that are ordinary Python without IPython; the last expression is displayed as in a notebook.

Only IPython shows some things like a stock kernel: an exception, a value in several formats, a cell that is not valid
Python. If the fork server has loaded IPython, a shell is made in the box at the first of these.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from ..loading import sources
from ..loading.statements import future_flags, is_future_import
from ..values.raised import Raised
from .cell_outputs import Outputs, Streams

if TYPE_CHECKING:
    from .ipython_shell import Shell

_SHELL_LINE = re.compile(r"^([ \t]*)(?:[%!].*|\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t]*$", re.M)
_CELL_MAGIC = re.compile(r"\A\s*%%(\w+)")
_PYTHON_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
"""Cell magics that contain ordinary Python."""
_TEXTS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_svg_": "image/svg+xml",
}
"""Methods of values that return a text, which is shown without IPython as well: a data frame's table is one."""
_OTHERS = ("png", "jpeg", "pdf", "javascript", "json", "mimebundle")
_RICH_METHODS = (*_TEXTS, *(f"_repr_{name}_" for name in _OTHERS), "_ipython_display_")
"""Methods of values that IPython shows in further formats."""
_UNDERSCORES = ("_", "__", "___")
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
        self._module, self._namespace, self._outputs = module, vars(module), outputs
        self._flags = 0
        self._shell: Optional[Shell] = None
        self._last_results: List[Any] = []

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
        tree = self._parsed(python, filename)
        if tree is None:
            assert self._shell is not None  # _parsed has made it
            self._shell.run(number, text)
            return
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
                    self._show(value, number)

    def show_error(self, error: BaseException, raised: Raised) -> None:
        """Add what `run` has raised to the outputs."""
        shell = self._shell_if_loaded()
        if shell is None:
            self._outputs.error(raised)
        else:
            shell.show_foreign_error(error)

    def _parsed(self, python: str, filename: str) -> Optional[ast.Module]:
        """Parse a cell; return None if IPython may still run it: it accepts indented cells, and pasted prompts."""
        try:
            return ast.parse(python, filename)
        except SyntaxError:
            if self._shell_if_loaded() is None:
                raise
            return None

    def _show(self, value: object, number: int) -> None:
        data, metadata = self._formats(value)
        self._remember(value)
        if data:
            self._outputs.result(data, metadata, number)

    def _formats(self, value: object) -> Tuple[Dict[str, object], Dict[str, object]]:
        """Return a value in the formats that a notebook shows, and their metadata."""
        pretty: Callable[[Any], str] = getattr(sys.modules.get("IPython.lib.pretty"), "pretty", repr)
        rich = any(getattr(type(value), method, None) is not None for method in _RICH_METHODS)
        shell = self._shell_if_loaded() if rich else None
        if shell is not None:
            data, metadata = shell.formats(value)
            return data, metadata
        shown: Dict[str, object] = {"text/plain": pretty(value)}
        for method, mime in _TEXTS.items() if rich else ():
            make = getattr(type(value), method, None)
            text = make(value) if callable(make) else None
            if type(text) is str:
                shown[mime] = text
        return shown, {}

    def _remember(self, value: object) -> None:
        """Store the last results in `_`, `__` and `___`, unless the student's code uses these names itself."""
        own = dict(zip(_UNDERSCORES, self._last_results))
        if all(own.get(name) is self._namespace.get(name) for name in _UNDERSCORES):
            self._last_results = [value, *self._last_results[:2]]
            self._namespace.update(zip(_UNDERSCORES, self._last_results))

    def _shell_if_loaded(self) -> Optional[Shell]:
        """Return a shell, or None if the fork server has not loaded IPython, which is too slow to load here."""
        if self._shell is None and "IPython.core.ultratb" in sys.modules:
            from .ipython_shell import Shell

            names = dict(self._namespace)
            self._shell = Shell(self._module, self._outputs)
            self._namespace.update(names)  # the student's `In`, `exit` or `_` take precedence over the shell's
        return self._shell


def _ends_with_semicolon(last: ast.Expr, text: str) -> bool:
    """Return whether a semicolon follows the last expression, which suppresses its display."""
    line = sources.lines_of(text)[(last.end_lineno or 1) - 1].encode("utf-8", "surrogatepass")
    return line[last.end_col_offset :].strip().startswith(b";")

"""Run a notebook's cells in this process, without kernel or zmq; outputs have the form of nbformat.

IPython's shell runs them (ipython_shell.py); where it is not installed, cells run as ordinary Python (plain_cells.py).
Outputs that are stored in the file are ignored.
"""

from __future__ import annotations

import sys
import time
import types
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Union

from ..loading import import_denylist, sources
from ..loading.modules import Loading
from ..loading.namespaces import Namespaces
from ..loading.statements import Source
from ..process import alarm
from ..process.alarm import SoftTimeout, within
from ..values.printed import Printed
from ..values.raised import Raised, describe
from .cell_outputs import Outputs, Streams
from .plain_cells import PlainCells, without_magics

if TYPE_CHECKING:
    from ..transport.message_types import BeginNotebook, Cell, CellResult, NextCell, Output
    from .ipython_shell import Shell

_REST_S = 5.0
"""Counted seconds for the definitions after the failure of a cell; a library may have to be imported."""
_TRACEBACK_S = 15.0
"""Counted seconds for a traceback, which reads the student's sources and may run `__str__` of their exceptions.

The frames of an endless recursion take IPython a second, and five seconds on a machine with five times its load.
"""
_perf_counter, _settrace = time.perf_counter, sys.settrace


class Notebooks:
    """Loads notebooks into a box."""

    def __init__(self, namespaces: Namespaces, loading: Loading) -> None:
        self._namespaces, self._loading = namespaces, loading
        self._cell: Callable[[Cell, Optional[float]], CellResult] = _not_begun
        self._definitions_of: Callable[[Cell, Optional[float]], CellResult] = _not_begun

    def begin(self, request: BeginNotebook) -> None:
        """Prepare to run the cells in one namespace; `next_cell` then runs one at a time."""
        self._loading.prepare(request)
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self._namespaces.add(request.path, vars(module))
        only_definitions = request.mode == "definitions"
        run: Union[_Definitions, WholeCells]
        run = _Definitions(module) if only_definitions else WholeCells(module)
        self._cell, self._definitions_of = run.cell, _Definitions(module).cell

    def next_cell(self, request: NextCell) -> Dict[str, object]:
        """Run the cell `cell` for at most `cell_s` seconds, or `only_definitions` of it.

        If a cell raises, hangs or is not Python, the others can still run. The definitions after the failure in the
        same cell run as well: often it failed because a library, a file or a device exists in the student's environment
        but not here.

        Returns:
            `{"number", "status", "raised", "outputs", "wall_s", "skipped", "forbidden": [str]}` with status "ok",
            "raised", "timeout" or "skipped"; and `earlier`, `[[number, outputs]]` of cells whose displays it updated.
        """
        run = self._definitions_of if request.only_definitions else self._cell
        result = run(request.cell, request.cell_s)
        return {**result, "forbidden": import_denylist.tried()}


def _not_begun(_cell: Cell, _limit_s: Optional[float]) -> CellResult:
    raise RuntimeError("no notebook was begun")


class WholeCells:
    """Runs whole cells; if `lenient`, the definitions after a cell's failure still run."""

    def __init__(self, module: types.ModuleType, *, lenient: bool = True) -> None:
        self._outputs, self._namespace = Outputs(), vars(module)
        self._lenient = lenient
        self._cells = _runner(module, self._outputs)

    def cell(self, cell: Cell, limit_s: Optional[float]) -> CellResult:
        """Run one cell, and return its result as `Notebooks.next_cell` does."""
        number, began = int(cell["number"]), _perf_counter()
        self._outputs.begin(number)
        status, raised = "ok", None
        try:
            within(limit_s, lambda: self._cells.run(number, str(cell["source"])))
        except BaseException as error:
            raised = describe(error)
            status = "timeout" if isinstance(error, SoftTimeout) else "raised"
            self._show_error(error, raised)
            if self._lenient:
                define_the_rest(self._namespace, number, str(cell["source"]), error)
        result = _result(number, status, raised, self._outputs.finished(), _perf_counter() - began)
        result["earlier"] = self._outputs.earlier()
        return result

    def _show_error(self, error: BaseException, raised: Raised) -> None:
        """Add the exception to the outputs; use a simple form if printing it fails, hangs, or the time is up."""
        try:
            if isinstance(error, SoftTimeout):
                raise error
            within(_TRACEBACK_S, lambda: self._cells.show_error(error, raised))
        except BaseException:
            self._outputs.error(raised)


class _Definitions:
    """Runs definitions only (definitions.py), and lists the rest."""

    def __init__(self, module: types.ModuleType) -> None:
        self._namespace = vars(module)

    def cell(self, cell: Cell, limit_s: Optional[float]) -> CellResult:
        number, began, text = int(cell["number"]), _perf_counter(), str(cell["source"])
        outputs = Outputs()
        outputs.begin()
        filename = sources.remember_cell(number, text)
        python, skipped = without_magics(text)
        problems: List[Raised] = []
        statements = 0
        with Streams(outputs):
            try:
                source = Source(python, filename)
                statements = len(source.tree.body)
                ran = within(limit_s, lambda: source.run(self._namespace, only_definitions=True))
                problems, skipped = ran.problems, [*skipped, *ran.skipped]
            except BaseException as error:
                problems = [describe(error)]
        for problem in problems:
            outputs.error(problem)
        status = "raised" if problems else "skipped" if skipped and len(skipped) >= statements else "ok"
        raised = problems[0] if problems else None
        return _result(number, status, raised, outputs.finished(), _perf_counter() - began, "; ".join(skipped)[:1000])


def define_the_rest(namespace: Dict[str, object], number: int, text: str, error: BaseException) -> None:
    """Run the definitions of a cell after the statement that raised `error`; never raises.

    Their output is left out: a notebook shows nothing of a cell after an error.
    """
    _settrace(None)  # a debugger without a terminal would raise again
    if alarm.time_is_up():
        return
    try:
        with Printed():
            source = Source(without_magics(text)[0], sources.remember_cell(number, text))
            within(_REST_S, lambda: source.define_the_rest(namespace, error))
    except BaseException:
        return  # the cell's own error has been reported


def _runner(module: types.ModuleType, outputs: Outputs) -> Union[PlainCells, Shell]:
    try:
        from .ipython_shell import Shell
    except ImportError:
        return PlainCells(module, outputs)
    return Shell(module, outputs)


def _result(
    number: int,
    status: str,
    raised: Optional[Raised] = None,
    outputs: Optional[List[Output]] = None,
    wall_s: float = 0.0,
    skipped: str = "",
) -> CellResult:
    return {
        "number": number,
        "status": status,
        "raised": raised,
        "outputs": outputs or [],
        "wall_s": wall_s,
        "skipped": skipped,
    }

"""A notebook run cell by cell, with an author's tests between its cells or after them, in the student's own namespace.

So run the tools for which such notebooks were written: a cell that raises ends there, and nothing of it is run after
the place where it failed. What is said here of a cell or of a test is a claim of the student's process.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any, Dict, List, Optional

from ..loading import sources
from ..loading.namespaces import Spaces
from ..process import alarm
from ..process.alarm import within
from .notebooks import Cell, WholeCells
from .otter_checks import OtterChecks

_SEEDING_S = 30.0
"""Wall seconds for what is run before a cell: numpy may have to be imported."""


class CellByCell:
    """The notebook of this box: its operations, each a function of the request."""

    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self._module = types.ModuleType("__main__")
        self._cells: Optional[WholeCells] = None
        self._checks: Optional[OtterChecks] = None

    def begin(self, request: Dict[str, Any]) -> None:
        """Make the process look as if a kernel had been started beside the notebook.

        Args:
            request: `path` of the notebook; `cells`, all that will be run, which decide whether IPython runs them;
                `checks`, the tests that an otter notebook asks for by their names (otter_checks.py), or None.
        """
        path = str(request["path"])
        folder = os.path.dirname(sources.path_of(path))
        os.chdir(folder)
        sys.path[:] = [folder, *(place for place in sys.path if place != folder)]
        importlib.invalidate_caches()
        sys.argv = [path]
        self._module = sys.modules["__main__"] = types.ModuleType("__main__")
        self._spaces.add(path, vars(self._module))
        self._cells = WholeCells(self._module, [{"source": text} for text in request["cells"]], lenient=False)
        checks = request.get("checks")
        self._checks = None if checks is None else OtterChecks(checks)
        if self._checks is not None:
            self._checks.install()

    def run(self, request: Dict[str, Any]) -> Cell:
        """Run one cell, for at most `cell_s` seconds; `before` is run first, unless the cell is one cell magic.

        Returns:
            `{"number", "status", "raised", "outputs", "wall_s", "skipped"}`, as when a notebook is run whole.
        """
        if self._cells is None:
            raise RuntimeError("no notebook was begun")
        before = request.get("before")
        if before and not str(request["source"]).startswith("%%"):
            _seed(str(before), vars(self._module))
        return self._cells.cell({"number": request["number"], "source": request["source"]}, request.get("cell_s"))

    def check(self, request: Dict[str, Any]) -> List[Dict[str, Any]]:
        """What the cases of a test came to when the notebook last asked for it; run now if it never did, or `again`.

        Returns:
            `[{"passed": bool, "words": str, "raised": Raised | None}]`.
        """
        if self._checks is None:
            raise RuntimeError("no tests were given")
        return self._checks.outcome(str(request["test"]), vars(self._module), again=bool(request.get("again")))


def _seed(text: str, namespace: Dict[str, Any]) -> None:
    """Run what sets the seed; what the student has put in the way of it is theirs."""
    try:
        within(_SEEDING_S, lambda: exec(text, namespace))
    except alarm.SoftTimeout:
        raise
    except BaseException:
        return

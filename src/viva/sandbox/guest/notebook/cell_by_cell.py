"""Run a notebook cell by cell, with an author's tests between or after its cells, in the student's own namespace.

The tools for which such notebooks were written work like this too: a cell that raises ends there, and nothing after the
failure is run. The result of a cell or a test is an untrusted value from the student's process.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import TYPE_CHECKING, Dict, List, Optional

from ..loading import sources
from ..loading.namespaces import Namespaces
from ..process import alarm
from ..process.alarm import within
from ..process.snapshots import Snapshots
from .notebooks import WholeCells
from .otter_checks import OtterChecks

if TYPE_CHECKING:
    from ..transport.message_types import (
        BeginCells,
        CellResult,
        OtterCase,
        ResumeSnapshot,
        RunCell,
        RunCheck,
        TakeSnapshot,
    )

_SEEDING_S = 30.0
"""Counted seconds for the code that runs before a cell: numpy may have to be imported."""


class CellByCell:
    """The notebook of this box; each operation is a function of the request."""

    def __init__(self, namespaces: Namespaces, snapshots: Snapshots) -> None:
        self._namespaces, self._snapshots = namespaces, snapshots
        self._module = types.ModuleType("__main__")
        self._cells: Optional[WholeCells] = None
        self._checks: Optional[OtterChecks] = None

    def begin(self, request: BeginCells) -> None:
        """Make the process look as if a kernel had been started in the notebook's folder.

        Args:
            request: `path` of the notebook; `checks`, the tests that an otter notebook runs by name
                (otter_checks.py), or None; `snapshots`, those of which a snapshot is taken whenever the notebook runs
                them.
        """
        path = request.path
        folder = sources.live_in(path)
        os.chdir(folder)
        sys.path[:] = [folder, *(path for path in sys.path if path != folder)]
        importlib.invalidate_caches()
        sys.argv = [path]
        self._module = sys.modules["__main__"] = types.ModuleType("__main__")
        self._namespaces.add(path, vars(self._module))
        self._cells = WholeCells(self._module, lenient=False)
        if request.checks is None:
            self._checks = None
        else:
            self._checks = OtterChecks(request.checks, set(request.snapshots), self._snapshots.take)
        if self._checks is not None:
            self._checks.install()

    def run(self, request: RunCell) -> CellResult:
        """Run one cell for at most `cell_s` seconds; `before` runs first, unless a cell magic covers the cell.

        Returns:
            `{"number", "status", "raised", "outputs", "wall_s", "skipped"}`, as `Notebooks.load` returns.
        """
        if self._cells is None:
            raise RuntimeError("no notebook was begun")
        if request.before and not request.source.startswith("%%"):
            _seed(request.before, vars(self._module))
        return self._cells.cell({"number": request.number, "source": request.source}, request.cell_s)

    def check(self, request: RunCheck) -> List[OtterCase]:
        """Return the last results of a test's cases; run the test if the notebook never did, or if `again` is set.

        `whole` is the test with its hidden cases, in a snapshot or at the end.

        Returns:
            `[{"passed": bool, "words": str, "raised": Raised | None}]`.
        """
        if self._checks is None:
            raise RuntimeError("no tests were given")
        if request.whole is not None:
            return self._checks.run_whole(request.test, request.whole, vars(self._module))
        return self._checks.outcome(request.test, vars(self._module), again=request.again)

    def take(self, request: TakeSnapshot) -> None:
        """Take the snapshot `snapshot`."""
        self._snapshots.take(request.snapshot)

    def resume(self, request: ResumeSnapshot) -> bool:
        """Go on in the snapshot `snapshot`; return False if there is none.

        A test that an otter notebook never asks for runs at its end; a test cell of nbgrader has a place of its own.
        """
        return self._snapshots.resume(request.snapshot) and self._checks is not None


def _seed(text: str, namespace: Dict[str, object]) -> None:
    """Run the code that sets the seed; ignore errors, which only the student's code can cause."""
    try:
        within(_SEEDING_S, lambda: exec(text, namespace))
    except alarm.SoftTimeout:
        raise
    except BaseException:
        return

"""Run a notebook that ended its box again, a cell at a time, to keep the outputs before the end.

Only the executed notebook is made from it. No test asks that box anything, and the call log does not contain it.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.box_session import BoxSession
from viva.examiner.boxes.load import LOAD_GRACE_S, Ask, Loader, LoadReport
from viva.model import Submission
from viva.model.box_source import BoxSource
from viva.model.errors import BoxDied, BoxTimeout, ProtocolViolation, StudentRaised, VivaError

ENDED: Final = "[the program ended while this cell ran; what it had put out until then is lost]\n"
HUNG: Final = "[this cell did not end, and could not be interrupted; what it had put out until then is lost]\n"
_ENDINGS: Final = (BoxTimeout, BoxDied, ProtocolViolation)

Cell = dict[str, Any]


def run_stepwise(
    source: BoxSource, submission: Submission, assignment: Assignment, inside: dict[str, str]
) -> LoadReport:
    """Load the submission in a fresh box; never raise.

    Returns:
        What ran until the box ended; without cells if a kernel runs them, or no box could be made.
    """
    loader = _StepwiseLoader(submission, assignment, inside)
    session = BoxSession(source, loader, assignment.limits)
    loader.counted_s = lambda: session.counted_s
    with suppress(VivaError):
        try:
            session.open()
        finally:
            session.close()
    return session.report or LoadReport()


class _StepwiseLoader(Loader):
    """Loads as usual, but asks for cells one by one; the end of the box is the end of the load."""

    counted_s: Callable[[], float] = time.monotonic
    """The counted time of its session."""

    def load(self, ask: Ask) -> LoadReport:
        report = LoadReport()
        with suppress(*_ENDINGS):
            self.fill(_Steps(ask, self.counted_s), report)
        return report


class _Steps:
    """Asks for the cells of a notebook one by one instead of all together."""

    def __init__(self, ask: Ask, counted_s: Callable[[], float]) -> None:
        self._ask, self._counted_s = ask, counted_s
        self._ended = False

    def __call__(self, op: str, **fields: Any) -> Any:
        if op != "load_notebook":
            return self._ask(op, **fields)
        whole_s, cell_s = float(fields["soft_s"]), float(fields["cell_s"])
        until = self._counted_s() + whole_s
        self._ask("begin_notebook", **fields)
        ran: list[Any] = []
        for cell in fields["cells"]:
            left_s = until - self._counted_s()
            if left_s <= 0 or self._ended:
                break
            ran.append(self._cell(cell, min(cell_s, left_s)))
        return {"cells": ran}

    def _cell(self, cell: Cell, cell_s: float) -> object:
        how = {"timeout_s": cell_s + LOAD_GRACE_S, "soft_s": cell_s + LOAD_GRACE_S / 2, "cell_s": cell_s}
        try:
            return self._ask("next_cell", **how, cell=cell)
        except StudentRaised:
            return {"number": cell["number"], "status": "raised", "outputs": []}
        except _ENDINGS as error:
            self._ended = True
            words = HUNG if isinstance(error, BoxTimeout) else ENDED
            note = {"output_type": "stream", "name": "stderr", "text": words}
            return {"number": cell["number"], "status": "died", "outputs": [note]}

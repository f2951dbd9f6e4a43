"""Write the executed notebook in nbformat 4.5, without the nbformat library, which costs more than a whole grading."""

import json
from collections.abc import Mapping
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.load import LoadReport
from viva.examiner.executed.executed_outputs import checked
from viva.model import untrusted
from viva.submissions.notebook_cells import OURS, Cell

MOST_BYTES: Final = 4 << 20
"""The size of the whole file. Later outputs are cut, and their cells say so."""
_STATUSES: Final = ("raised", "timeout", "skipped", "died")
_NOTE_BYTES: Final = 120
"""Bytes reserved for each cell, so that it can say that its outputs were cut."""

Plain = dict[str, Any]


def executed_notebook(
    report: LoadReport, assignment: Assignment, content_hash: str, most_bytes: int = MOST_BYTES
) -> bytes:
    """Return the first notebook that ran, with its outputs; empty if none did, or if it is too large.

    Args:
        report: what the first load of the submission did.
        assignment: the assignment of the submission.
        content_hash: the submission's hash; it is in the file, so that no one mistakes it for another submission's.
        most_bytes: the largest size of the file.
    """
    path = next((p for p in report.loaded if p in report.cells and p in report.notebooks), None)
    if path is None:
        return b""
    ran = {untrusted.number(cell.get("number")): cell for cell in map(untrusted.table, report.cells[path])}
    cells = [_cell(cell, ran.get(cell.number, {})) for cell in report.notebooks[path].cells]
    made = {
        "content_hash": content_hash,
        "assignment": assignment.name,
        "version": assignment.version,
        "notebook": path,
        "load": assignment.load,
    }
    notebook = {
        "cells": cells,
        "metadata": {**_PYTHON, OURS: made},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    notes = _NOTE_BYTES * sum("outputs" in cell for cell in cells)
    left = most_bytes - len(_written(notebook)) - notes
    if left < 0:
        return b""
    for cell, written in zip(report.notebooks[path].cells, cells, strict=True):
        if "outputs" in written:
            received = untrusted.rows(ran.get(cell.number, {}).get("outputs"))
            written["outputs"], taken = checked(received, cell.number, left + _NOTE_BYTES)
            left -= max(taken - _NOTE_BYTES, 0)
    return _written(notebook)


def _cell(cell: Cell, ran: Mapping[str, object]) -> Plain:
    written: Plain = {"cell_type": cell.kind, "id": f"cell-{cell.position}", "metadata": {}, "source": cell.source}
    if cell.kind != "code":
        return written
    status = untrusted.text(ran.get("status"), 20) if ran else "skipped"
    if cell.number and status in _STATUSES:
        written["metadata"] = {OURS: {"status": status}}
    was_run = bool(cell.number) and status != "skipped"
    return {**written, "execution_count": cell.number if was_run else None, "outputs": []}


_PYTHON: Final[Plain] = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def _written(notebook: Plain) -> bytes:
    return json.dumps(notebook, ensure_ascii=False).encode() + b"\n"

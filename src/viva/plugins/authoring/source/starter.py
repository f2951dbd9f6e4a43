"""The starter, as a notebook and as a module, from `assignments/A/source.ipynb` or `source.py`."""

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.config.assignment import SOURCES
from viva.model.errors import CourseError
from viva.plugins.authoring.source.solution_markers import Unbalanced
from viva.plugins.authoring.source.source_cells import Cell, without_solutions
from viva.submissions.notebook_cells import NotebookError, read_notebook

_PERCENT: Final = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?P<about>.*)$", re.MULTILINE)
_NBGRADER: Final = re.compile(r"\bnbgrader=(\{.*\})\s*$")
"""As jupytext writes the metadata of a cell."""
_LONE_MARKER: Final = re.compile(r"\s*#{1,6}\s*((?:BEGIN|END) SOLUTION)\s*")
_MAGIC: Final = re.compile(r"^(\s*)([%!].*)$", re.MULTILINE)


def starter_from(assignment: Assignment) -> dict[str, bytes] | None:
    """Return the starter's files by name; None where the assignment has no source with solutions.

    Raises:
        CourseError: there are two sources, or one cannot be read or has a marker without its partner.
    """
    found = [assignment.folder / name for name in SOURCES if (assignment.folder / name).is_file()]
    if len(found) > 1:
        raise CourseError(f"{assignment.folder} has both {' and '.join(SOURCES)}: expected one of them.")
    if not found:
        return None
    source, *_ = found
    try:
        cells = without_solutions(read_source(source))
    except Unbalanced as error:
        raise CourseError(f"{source}: {error}; each BEGIN needs its END.") from None
    wanted, files = assignment.submission, {}
    if wanted.notebook is not None:
        files[f"{assignment.name}.ipynb"] = notebook_of(cells)
    if wanted.module is not None:
        files[wanted.module] = _module(cells).encode()
    return files


def read_source(path: Path) -> list[Cell]:
    """Return the cells of a notebook, or of a module in the percent format; a module without marks is one cell.

    Raises:
        CourseError: it cannot be read.
    """
    cells = _from_notebook(path) if path.suffix == ".ipynb" else _from_module(path)
    return [_as_section(cell) for cell in cells]


def _as_section(cell: Cell) -> Cell:
    """Return a markdown cell that is only a marker of a solution as the raw cell that otter has for several cells."""
    marker = _LONE_MARKER.fullmatch(cell.source) if cell.kind == "markdown" else None
    return cell if marker is None else replace(cell, kind="raw", source=f"# {marker[1]}")


def _from_notebook(path: Path) -> list[Cell]:
    try:
        notebook = read_notebook(path.read_bytes())
    except NotebookError as error:
        raise CourseError(f"{path} cannot be read as a notebook: {error}.") from None
    return [
        Cell(cell.kind, cell.source, number, nbgrader if isinstance(nbgrader, dict) else None)
        for number, cell in enumerate(notebook.cells, 1)
        for nbgrader in [cell.metadata.get("nbgrader")]
    ]


def _from_module(path: Path) -> list[Cell]:
    """Return the cells of the percent format; a module without markers is one cell."""
    text = path.read_text("utf-8")
    marks = list(_PERCENT.finditer(text))
    if not marks:
        return [Cell("code", text, 1)]
    cells = [Cell("code", text[: marks[0].start()], 1)] if text[: marks[0].start()].strip() else []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        body = text[mark.end() : end].strip("\n")
        if mark["markdown"]:
            body = _markdown(body)
        kind = "markdown" if mark["markdown"] else "code"
        cells.append(Cell(kind, body, len(cells) + 1, _nbgrader(mark["about"])))
    return cells


def _markdown(body: str) -> str:
    """Return the text of a markdown cell, which is a comment or a string of several lines."""
    if len(body) > 5 and body.startswith(('"""', "'''")) and body.endswith(body[:3]):
        return body[3:-3].strip("\n")
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())


def _nbgrader(about: str) -> dict[str, object] | None:
    found = _NBGRADER.search(about)
    with contextlib.suppress(ValueError):
        read = json.loads(found[1]) if found is not None else None
        return read if isinstance(read, dict) else None
    return None


def notebook_of(cells: Sequence[Cell]) -> bytes:
    """Return a notebook of format 4.5, written as nbformat writes one."""
    made: list[dict[str, object]] = []
    for number, cell in enumerate(cells, 1):
        source = cell.source.splitlines(keepends=True)
        made.append({"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {}, "source": source})
        if cell.kind == "code":
            made[-1] |= {"execution_count": None, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return f"{json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode()


def _module(cells: list[Cell]) -> str:
    """Return the percent format, which editors show as cells; shell lines and magics become comments."""
    parts = []
    for cell in cells:
        if cell.kind == "code":
            parts.append("# %%\n" + _MAGIC.sub(r"\1# \2", cell.source.strip("\n")))
        elif cell.kind == "markdown":
            parts.append("# %% [markdown]\n" + "\n".join(f"# {line}".rstrip() for line in cell.source.splitlines()))
    if len(cells) == 1 and cells[0].kind == "code":
        return parts[0].removeprefix("# %%\n") + "\n"
    return "\n\n".join(parts) + "\n"

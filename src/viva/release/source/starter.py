"""The starter, as a notebook and as a module, from `assignments/A/source.ipynb` or `source.py`."""

import re
from pathlib import Path
from typing import Any, Final

from viva.config import Assignment
from viva.model.errors import CourseError
from viva.release.source.solution_markers import Unbalanced
from viva.release.source.source_cells import Cell, without_solutions

SOURCES: Final = ("source.ipynb", "source.py")
_PERCENT: Final = re.compile(r"^# %%(?P<markdown> \[markdown\])?.*$", re.MULTILINE)
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
        cells = without_solutions(_from_notebook(source) if source.suffix == ".ipynb" else _from_module(source))
    except Unbalanced as error:
        raise CourseError(f"{source}: {error}; each BEGIN needs its END.") from None
    wanted, files = assignment.submission, {}
    if wanted.notebook is not None:
        files[f"{assignment.name}.ipynb"] = _notebook(cells)
    if wanted.module is not None:
        files[wanted.module] = _module(cells).encode()
    return files


def _from_notebook(path: Path) -> list[Cell]:
    import nbformat

    read: Any = nbformat.read
    try:
        notebook = read(path, as_version=4)
    except Exception as error:  # the library raises whatever its parsers raise
        raise CourseError(f"{path} is no notebook: {str(error).splitlines()[0]}.") from error
    return [
        Cell(cell["cell_type"], cell["source"], number, cell["metadata"].get("nbgrader"))
        for number, cell in enumerate(notebook["cells"], 1)
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
            body = "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.splitlines())
        cells.append(Cell("markdown" if mark["markdown"] else "code", body, len(cells) + 1))
    return cells


def _notebook(cells: list[Cell]) -> bytes:
    import nbformat

    library: Any = nbformat
    make = library.v4
    new = {"code": make.new_code_cell, "markdown": make.new_markdown_cell, "raw": make.new_raw_cell}
    made = [new[cell.kind](cell.source, id=f"cell-{number}") for number, cell in enumerate(cells, 1)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text: str = library.writes(make.new_notebook(cells=made, metadata=kernel))
    return f"{text}\n".encode()


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

"""Notebooks as JSON, changed cell by cell and written again: what students are given, without outputs."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from viva.model.errors import UsageError
from viva.submissions.notebook_cells import NotebookError, read_notebook

Cell = dict[str, Any]


def read_cells(data: bytes, shown: str) -> list[Cell]:
    """Return the cells of a notebook of format 4, with their sources as texts.

    Raises:
        UsageError: it is not such a notebook.
    """
    try:
        read_notebook(data)
    except NotebookError as error:
        raise UsageError(f"{shown}: {error}.") from None
    cells = json.loads(data.decode("utf-8-sig")).get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise UsageError(f"{shown} is a notebook of an old format: open it in Jupyter, and save it.")
    return [{**cell, "source": read_cell_source(cell), "metadata": _table(cell.get("metadata"))} for cell in cells]


def read_cell_source(cell: Cell) -> str:
    """Return the text of a cell, however it is stored."""
    source = cell.get("source")
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def rewrite_notebook(data: bytes, change: Callable[[list[Cell]], Iterable[Cell]], shown: str) -> bytes:
    """Return the notebook with other cells, all without outputs.

    Raises:
        UsageError: as `read_cells`.
    """
    cells = list(change(read_cells(data, shown)))
    for cell in cells:
        if cell.get("cell_type") == "code":
            cell.update(outputs=[], execution_count=None)
    notebook = {**json.loads(data.decode("utf-8-sig")), "cells": cells}
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def read_language(data: bytes) -> str:
    """Return the programming language of a notebook; "python" where it names none."""
    metadata = _table(json.loads(data.decode("utf-8-sig")).get("metadata"))
    language = _table(metadata.get("kernelspec")).get("language") or _table(metadata.get("language_info")).get("name")
    return language.lower() if isinstance(language, str) else "python"


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}

"""The Python of a submission, in its files and notebook cells, and the submission with one of them changed."""

import ast
import contextlib
import hashlib
import json
import warnings
from dataclasses import dataclass, replace
from functools import cached_property

from viva.model import File, Submission
from viva.submissions.notebook_cells import NotebookError, read_json, read_notebook


@dataclass(frozen=True)
class Piece:
    """One file of Python, or one code cell."""

    path: str
    """The file in the submission."""
    text: str
    cell: int | None = None
    """Place of the cell among all cells of the notebook, from 0."""
    number: int = 0
    """The number of the cell as students know it: code cells that are not empty, from 1."""

    @property
    def where(self) -> str:
        """Return `solution.py`, or `answers.ipynb, cell 7`."""
        return self.path if self.cell is None else f"{self.path}, cell {self.number}"

    @cached_property
    def tree(self) -> ast.Module | None:
        """Return the syntax tree; None for what is not plain Python, such as a cell with shell lines."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return ast.parse(self.text)
            except (SyntaxError, ValueError):
                return None


def pieces_of(submission: Submission) -> list[Piece]:
    """Return every piece of Python; archives are not opened."""
    found: list[Piece] = []
    for file in submission.files:
        if file.path.endswith(".py"):
            found.append(Piece(file.path, file.data.decode("utf-8", "replace").replace("\r\n", "\n")))
        elif file.path.endswith(".ipynb") and "cells" in read_json(file.data):  # format 3 has worksheets
            with contextlib.suppress(NotebookError):
                cells = read_notebook(file.data).code
                found += [Piece(file.path, cell.source, cell.position - 1, cell.number) for cell in cells]
    return found


def with_text(submission: Submission, piece: Piece, text: str, name: str) -> Submission:
    """Return the submission with other text in one piece."""
    files = tuple(_changed(f, piece, text) if f.path == piece.path else f for f in submission.files)
    digest = hashlib.sha256(b"\0".join(f.path.encode() + f.data for f in files)).hexdigest()
    return replace(submission, name=name, files=files, content_hash=digest)


def _changed(file: File, piece: Piece, text: str) -> File:
    if piece.cell is None:
        return File(file.path, text.encode("utf-8"))
    notebook = read_json(file.data)
    notebook["cells"][piece.cell]["source"] = text
    return File(file.path, json.dumps(notebook).encode("utf-8"))

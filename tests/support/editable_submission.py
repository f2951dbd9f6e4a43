"""A submission as data, and the few ways to edit one that the deformations are made of."""

import ast
import dataclasses
import io
import itertools
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from viva.config import Assignment
from viva.submissions.examples import laid_out

Files = dict[str, bytes]


@dataclasses.dataclass(frozen=True)
class HandIn:
    """The files of a submission, archives unpacked, and which of them are run first."""

    files: Mapping[str, bytes]
    mains: tuple[str, ...]
    torch: bool = False
    """The assignment loads torch before any submission comes, so that importing it costs nothing."""

    @property
    def is_notebook(self) -> bool:
        return self.mains[0].endswith(".ipynb")

    def pieces(self, main: str) -> list[str]:
        """The code of a file: one piece for a module, one for each code cell of a notebook."""
        if not main.endswith(".ipynb"):
            return [self.files[main].decode("utf-8")]
        return [text_of(cell) for cell in cells_of(self.files[main]) if cell["cell_type"] == "code"]

    def with_pieces(self, main: str, pieces: list[str]) -> "HandIn":
        """The same with other code, as many pieces as before."""
        if not main.endswith(".ipynb"):
            return self.having({main: pieces[0].encode("utf-8")})
        left = iter(pieces)
        cells = [
            {**cell, "source": next(left)} if cell["cell_type"] == "code" else cell
            for cell in cells_of(self.files[main])
        ]
        return self.having({main: with_cells(self.files[main], cells)})

    def having(self, files: Mapping[str, bytes]) -> "HandIn":
        """The same with more files, or other contents."""
        return dataclasses.replace(self, files={**self.files, **files})

    def edited(self, edit: Callable[[str], str]) -> "HandIn":
        """Every piece of the code that is run first, edited."""
        changed = self
        for main in self.mains:
            changed = changed.with_pieces(main, [edit(piece) for piece in changed.pieces(main)])
        return changed

    def begun_with(self, code: str) -> "HandIn":
        """`code` before everything else: in a notebook in the first cell, before what stands there already."""
        changed = self
        for main in self.mains:
            first, *rest = changed.pieces(main)
            changed = changed.with_pieces(main, [_after_the_head(first, code), *rest])
        return changed

    def interrupted_by(self, code: str) -> "HandIn":
        """`code` in the middle: between two statements, in a notebook at the beginning of the middle cell."""
        changed = self
        for main in self.mains:
            pieces = changed.pieces(main)
            at = len(pieces) // 2
            pieces[at] = _in_the_middle(pieces[at], code) if len(pieces) == 1 else f"{code}\n{pieces[at]}"
            changed = changed.with_pieces(main, pieces)
        return changed

    def ended_by(self, code: str) -> "HandIn":
        """`code` after everything else: in a notebook in a cell of its own."""
        changed = self
        for main in self.mains:
            data = changed.files[main]
            if main.endswith(".ipynb"):
                data = with_cells(data, [*cells_of(data), code_cell(code)])
            else:
                data += f"\n\n{code}\n".encode()
            changed = changed.having({main: data})
        return changed


def hand_in(path: Path, assignment: Assignment) -> HandIn:
    """An example submission as a student would hand it in."""
    with laid_out(path) as folder:
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    for name in [name for name in files if name.endswith(".zip")]:
        with zipfile.ZipFile(io.BytesIO(files.pop(name))) as archive:
            files |= {m.filename: archive.read(m) for m in archive.infolist() if not m.is_dir()}
    files = {n: d for n, d in files.items() if not {"__MACOSX", "__pycache__"} & set(n.split("/"))}
    return HandIn(files, _mains(files, assignment), bool({"torch", "torch?"} & set(assignment.preload)))


def _mains(files: Files, assignment: Assignment) -> tuple[str, ...]:
    wanted, names = assignment.submission, sorted(files, key=lambda name: (name.count("/"), name))
    chosen = [name for name in names if PurePosixPath(name).name == wanted.module]
    if wanted.notebook:
        chosen += [name for name in names if fnmatchcase(PurePosixPath(name).name, wanted.notebook)]
    code = [name for name in names if name.endswith(".py")]
    return tuple(chosen or [name for name in code if name.count("/") == code[0].count("/")])


# Notebooks


def cells_of(notebook: bytes) -> list[dict[str, Any]]:
    """The cells as they are in the file."""
    return list(json.loads(notebook)["cells"])


def with_cells(notebook: bytes, cells: list[dict[str, Any]]) -> bytes:
    """The same notebook with other cells."""
    return json.dumps({**json.loads(notebook), "cells": cells}, indent=1, ensure_ascii=False).encode("utf-8")


def text_of(cell: dict[str, Any]) -> str:
    """The source of a cell, which a file may hold in lines."""
    return "".join(cell["source"])


def code_cell(source: str) -> dict[str, Any]:
    """A code cell that was never run."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def markdown_cell(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def as_notebook(work: HandIn) -> HandIn | None:
    """The work in a notebook, each function and class in a cell of its own; None where that would change it.

    Of several modules that are run, one that no other file imports becomes the notebook; the others lie next to it.
    """
    if work.is_notebook:
        return work if len(work.mains) == 1 else None
    imported = set(re.findall(r"^\s*(?:from|import) +\.?(\w+)", "\n".join(_python_of(work)), re.MULTILINE))
    main = next((m for m in work.mains if PurePosixPath(m).stem not in imported), None)
    if main is None:
        return None
    text = work.files[main].decode("utf-8")
    if "__file__" in text or "__name__" in text:
        return None  # these are other values in a notebook
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    starts = [_first_line(n) - 1 for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    edges = sorted({0, *starts, len(lines)})
    cells = [code_cell("".join(lines[a:b]).strip("\n")) for a, b in itertools.pairwise(edges)]
    head = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": head}, "nbformat": 4, "nbformat_minor": 4}
    name = main.removesuffix(".py") + ".ipynb"
    files = {path: data for path, data in work.files.items() if path != main}
    return HandIn({**files, name: json.dumps(notebook).encode()}, (name,), work.torch)


def _python_of(work: HandIn) -> list[str]:
    return [data.decode("utf-8", "replace") for name, data in work.files.items() if name.endswith(".py")]


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """One archive of the files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


# Python


def parsed(piece: str) -> ast.Module | None:
    """The syntax tree; None for a cell with magics, or one that is broken already."""
    try:
        return ast.parse(piece)
    except SyntaxError:
        return None


def rewritten(piece: str, transformer: ast.NodeTransformer) -> str:
    """A piece written again from its transformed syntax tree; as it was if it is not plain Python."""
    tree = parsed(piece)
    return piece if tree is None else ast.unparse(ast.fix_missing_locations(transformer.visit(tree)))


def functions_in(piece: str) -> list[ast.FunctionDef]:
    """The functions that a piece defines at its top."""
    tree = parsed(piece)
    return [] if tree is None else [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _after_the_head(piece: str, code: str) -> str:
    """`code` put after the docstring and the `from __future__` lines of a module."""
    tree = parsed(piece)
    statements = tree.body if tree else []
    head = 0
    for node in statements:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_docstring = is_text and node is statements[0]
        if not is_docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        head = node.end_lineno or 0
    lines = piece.splitlines(keepends=True)
    return "".join(lines[:head]) + ("\n" if head else "") + f"{code}\n" + "".join(lines[head:])


def _in_the_middle(piece: str, code: str) -> str:
    tree = parsed(piece)
    if tree is None or not tree.body:
        return f"{code}\n{piece}"
    line = _first_line(tree.body[len(tree.body) // 2]) - 1
    lines = piece.splitlines(keepends=True)
    return "".join(lines[:line]) + f"{code}\n" + "".join(lines[line:])

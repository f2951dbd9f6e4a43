"""Read a notebook as data: its cells in order, whatever is wrong with the rest of the file.

Saved outputs and ids are ignored, so they may be missing, doubled or of any type; metadata are kept as they are, for
tests that other tools have written into them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from viva.formats.notebook_json import NESTED, parse_json
from viva.submissions.decode_text import decode, without_surrogates
from viva.submissions.syntax_trees import all_are_python, with_trees

MAX_BYTES: Final = 64 << 20
MAX_CONTAINERS: Final = 500_000
"""Lists and objects. A notebook has a few for each cell; each costs memory many times its two characters."""
MAX_VALUES: Final = 1_000_000
LARGE: Final = 1 << 20
"""Bytes from which on a notebook's outputs are skipped, not read: they may hold any number of values."""
MOST_BYTES_HERE: Final = 8 << 20
MOST_VALUES_HERE: Final = 200_000
"""A larger notebook, or one with more commas and brackets, is read in another process."""
MAX_CELLS: Final = 10_000
MAX_SOURCE: Final = 8 << 20
"""Characters in all cells together."""
_OTHER_LANGUAGES: Final = frozenset(
    ("r", "julia", "octave", "matlab", "scala", "java", "javascript", "typescript", "kotlin", "c", "c++", "c#", "f#",
     "rust", "go", "ruby", "perl", "lua", "haskell", "ocaml", "sql", "bash", "powershell", "stata", "sas")
)  # fmt: skip
NOT_PYTHON: Final = re.compile(r"^[ \t]*[%!?].*$", re.MULTILINE)
"""A line of a cell that only IPython understands."""

_TOO_MANY: Final = "the notebook holds far too many values: clear its outputs first"
_TOO_MANY_CELLS: Final = f"the notebook has more than {MAX_CELLS:,} cells"
_AGAIN: Final = "open it in Jupyter and save it there first"


class NotebookError(Exception):
    """The file is not a readable notebook; the text is a phrase for the student."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    number: int
    """What Jupyter shows next to a code cell after "Restart and Run All": `In [7]`. 0 where it shows no number."""
    position: int
    """Place among all cells, from 1."""
    kind: str
    """"code", "markdown" or "raw"."""
    source: str
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    """The cell's metadata as in the file, of any type and depth; empty where there are none."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """The cells of a notebook in order."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    """Findings that do not stop grading: a cell of an unknown kind."""

    @property
    def code(self) -> tuple[Cell, ...]:
        """Return the code cells that are not empty."""
        return tuple(c for c in self.cells if c.number)

    @property
    def prose(self) -> tuple[Cell, ...]:
        """Return the markdown cells."""
        return tuple(c for c in self.cells if c.kind == "markdown")


def read_notebook(data: bytes) -> Notebook:
    """Read the bytes of an .ipynb file of format 3 or 4; with limits, if that could take much.

    Raises:
        NotebookError: and nothing else, whatever the bytes are.
    """
    if len(data) <= MOST_BYTES_HERE and sum(map(data.count, (b",", b"[", b"{"))) <= MOST_VALUES_HERE:
        return read_here(data)
    # Its libraries are not needed for others.
    from viva.submissions.reading_child import Unreadable, read_apart

    try:
        return read_apart(read_here, data, returns=Notebook, raises=NotebookError)
    except Unreadable as error:
        raise NotebookError(f"{error}: clear its outputs first") from None


def read_here(data: bytes) -> Notebook:
    """Read a notebook in this process.

    Raises:
        NotebookError: and nothing else, as long as there is memory.
    """
    parsed = _parse(data)
    found = list(_cells(parsed))
    if len(found) > MAX_CELLS:
        raise NotebookError(_TOO_MANY_CELLS)
    cells: list[Cell] = []
    unknown: list[int] = []
    number = length = 0
    for position, (kind, source, metadata) in enumerate(found, 1):
        length += len(source)
        if length > MAX_SOURCE:
            raise NotebookError(f"the cells hold more than {MAX_SOURCE >> 20} MiB of text")
        if kind not in ("code", "markdown", "raw"):
            unknown.append(position)
            kind = "raw"
        runs = kind == "code" and bool(source.strip())
        number += runs
        cells.append(Cell(number if runs else 0, position, kind, without_surrogates(source), metadata))
    notes = (
        (f"Cells of an unknown kind were not run: {', '.join(map(str, unknown[:10]))} (counted over all cells).",)
        if unknown
        else ()
    )
    language = _other_language(parsed)
    if language and not _are_python([cell.source for cell in cells if cell.number]):
        cells = [replace(cell, number=0, kind="raw" if cell.number else cell.kind) for cell in cells]
        notes = (*notes, f"The notebook is in {language}, not in Python: none of its code was run.")
    return Notebook(tuple(cells), notes)


def _other_language(notebook: Mapping[str, object]) -> str:
    """Return the language that the notebook names, if it is one that is surely not Python."""
    metadata = _mapping(notebook.get("metadata"))
    named = _mapping(metadata.get("kernelspec")).get("language") or _mapping(metadata.get("language_info")).get("name")
    return named if isinstance(named, str) and named.lower() in _OTHER_LANGUAGES else ""


def _are_python(texts: Sequence[str]) -> bool:
    """Return whether all cells are Python: many a notebook says so of itself wrongly."""
    return with_trees(all_are_python, [NOT_PYTHON.sub("", text) for text in texts], returns=bool, unreadable=False)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _parse(data: bytes) -> Mapping[str, object]:
    if not data.strip():
        raise NotebookError(f"the notebook is empty ({len(data)} bytes): {_AGAIN}")
    if len(data) > MAX_BYTES:
        raise NotebookError(f"the notebook is larger than {MAX_BYTES >> 20} MiB: clear its outputs first")
    text = decode(data)
    try:
        if len(data) > LARGE and (read := _without_outputs(text)) is not None:
            return read
        if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS or data.count(b",") > MAX_VALUES:
            raise NotebookError(_TOO_MANY)
        notebook = parse_json(text)
    except json.JSONDecodeError as error:
        raise NotebookError(_broken(text, error)) from None
    if not isinstance(notebook, dict):
        raise NotebookError(f"the file is not a notebook (it holds {_called(notebook)}): {_AGAIN}")
    return notebook


def _without_outputs(text: str) -> Mapping[str, object] | None:
    # Its library is not needed for others.
    from viva.submissions.large_notebooks import TooLarge, TooManyCells, without_outputs

    try:
        return without_outputs(text, MAX_CELLS)
    except TooManyCells:
        raise NotebookError(_TOO_MANY_CELLS) from None
    except TooLarge:
        raise NotebookError(_TOO_MANY) from None


def _broken(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == NESTED:
        return f"the notebook is {NESTED}: {_AGAIN}"
    start = text.lstrip()[:200].lower()
    if start.startswith("<"):
        if start.startswith("<<<<<<<"):
            return _conflict(1)
        return "the file is a web page, not a notebook: download the .ipynb file itself"
    if text.startswith("PK\x03\x04"):
        return "the file is an archive, not a notebook: unpack it, or name it .zip"
    if start.startswith("version https://git-lfs"):
        return "the file is a Git LFS pointer, not a notebook: run `git lfs pull`, and submit the file itself"
    conflict = text.find("\n<<<<<<< ")
    if conflict >= 0 and conflict <= error.pos:
        return _conflict(text.count("\n", 0, conflict + 1) + 1)
    if not start.startswith("{"):
        return f"the file is not a notebook (it does not begin as one): {_AGAIN}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        lines = text.count("\n") + 1
        return f"the notebook breaks off in line {lines}, so the file is not complete: {_AGAIN}"
    return f"the notebook is damaged in line {error.lineno} ({error.msg}): {_AGAIN}"


def _conflict(line: int) -> str:
    return f"the notebook has an unresolved Git conflict in line {line}: resolve it first"


def _cells(notebook: Mapping[str, object]) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """Yield kind, source and metadata of each cell, in format 4 or, by worksheets, in format 3."""
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        worksheets = notebook.get("worksheets")
        if not isinstance(worksheets, list):
            raise NotebookError(f"the file is not a notebook (it has no list of cells): {_AGAIN}")
        sheets = [sheet.get("cells") for sheet in worksheets if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    for cell in cells:
        if isinstance(cell, dict):
            metadata = cell.get("metadata")
            yield *_cell(cell), metadata if isinstance(metadata, dict) else {}
        else:
            yield "", "", {}


def _cell(cell: Mapping[str, object]) -> tuple[str, str]:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input")))
    if kind == "heading":
        level = cell.get("level")
        return "markdown", f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"
    if kind is None and source:
        kind = "code"
    return (kind if isinstance(kind, str) else ""), source


def _joined(source: object) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _called(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"

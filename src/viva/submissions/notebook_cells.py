"""Read a notebook as data: its cells in order, whatever is wrong with the rest of the file.

Saved outputs and ids are ignored, so they may be missing, doubled or of any type; metadata are kept as they are, for
tests that other tools have written into them. nbformat reads only what is valid, and students submit what is not.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from viva.submissions.code_names import NOT_PYTHON, are_python, with_trees
from viva.submissions.decode_text import decode, without_surrogates
from viva.submissions.reading_child import Unreadable, read_apart

MAX_BYTES: Final = 64 << 20
MOST_BYTES_HERE: Final = 8 << 20
MOST_VALUES_HERE: Final = 200_000
"""A larger notebook, or one with more commas and brackets, is read in another process, with limits."""
MAX_METADATA: Final = 200_000
"""Values and brackets of all cells' metadata, in which a tool writes a few for each cell."""
MAX_CELLS: Final = 10_000
MAX_SOURCE: Final = 8 << 20
"""Characters in all cells together."""
EXECUTED_FILE: Final = "executed.ipynb"
"""The file name of the executed notebook next to a result."""
OURS: Final = "viva"
"""The key in a notebook's metadata that holds viva's own metadata."""
_OTHER_LANGUAGES: Final = frozenset(
    ("r", "julia", "octave", "matlab", "scala", "java", "javascript", "typescript", "kotlin", "c", "c++", "c#", "f#",
     "rust", "go", "ruby", "perl", "lua", "haskell", "ocaml", "sql", "bash", "powershell", "stata", "sas")
)  # fmt: skip

_LONGEST_NUMBER: Final = 100
_NESTED: Final = "nested too deeply"
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


@dataclass(frozen=True, slots=True)
class About:
    """The submission from which an executed notebook was made."""

    content_hash: str = ""
    """The submission's; empty where the file does not have it."""
    load: str = ""
    """"run", or "definitions" where only statements that define names were run."""


def about(data: bytes) -> About:
    """Read viva's metadata from an executed notebook; never raises."""
    metadata = _mapping(_mapping(read_json(data).get("metadata")).get(OURS))
    content_hash, load = metadata.get("content_hash"), metadata.get("load")
    return About(
        content_hash[:100] if isinstance(content_hash, str) else "", load[:100] if isinstance(load, str) else ""
    )


def saved_outputs(data: bytes) -> dict[int, list[Mapping[str, object]]]:
    """Return the saved outputs by the position of their cell; none if the file format is older than 4.

    Args:
        data: a notebook that `read_notebook` has read, which checks its size and nesting.
    """
    cells = read_json(data).get("cells")
    saved: dict[int, list[Mapping[str, object]]] = {}
    for position, cell in enumerate(cells if isinstance(cells, list) else [], 1):
        outputs = _mapping(cell).get("outputs")
        if isinstance(outputs, list):
            saved[position] = [output for output in outputs if isinstance(output, dict)]
    return saved


def read_json(data: bytes) -> dict[str, Any]:
    """Return the JSON of a notebook as it is, to be changed or shown; empty if it is no JSON object."""
    try:
        notebook = _parse_json(data)
    except json.JSONDecodeError:
        return {}
    return notebook if isinstance(notebook, dict) else {}


def read_notebook(data: bytes) -> Notebook:
    """Read the bytes of an .ipynb file of format 3 or 4; with limits, if that could take much.

    Raises:
        NotebookError: and nothing else, whatever the bytes are.
    """
    if len(data) <= MOST_BYTES_HERE and sum(map(data.count, (b",", b"[", b"{"))) <= MOST_VALUES_HERE:
        return read_here(data)
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
        raise NotebookError(f"the notebook has more than {MAX_CELLS:,} cells")
    cells: list[Cell] = []
    unknown: list[int] = []
    number = length = said = 0
    for position, (kind, source, metadata) in enumerate(found, 1):
        length += len(source)
        if length > MAX_SOURCE:
            raise NotebookError(f"the cells hold more than {MAX_SOURCE >> 20} MiB of text")
        said += sum(map(json.dumps(metadata).count, ",[{"))
        if said > MAX_METADATA:
            raise NotebookError("the notebook's metadata hold far too many values: clear its outputs first")
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
    return with_trees(are_python, [NOT_PYTHON.sub("", text) for text in texts], returns=bool, unreadable=False)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _parse(data: bytes) -> Mapping[str, object]:
    if not data.strip():
        raise NotebookError(f"the notebook is empty ({len(data)} bytes): {_AGAIN}")
    if len(data) > MAX_BYTES:
        raise NotebookError(f"the notebook is larger than {MAX_BYTES >> 20} MiB: clear its outputs first")
    text = decode(data)
    try:
        notebook = _parse_json(text, object_pairs_hook=_without_outputs)
    except json.JSONDecodeError as error:
        raise NotebookError(_broken(text, error)) from None
    if not isinstance(notebook, dict):
        raise NotebookError(f"the file is not a notebook (it holds {_called(notebook)}): {_AGAIN}")
    return notebook


def _without_outputs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of a notebook; the outputs of a cell are forgotten as soon as they are read."""
    return {name: value for name, value in pairs if name != "outputs"}


def _parse_json(text: str | bytes, **options: Any) -> Any:
    """Return what JSON says; an integer of very many digits is read as 0, because no number of a notebook matters.

    Raises:
        json.JSONDecodeError: and nothing else, whatever the text is.
    """
    try:
        return json.loads(text, parse_int=_parse_int, **options)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError(_NESTED, "", 0) from None
    except ValueError as error:  # bytes that are no text
        raise json.JSONDecodeError(str(error), "", 0) from None


def _parse_int(digits: str) -> int:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else 0


def _broken(text: str, error: json.JSONDecodeError) -> str:
    if error.msg == _NESTED:
        return f"the notebook is {_NESTED}: {_AGAIN}"
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

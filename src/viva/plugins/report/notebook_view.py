"""A notebook as cells for a page: prose with formulas, highlighted code, and outputs if the course has executed it.

Everything in it is untrusted. What is too long to be rendered is shown as plain text.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from viva.formats import escaping
from viva.plugins.report.drawings import encode_drawing
from viva.plugins.report.safe_html import MAX_RENDERED, as_text, render_text, sanitize
from viva.submissions.notebook_cells import OURS, Cell, NotebookError, read_notebook, saved_outputs

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["NotebookError", "ShownCell", "show_cells"]

MAX_CELLS: Final = 400
MAX_OUTPUTS: Final = 20
"""The maximum number of outputs of a cell; a line says how many more there are."""
MAX_PICTURE: Final = 4_000_000
"""The maximum number of characters of a picture, in base64."""
_MAX_TEXT: Final = 40_000
_STATUSES: Final = {
    "skipped": ", which was not run",
    "timeout": ", which did not end in time",
    "died": ", in which the program ended",
}
_PICTURES: Final = ("image/png", "image/jpeg", "image/gif")
_SHOWN: Final = frozenset({
    *_PICTURES, "image/svg+xml", "text/plain", "text/html", "text/markdown", "text/latex", "application/json",
})  # fmt: skip
"""Media types of an output, one of which is shown; a note names the types that are not."""
_MAX_NAMED: Final = 10
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One cell as it is shown."""

    number: int
    """As in `In [7]`; 0 for prose and empty cells."""
    label: str
    source: str
    html: "Markup"
    """Sanitized."""
    outputs: tuple["Markup", ...] = ()
    """Sanitized."""


def show_cells(data: bytes, *, executed: bool) -> list[ShownCell]:
    """Return the cells of a notebook for a page.

    Args:
        data: the file, untrusted.
        executed: whether the course has run it; only then are its outputs shown, because outputs that a student saved
            in the file prove nothing.

    Raises:
        NotebookError: it is not a valid notebook.
        UsageError: a library that reports need is not installed.
    """
    outputs: Mapping[int, list[Mapping[str, object]]] = {}
    cells = read_notebook(data).cells[:MAX_CELLS]
    if executed:
        outputs = saved_outputs(data)
    return [
        ShownCell(
            cell.number,
            _label_cell(cell, executed=executed),
            cell.source,
            _render_cell(cell),
            _show_outputs(outputs.get(cell.position, [])),
        )
        for cell in cells
        if cell.source.strip()
    ]


def _label_cell(cell: Cell, *, executed: bool) -> str:
    if not cell.number and cell.kind == "markdown":
        return "Text"
    if not cell.number:
        return "Cell that is not run"
    status = _read_metadata(cell.metadata, "status") if executed else None
    return f"Cell {cell.number}{_STATUSES.get(str(status), '')}"


def _read_metadata(metadata: object, name: str) -> object:
    """Return what viva noted about a cell or an output when it executed the notebook."""
    notes = metadata.get(OURS) if isinstance(metadata, dict) else None
    return notes.get(name) if isinstance(notes, dict) else None


def _render_cell(cell: Cell) -> "Markup":
    if len(cell.source) > MAX_RENDERED or cell.kind == "raw":
        return _shorten(cell.source)
    if cell.kind == "markdown":
        return render_text(cell.source, html=True)
    try:
        return _sanitize(_highlight_cell(_clean(cell.source)))
    except Exception:  # of a lexer that reads what a student wrote; whoever grades it must see it nevertheless
        return _shorten(cell.source)


def _highlight_cell(code: str) -> str:
    """Return code as nbconvert's pages show it, with IPython's own lines. Not sanitized."""
    from nbconvert.filters import Highlight2HTML

    return str(Highlight2HTML()(code))  # type: ignore[no-untyped-call]  # nbconvert has no types


def _show_outputs(outputs: Sequence[Mapping[str, object]]) -> tuple["Markup", ...]:
    shown = [_show_output(output) for output in outputs[:MAX_OUTPUTS]]
    if len(outputs) > MAX_OUTPUTS:
        shown.append(as_text(f"… and {len(outputs) - MAX_OUTPUTS} more outputs, which are not shown."))
    return tuple(shown)


def _show_output(output: Mapping[str, object]) -> "Markup":
    kind = output.get("output_type")
    if kind == "stream":
        return _shorten(_join(output.get("text")))
    if kind == "error":
        return _shorten(_join(output.get("traceback"), "\n"))
    data = output.get("data")
    representations = {key: _join(value) for key, value in data.items()} if isinstance(data, dict) else {}
    return _show_best(representations) + _name_omitted(representations, output.get("metadata"))


def _show_best(representations: Mapping[str, str]) -> "Markup":
    """Return the best representation of an output that a page can show."""
    from markupsafe import Markup

    for kind in _PICTURES:
        data = representations.get(kind, "")
        if data and len(data) <= MAX_PICTURE and _BASE64.fullmatch(data):
            return _sanitize(f'<img src="data:{kind};base64,{"".join(data.split())}">')
    if address := encode_drawing(representations.get("image/svg+xml", "")):
        return Markup('<img src="{}" alt="drawing in the notebook">').format(address)
    html = representations.get("text/html", "")
    if 0 < len(html) <= MAX_RENDERED:
        return _sanitize(_clean(html))
    prose = representations.get("text/markdown", "")
    if 0 < len(prose) <= MAX_RENDERED:
        return render_text(prose, html=True)
    return _shorten(representations.get("text/latex") or representations.get("text/plain", ""))


def _name_omitted(representations: Mapping[str, str], metadata: object) -> "Markup":
    """Name the media types that would execute if they were shown (scripts, widgets), or that a page cannot show."""
    from markupsafe import Markup

    before = _read_metadata(metadata, "left_out")
    names = {name for name in before if isinstance(name, str)} if isinstance(before, list) else set[str]()
    names |= representations.keys() - _SHOWN
    if not names:
        return Markup("")
    return Markup("<p>(not shown here: {})</p>").format(escaping.line(", ".join(sorted(names)[:_MAX_NAMED])))


def _sanitize(html: str) -> "Markup":
    from markupsafe import Markup

    return Markup(sanitize(html))  # noqa: S704  # sanitized


def _shorten(text: str) -> "Markup":
    return as_text(escaping.terminal(text, characters=_MAX_TEXT, lines=2000))


def _clean(text: str) -> str:
    return escaping.terminal(text, characters=MAX_RENDERED, lines=MAX_RENDERED)


def _join(text: object, separator: str = "") -> str:
    if isinstance(text, list):
        return separator.join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""

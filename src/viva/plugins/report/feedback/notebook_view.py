"""A notebook as cells for a page: prose with formulas, highlighted code, and outputs if the course has executed it.

Everything in it is untrusted. What cannot be rendered, or is too long to be rendered, is shown as plain text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from viva.formats import escaping
from viva.plugins.report.prose.render_prose import FAULTS, MOST_RENDERED, WHOLE, as_text, rendered
from viva.plugins.report.prose.sanitise import sanitised
from viva.plugins.report.prose.svg import as_picture
from viva.submissions.notebook_cells import OURS, Cell, NotebookError, read_notebook, saved_outputs

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_CELLS: Final = 400
MOST_OUTPUTS: Final = 20
"""The maximum number of outputs of a cell; a line says how many more there are."""
MOST_PICTURE: Final = 4_000_000
"""The maximum number of characters of a picture, in base64."""
_STATUSES: Final = {
    "skipped": ", which was not run",
    "timeout": ", which did not end in time",
    "died": ", in which the program ended",
}
_SHOWN: Final = frozenset({
    "text/plain", "text/html", "text/markdown", "text/latex", "application/json", "image/png", "image/jpeg",
    "image/gif", "image/svg+xml",
})  # fmt: skip
"""Media types of an output, one of which is shown; a note names the types that are not."""
_MOST_NAMED: Final = 10
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One cell as it is shown."""

    number: int
    """As in `In [7]`; 0 for prose and empty cells."""
    label: str
    source: str
    html: "Markup"
    """Sanitised."""
    outputs: tuple["Markup", ...] = ()
    """Sanitised."""


def shown_cells(data: bytes, *, executed: bool) -> list[ShownCell]:
    """Return the cells of a notebook for a page.

    Args:
        data: the file, untrusted.
        executed: whether the course has run it; only then are its outputs shown, because outputs that a student saved
            in the file prove nothing.

    Raises:
        NotebookError: it is not a valid notebook.
        UsageError: nh3 is not installed.
    """
    cells = read_notebook(data).cells[:MOST_CELLS]
    outputs = saved_outputs(data) if executed else {}
    return [
        ShownCell(
            cell.number,
            _label(cell, executed=executed),
            cell.source,
            _rendered(cell),
            tuple(_shown(outputs.get(cell.position, []))),
        )
        for cell in cells
        if cell.source.strip()
    ]


def _label(cell: Cell, *, executed: bool) -> str:
    if not cell.number:
        return "Text" if cell.kind == "markdown" else "Cell that is not run"
    said = cell.metadata.get(OURS) if executed else None
    status = said.get("status") if isinstance(said, dict) else None
    return f"Cell {cell.number}{_STATUSES.get(status, '') if isinstance(status, str) else ''}"


def _shown(outputs: list[Mapping[str, object]]) -> Iterator["Markup"]:
    yield from map(_output, outputs[:MOST_OUTPUTS])
    if (more := len(outputs) - MOST_OUTPUTS) > 0:
        yield as_text(f"… and {more} more outputs, which are not shown.")


def _rendered(cell: Cell) -> "Markup":
    if len(cell.source) > MOST_RENDERED or cell.kind == "raw":
        return as_text(cell.source)
    if cell.kind == "markdown":
        return rendered(cell.source)
    try:
        return _code(cell.source)
    except FAULTS:
        return as_text(cell.source)


def _code(source: str) -> "Markup":
    from markupsafe import Markup

    return Markup(sanitised(str(_highlighter()(escaping.terminal(source, **WHOLE)))))  # noqa: S704  # sanitised


@cache
def _highlighter() -> Callable[[str], object]:
    from nbconvert import filters

    library: Any = filters
    highlight: Callable[[str], object] = library.Highlight2HTML()
    return highlight


def _output(output: Mapping[str, object]) -> "Markup":
    from markupsafe import Markup

    kind = output.get("output_type")
    if kind == "stream":
        return as_text(_joined(output.get("text")))
    if kind == "error":
        trace = output.get("traceback")
        return as_text("\n".join(line for line in trace if isinstance(line, str)) if isinstance(trace, list) else "")
    data = output.get("data")
    shown = {key: _joined(value) for key, value in data.items()} if isinstance(data, dict) else {}
    left_out = _left_out(shown, output.get("metadata"))
    note = Markup("<p>(not shown here: {})</p>").format(escaping.line(", ".join(left_out))) if left_out else Markup("")
    return _display(shown) + note


def _display(shown: Mapping[str, str]) -> "Markup":
    """Return the best representation of an output that a page can show."""
    from markupsafe import Markup

    for picture in _pictures(shown):
        return Markup(sanitised(picture))  # noqa: S704  # sanitised
    if address := as_picture(shown.get("image/svg+xml", "")):
        return Markup('<img src="{}" alt="drawing in the notebook">').format(address)
    html = shown.get("text/html", "")
    if html and len(html) <= MOST_RENDERED:
        return Markup(sanitised(escaping.terminal(html, **WHOLE)))  # noqa: S704  # sanitised
    prose = shown.get("text/markdown", "")
    if prose and len(prose) <= MOST_RENDERED:
        return rendered(prose)
    return as_text(shown.get("text/latex") or shown.get("text/plain", ""))


def _left_out(shown: Mapping[str, str], metadata: object) -> list[str]:
    """Return the media types that would execute if they were shown (scripts, widgets), or that a page cannot show."""
    said = metadata.get(OURS) if isinstance(metadata, dict) else None
    before = said.get("left_out") if isinstance(said, dict) else None
    names = {name for name in before if isinstance(name, str)} if isinstance(before, list) else set()
    return sorted(names | {name for name in shown if name not in _SHOWN})[:_MOST_NAMED]


def _pictures(shown: Mapping[str, str]) -> Iterator[str]:
    for kind in ("image/png", "image/jpeg", "image/gif"):
        data = shown.get(kind, "")
        if data and len(data) <= MOST_PICTURE and _BASE64.fullmatch(data):
            yield f'<img src="data:{kind};base64,{"".join(data.split())}">'


def _joined(text: object) -> str:
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""


__all__ = ["MOST_RENDERED", "NotebookError", "ShownCell", "shown_cells"]

"""A notebook as cells that can be read in a page: prose and code by nbconvert, sanitised; outputs if it was executed.

All of it is a student's: what cannot be rendered, or is too long to be, is shown as the text that it is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from viva.formats import gates
from viva.intake.notebook import Cell, NotebookError, read_notebook
from viva.report.sanitise import sanitised

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_CELLS: Final = 400
MOST_RENDERED: Final = 20_000
"""Characters of a cell that is rendered; a longer one is shown as text."""
MOST_OUTPUTS: Final = 20
"""Of one cell."""
MOST_PICTURE: Final = 4_000_000
"""Characters of a picture, in base64."""
_ANCHOR: Final = re.compile(r'<a class="anchor-link" href="[^"]*">&#182;</a>')
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
    """The cells of a notebook.

    Args:
        data: the file, anybody's.
        executed: whether the course has run it; only then are its outputs shown, because what a student saved in the
            file proves nothing.

    Raises:
        NotebookError: it is no notebook that can be read.
        UsageError: nh3 is not installed.
    """
    cells = read_notebook(data).cells[:MOST_CELLS]
    outputs = _outputs_of(data) if executed else {}
    return [
        ShownCell(
            cell.number,
            f"Cell {cell.number}" if cell.number else ("Text" if cell.kind == "markdown" else "Cell that is not run"),
            cell.source,
            _rendered(cell),
            tuple(map(_output, outputs.get(cell.position, [])[:MOST_OUTPUTS])),
        )
        for cell in cells
        if cell.source.strip()
    ]


def _rendered(cell: Cell) -> "Markup":
    if len(cell.source) > MOST_RENDERED or cell.kind == "raw":
        return _text(cell.source)
    try:
        return _prose(cell.source) if cell.kind == "markdown" else _code(cell.source)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError, AttributeError):
        return _text(cell.source)  # a renderer's own fault must not cost the student the page


def _prose(source: str) -> "Markup":
    from markupsafe import Markup
    from nbconvert.filters import markdown2html

    return Markup(sanitised(_ANCHOR.sub("", str(markdown2html(gates.terminal(source, **_WHOLE))))))


def _code(source: str) -> "Markup":
    from markupsafe import Markup

    return Markup(sanitised(str(_highlighter()(gates.terminal(source, **_WHOLE)))))


@cache
def _highlighter() -> Any:
    from nbconvert import filters

    library: Any = filters
    return library.Highlight2HTML()


_WHOLE: Final[Mapping[str, Any]] = {"characters": MOST_RENDERED, "lines": MOST_RENDERED}


def _text(source: str) -> "Markup":
    from markupsafe import Markup

    return Markup("<pre>{}</pre>").format(gates.terminal(source, characters=2 * MOST_RENDERED, lines=2000))


def _outputs_of(data: bytes) -> dict[int, list[Mapping[str, Any]]]:
    """Saved outputs by the position of their cell; none where the file is older than format 4."""
    found = json.loads(data)  # read before, within its limits
    cells = found.get("cells")
    saved: dict[int, list[Mapping[str, Any]]] = {}
    for position, cell in enumerate(cells if isinstance(cells, list) else [], 1):
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        if isinstance(outputs, list):
            saved[position] = [output for output in outputs if isinstance(output, dict)]
    return saved


def _output(output: Mapping[str, Any]) -> "Markup":
    from markupsafe import Markup

    kind = output.get("output_type")
    if kind == "stream":
        return _text(_joined(output.get("text")))
    if kind == "error":
        trace = output.get("traceback")
        return _text("\n".join(line for line in trace if isinstance(line, str)) if isinstance(trace, list) else "")
    data = output.get("data")
    shown = {key: _joined(value) for key, value in data.items()} if isinstance(data, dict) else {}
    for picture in _pictures(shown):
        return Markup(sanitised(picture))
    html = shown.get("text/html", "")
    if html and len(html) <= MOST_RENDERED:
        return Markup(sanitised(gates.terminal(html, **_WHOLE)))
    return _text(shown.get("text/plain", ""))


def _pictures(shown: Mapping[str, str]) -> Iterator[str]:
    for kind in ("image/png", "image/jpeg", "image/gif"):
        data = shown.get(kind, "")
        if data and len(data) <= MOST_PICTURE and _BASE64.fullmatch(data):
            yield f'<img src="data:{kind};base64,{"".join(data.split())}">'


def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""


__all__ = ["NotebookError", "ShownCell", "shown_cells"]

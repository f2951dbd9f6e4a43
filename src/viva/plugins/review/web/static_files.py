"""The style sheets and scripts of the pages, read once, with addresses that change with their content."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from viva.plugins.report.rendering import style_sheet

PREFIX: Final = "/static/"
FOREVER: Final = "private, max-age=31536000, immutable"
"""An address with a digest always has the same content."""
_FOLDER: Final = Path(__file__).with_name("static")
_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class File:
    """A static file."""

    data: bytes
    kind: str
    """Its media type."""
    digest: str


@cache
def files() -> dict[str, File]:
    """Read all static files by name, including the style sheet of the reports.

    No request opens a file: a name that is not in this mapping does not exist.
    """
    found = {}
    for path in sorted(_FOLDER.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            kind = _KINDS.get(path.suffix, "text/plain; charset=utf-8")
            digest = hashlib.sha256(data).hexdigest()[:16]
            found[path.relative_to(_FOLDER).as_posix()] = File(data, kind, digest)
    style = style_sheet().encode()
    found["style.css"] = File(style, _KINDS[".css"], hashlib.sha256(style).hexdigest()[:16])
    return found


def address(name: str) -> str:
    """Return the address of a file for a page: `/static/plain.css?v=…`."""
    return f"{PREFIX}{quote(name)}?v={files()[name].digest}"

"""The files beside the pages: style and script, read once, under addresses that change with what they hold."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from viva.report.rendering import sheet

PREFIX: Final = "/static/"
FOREVER: Final = "private, max-age=31536000, immutable"
"""An address with a digest never means other bytes."""
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
    """One of them."""

    data: bytes
    kind: str
    """Its media type."""
    digest: str


@cache
def files() -> dict[str, File]:
    """All of them by name, and the style sheet that reports have.

    No request opens a file: a name that is not here does not exist, whatever it points to.
    """
    found = {}
    for path in sorted(_FOLDER.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            kind = _KINDS.get(path.suffix, "text/plain; charset=utf-8")
            digest = hashlib.sha256(data).hexdigest()[:16]
            found[path.relative_to(_FOLDER).as_posix()] = File(data, kind, digest)
    style = sheet().encode()
    found["style.css"] = File(style, _KINDS[".css"], hashlib.sha256(style).hexdigest()[:16])
    return found


def address(name: str) -> str:
    """Where a page finds the file: `/static/plain.css?v=…`."""
    return f"{PREFIX}{quote(name)}?v={files()[name].digest}"

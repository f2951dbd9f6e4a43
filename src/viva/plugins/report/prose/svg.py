"""Reduces the SVG output of a student's cell to shapes and text, for a page that shows it as a picture.

A browser runs no script of a picture and fetches nothing for it. The result has no active content anywhere else
either. Elements with a `use` cannot be used themselves, so that a small file cannot expand without limit.
"""

import base64
import re
from typing import Final
from xml.etree.ElementTree import ParseError, XMLParser
from xml.sax.saxutils import escape, quoteattr

MOST_CHARACTERS: Final = 1_000_000
_MOST_DEEP: Final = 60
_MOST_USES: Final = 5000
_SVG: Final = "{http://www.w3.org/2000/svg}"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_TAGS: Final = frozenset({
    "svg", "g", "defs", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title",
    "desc", "clipPath", "linearGradient", "radialGradient", "stop", "style", "image", "use",
})  # fmt: skip
_ATTRIBUTE: Final = re.compile(r"(?![oO][nN])[a-zA-Z][a-zA-Z-]{0,40}")
_NOT_IN_A_VALUE: Final = re.compile(r"url\(\s*['\"]?(?!#)|@import|javascript:|expression\(|\\", re.IGNORECASE)
_PICTURE: Final = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/\s]+={0,2}\s*")


def as_picture(text: str) -> str:
    """Return the drawing as a picture address, `data:image/svg+xml;base64,…`; empty if it cannot be shown."""
    drawn = drawing(text)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}" if drawn else ""


def drawing(text: str) -> str:
    """Return the drawing without active content; empty if it is not a valid SVG or is too large."""
    if len(text) > MOST_CHARACTERS or "<!ENTITY" in text:
        return ""
    writer = _Writer()
    parser = XMLParser(target=writer)  # noqa: S314  # entities are refused above, and size and nesting are limited
    try:
        parser.feed(text)
        parser.close()
    except (ParseError, ValueError, _Refused):
        return ""
    return writer.text()


class _Refused(Exception):
    """It is not an SVG drawing, or is nested too deeply."""


class _Writer:
    """The target of a parser, which writes the allowed elements."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._open: list[tuple[str, str]] = []
        """Tag and id of each open element that is written."""
        self._left_out = 0
        """The depth within an element that is left out."""
        self._style = 0
        """The index in `_parts` of the content of the last opened element; for a style sheet that is its whole text."""
        self._uses: list[tuple[int, str]] = []
        """The index in `_parts` of each `use`, and the id that it uses."""
        self._using: set[str] = set()
        """Ids of elements that contain a `use`."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.removeprefix(_SVG)
        if not self._open and not self._parts and name != "svg":
            raise _Refused
        if self._left_out or name not in _TAGS:
            self._left_out += 1
            return
        if len(self._open) >= _MOST_DEEP or len(self._uses) > _MOST_USES:
            raise _Refused
        kept = {key: value for key, value in attributes.items() if _ATTRIBUTE.fullmatch(key) and _is_calm(value)}
        kept.pop("href", None)
        link = attributes.get(_LINK) or attributes.get("href") or ""
        if name == "use":
            self._uses.append((len(self._parts), link.removeprefix("#")))
            self._using |= {id_ for _, id_ in self._open if id_} | {kept.get("id", "")}
        if (name == "image" and _PICTURE.fullmatch(link)) or (name != "image" and link.startswith("#")):
            kept["xlink:href"] = link
        space = "" if self._open else ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        written = "".join(f" {key}={quoteattr(value)}" for key, value in kept.items())
        self._parts.append(f"<{name}{space}{written}>")
        self._style = len(self._parts)
        self._open.append((name, kept.get("id", "")))

    def end(self, _tag: str) -> None:
        if self._left_out:
            self._left_out -= 1
            return
        name, _ = self._open.pop()
        if name == "style" and not _is_calm("".join(self._parts[self._style :])):
            del self._parts[self._style :]
        self._parts.append(f"</{name}>")

    def data(self, text: str) -> None:
        if self._open and not self._left_out:
            self._parts.append(escape(text))

    def close(self) -> None:
        """Do nothing; the parser calls it at the end."""

    def text(self) -> str:
        """Return the drawing, with every `use` emptied whose target contains a `use` itself."""
        for place, used in self._uses:
            if used in self._using:
                self._parts[place] = "<use>"
        return "".join(self._parts)


def _is_calm(value: str) -> bool:
    return not _NOT_IN_A_VALUE.search(value)

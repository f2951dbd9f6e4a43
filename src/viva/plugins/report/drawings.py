"""Reduce the SVG output of a student's cell to shapes and text, for a page that shows it as a picture.

A browser runs no script of a picture and fetches nothing for it. The result has no active content anywhere else
either. Elements with a `use` cannot be used themselves, so that a small file cannot expand without limit.
"""

import base64
import re
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

MAX_CHARACTERS: Final = 1_000_000
_MAX_DEPTH: Final = 60
_MAX_USES: Final = 5000
_SVG: Final = "{http://www.w3.org/2000/svg}"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_TAGS: Final = frozenset({
    "svg", "g", "defs", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title",
    "desc", "clipPath", "linearGradient", "radialGradient", "stop", "style", "image", "use",
})  # fmt: skip
_ATTRIBUTE: Final = re.compile(r"(?![oO][nN])[a-zA-Z][a-zA-Z-]{0,40}")
_UNSAFE: Final = re.compile(r"url\(\s*['\"]?(?!#)|@import|javascript:|expression\(|\\", re.IGNORECASE)
_PICTURE: Final = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/\s]+={0,2}\s*")


def encode_drawing(text: str) -> str:
    """Return a drawing as the address of a picture, `data:image/svg+xml;base64,…`; empty if it cannot be shown."""
    drawing = sanitize_drawing(text)
    return f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}" if drawing else ""


def sanitize_drawing(text: str) -> str:
    """Return a drawing without active content; empty if it is not a valid SVG or is too large."""
    if len(text) > MAX_CHARACTERS or "<!ENTITY" in text:
        return ""
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  # entities are refused above, and size and nesting are limited
        if root.tag.removeprefix(_SVG) != "svg":
            return ""
        safe = _copy(root, 0)
    except (ElementTree.ParseError, ValueError):
        return ""
    uses = list(safe.iter("use"))
    if len(uses) > _MAX_USES:
        return ""
    users = {element.get("id") for element in safe.iter() if next(element.iter("use"), None) is not None}
    for use in uses:
        if use.get("xlink:href", "").removeprefix("#") in users:
            use.attrib.clear()
    safe.attrib |= {"xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink"}
    return ElementTree.tostring(safe, "unicode")


def _copy(element: Element, depth: int) -> Element:
    """Return a copy of an element without active content.

    Raises:
        ValueError: it is nested too deeply.
    """
    if depth > _MAX_DEPTH:
        raise ValueError("too deep")
    tag = element.tag.removeprefix(_SVG)
    attributes = {
        name: value
        for name, value in element.attrib.items()
        if _ATTRIBUTE.fullmatch(name) and name != "href" and not _UNSAFE.search(value)
    }
    link = element.get(_LINK) or element.get("href") or ""
    if _PICTURE.fullmatch(link) if tag == "image" else link.startswith("#"):
        attributes["xlink:href"] = link
    copy = Element(tag, attributes)
    if tag == "style":
        sheet = "".join(element.itertext())
        copy.text = None if _UNSAFE.search(sheet) else sheet
        return copy
    copy.text = element.text
    for child in element:
        if isinstance(child.tag, str) and child.tag.removeprefix(_SVG) in _TAGS:
            copied = _copy(child, depth + 1)
            copied.tail = child.tail
            copy.append(copied)
    return copy

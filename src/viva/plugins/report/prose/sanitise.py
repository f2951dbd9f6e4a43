"""Sanitise the HTML of a student's notebook, so that no active content is left.

Markdown may contain HTML, and saved outputs are HTML; both are untrusted. The result has no script, handler, style,
form, frame or id, no address except http, https and mailto, and no class except those of highlighted code.
"""

import re
from functools import cache
from typing import Final

from viva.model.extras import missing_library
from viva.plugins.report.rendering import REPORTS_NEED

_TAGS: Final = frozenset({
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "div", "dl", "dt", "em", "hr", "i", "img",
    "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
})  # fmt: skip
_ATTRIBUTES: Final[dict[str, set[str]]] = {
    "*": set(),  # nothing for all elements: the library's default allows some
    "a": {"href", "title"},
    "img": {"src", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
_WITH_CONTENT: Final = frozenset({
    "script", "style", "template", "svg", "math", "iframe", "object", "embed", "noscript", "noembed", "noframes",
    "xmp", "title", "textarea", "select",
})  # fmt: skip
_PICTURE: Final = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/\s]{1,20000000}={0,2}\s*")
_ADDRESS: Final = re.compile(r"(?:https?://|mailto:)\S{1,2000}", re.IGNORECASE)
_HEADING: Final = re.compile(r"<(/?)h[1-6](?:\s[^<>]{0,1000})?>", re.IGNORECASE)
_ALTERNATIVE: Final = "picture in the notebook"
_NO_PICTURE: Final = f'<img alt="{_ALTERNATIVE}">'
_NUMBER: Final = re.compile(r"[0-9]{1,4}")


def sanitised(html: str) -> str:
    """Remove active content from HTML; the result is well-formed, so that it cannot close the element around it.

    Headings become bold lines, so that the outline of the page stays its own.

    Raises:
        UsageError: nh3 is not installed.
    """
    try:
        import nh3
    except ImportError as error:
        raise missing_library(REPORTS_NEED, error.name, "report") from None
    left = nh3.clean(
        _HEADING.sub(_bold, html),
        tags=set(_TAGS),
        clean_content_tags=set(_WITH_CONTENT),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_attribute,
        allowed_classes={"span": set(_colours()), "div": {"highlight"}},
        set_tag_attribute_values={"img": {"alt": _ALTERNATIVE}},
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )
    return left.replace(_NO_PICTURE, "(a picture was left out)")


def _bold(found: re.Match[str]) -> str:
    return "</strong></p>" if found[1] else "<p><strong>"


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return the value of an attribute if it is allowed: pictures must be in the page, links must lead to a site."""
    if name == "src":
        return value if _PICTURE.fullmatch(value) else None
    if name == "href":
        return value if _ADDRESS.fullmatch(value) else None
    if name in ("width", "height", "colspan", "rowspan", "start"):
        return value if _NUMBER.fullmatch(value) else None
    return value


@cache
def _colours() -> frozenset[str]:
    """Return the classes that pygments uses for highlighted code."""
    from pygments.token import STANDARD_TYPES

    return frozenset(filter(None, STANDARD_TYPES.values()))

"""Drawings of students: what is shown is a drawing, cannot act, and does not grow without end."""

import base64
import io
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from viva.plugins.report.drawings import MAX_CHARACTERS, encode_drawing, sanitize_drawing

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'


def drawn(inner: str) -> str:
    return sanitize_drawing(f'<?xml version="1.0" encoding="utf-8"?>\n{HEAD}{inner}</svg>')


def test_shapes_text_and_gradients() -> None:
    inner = (
        '<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient></defs>'
        '<g style="fill: url(#a)" transform="scale(2)"><path d="M 0 0 L 9 9" class="x"/><text x="1">a &lt; b</text></g>'
    )
    text = drawn(inner)
    assert text.startswith("<svg ") and 'd="M 0 0 L 9 9"' in text and "a &lt; b" in text and "url(#a)" in text
    assert ElementTree.fromstring(text).attrib == {"width": "9", "height": "9"}


def test_matplotlib_figure() -> None:
    from matplotlib.figure import Figure

    figure, file = Figure(), io.StringIO()
    figure.add_subplot(title="größer").plot([1, 3, 2], marker="o")
    figure.savefig(file, format="svg")
    before, after = ElementTree.fromstring(file.getvalue()), ElementTree.fromstring(sanitize_drawing(file.getvalue()))
    for tag in ("path", "use", "g", "clipPath"):
        found = before.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")
        kept = after.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")
        assert len(found) == len(kept) > 0
        link = "{http://www.w3.org/1999/xlink}href"
        assert [e.get(link) for e in kept] == [e.get(link) for e in found]


def test_missing_namespace() -> None:
    assert 'xmlns="http://www.w3.org/2000/svg"' in sanitize_drawing('<svg><rect width="3"/></svg>')


@pytest.mark.parametrize(
    "inner",
    [
        "<script>owned()</script>",
        '<g onclick="owned()"/>',
        '<g ONLOAD="owned()"/>',
        "<foreignObject><b xmlns='http://www.w3.org/1999/xhtml' onclick='owned()'>owned()</b></foreignObject>",
        "<animate attributeName='href' to='javascript:owned()'/>",
        "<set attributeName='onload' to='owned()'/>",
        "<use xlink:href='https://example.org/owned().svg#a'/>",
        "<image xlink:href='data:image/svg+xml;base64,b3duZWQoKQ=='/>",
        "<image href='https://example.org/owned().png'/>",
        "<a xlink:href='javascript:owned()'>owned()</a>",
        "<style>@import 'https://example.org/owned()';</style>",
        "<style>@im&#112;ort 'https://example.org/owned()';</style>",
        "<style>@i\\6dport 'https://example.org/owned()';</style>",
        "<style>a{}<g/>@import url(https://example.org/owned());</style>",
        "<style>@im<g/>port 'https://example.org/owned()';</style>",
        "<g style='fill: url(https://example.org/owned())'/>",
        "<g fill='url( \"data:,owned()\" )'/>",
        "<!-- owned() --><?xml-stylesheet href='owned()'?><![CDATA[]]>",
        "<filter><feImage xlink:href='https://example.org/owned()'/></filter>",
        "<h:script xmlns:h='http://www.w3.org/1999/xhtml'>owned()</h:script>",
        "<metadata>owned()</metadata>",
    ],
)
def test_active_content(inner: str) -> None:
    text = drawn(f"<path d='M0 0'/>{inner}<path d='M1 1'/>")
    assert "owned" not in text and text.count("<path") == 2


def test_nested_uses() -> None:
    """Ten levels of ten would be ten thousand million shapes."""
    uses = ["".join(f"<use xlink:href='#g{n - 1}'/>" for _ in range(10)) for n in range(1, 11)]
    levels = "".join(f"<g id='g{n}'>{use}</g>" for n, use in enumerate(uses, 1))
    text = drawn(f"<g id='g0'><path d='M0 0'/></g>{levels}<use id='u' xlink:href='#u'/>")
    assert text.count('href="#g0"') == 10 and text.count("href=") == 10


@pytest.mark.parametrize(
    "text",
    [
        "", "no drawing", "<svg", "<html><svg/></html>", f"{HEAD}<g></svg>", f"{HEAD}{'<g>' * 100}{'</g>' * 100}</svg>",
        f'<!DOCTYPE svg [<!ENTITY a "aaaa">]>{HEAD}&a;</svg>', f"{HEAD}&nothing;</svg>", f"{HEAD}\x00</svg>",
        f"{HEAD}\ud800</svg>", f"{HEAD}{'<use/>' * 6000}</svg>", f"{HEAD}{' ' * MAX_CHARACTERS}</svg>",
    ],
    ids=lambda text: repr(text[:20] + text[-10:]),
)  # fmt: skip
def test_no_drawing(text: str) -> None:
    assert encode_drawing(text) == ""


@given(st.text(st.characters(codec="utf-8"), max_size=30), st.sampled_from(["id", "d", "style", "onload", "x:href"]))
@example('"><script>', "d")
def test_any_attribute(value: str, name: str) -> None:
    text = drawn(f"<g {name}={quoteattr(value)}>{value}</g>")
    if text:
        assert {e.tag.rpartition("}")[2] for e in ElementTree.fromstring(text).iter()} <= {"svg", "g"}
        kind, _, data = encode_drawing(text).partition(",")
        assert kind == "data:image/svg+xml;base64" and base64.b64decode(data)

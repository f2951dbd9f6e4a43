"""What is left of hostile HTML can only be read. (A browser tries the same payloads in test_browser_long.py.)"""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as draw

from tests.support.hostile_notebooks import PAYLOADS
from tests.support.table_rows import Rows
from viva.plugins.report.prose.sanitise import sanitised

MAY_BE = {
    "a": {"href", "title", "rel"}, "img": {"src", "width", "height", "alt"}, "span": {"class"}, "div": {"class"},
    "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "ol": {"start"},
}  # fmt: skip
NEVER = {"script", "style", "svg", "math", "iframe", "object", "embed", "form", "input", "base", "meta", "link", "h1"}


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "an element ends that was not the last to begin"


def harmless(html: str) -> None:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    for tag, attributes in reader.found:
        assert tag not in NEVER
        assert set(attributes) <= MAY_BE.get(tag, set()), (tag, attributes)
        assert attributes.get("href", "https://").lower().startswith(("http://", "https://", "mailto:"))
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/")
        assert "svg" not in attributes.get("src", "")


def test_payloads_are_harmless_html() -> None:
    with Rows() as row:
        for payload in PAYLOADS:
            with row(payload[:60]):
                harmless(sanitised(payload))


@given(draw.lists(draw.sampled_from([*PAYLOADS, "<", ">", '"', "'", "</p>", "<p", "x", "&lt;", "<h1>", "</h1>"])))
def test_combined_payloads(parts: list[str]) -> None:
    harmless(sanitised("".join(parts)))


def test_harmless_html() -> None:
    html = '<p>An <em>answer</em>, <a href="https://example.org/a">a source</a>.</p><table><tbody><tr><td>1</td></tr>'
    found = sanitised(html)
    assert "<em>answer</em>" in found and 'href="https://example.org/a"' in found and "<td>1</td>" in found
    assert sanitised('<img src="data:image/png;base64,iVBORw0KGgo=">').count("iVBORw0KGgo=") == 1
    assert sanitised("<img src=https://example.org/track.png>") == "(a picture was left out)"
    assert sanitised("<h1 id='x'>Title</h1>") == "<p><strong>Title</strong></p>"


def test_only_classes_of_highlighting_stay() -> None:
    assert sanitised('<span class="k mark warn">x</span><div class="mark highlight">y</div>') == (
        '<span class="k">x</span><div class="highlight">y</div>'
    )


def test_huge_html() -> None:
    for html in ("<b>" * 20_000, "<div><p>" * 5_000, "<table><tr><td>" * 500, "<!--" * 10_000, "<a href='" * 5_000):
        assert len(sanitised(html)) < 1_000_000

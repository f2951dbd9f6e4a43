"""The report as text and as a page: they say the same, every status has its word, no tag comes from a student."""

from fractions import Fraction
from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st

from viva.model import Case, Entry, Score, Status
from viva.plugins.selfcheck.check_report import Report
from viva.plugins.selfcheck.not_included import LeftOut

TAGS = {"section", "table", "caption", "thead", "tbody", "tr", "th", "td", "span", "pre", "p", "ul", "li"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails where an element is not closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.cells: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if {"td", "th"} & set(self._open):
            self.cells[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_pi = handle_comment

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def entry(status: Status, message: str = "", name: str = "Asked.", number: str = "1.1") -> Entry:
    earned = Fraction(2) if status is Status.PASSED else Fraction(0)
    case = Case("", status, earned, Fraction(2), message)
    return Entry(f"t.py::test_{status}", name, number, "visible", status, earned, Fraction(2), (case,))


def report(*entries: Entry, notes: tuple[str, ...] = (), name: str = "work.ipynb") -> Report:
    score = Score(name, "", "words", 1, entries, notes)
    left = [LeftOut("hidden tests", 2, Fraction(18))]
    return Report(score, left, took_s=0.1, shown={e.test_id for e in entries})


def test_status_words_and_headings() -> None:
    made = report(*(entry(status, "why") for status in Status))
    page = Page(made._repr_html_())
    head, *rows = page.cells
    assert head == ["Result", "Points", "Question", "Test and feedback"]
    for status, row in zip(Status, rows, strict=True):
        assert row[0] == f"{status.symbol} {status.value.replace('_', ' ')}"
        assert row[1] == (
            "2 points, not graded yet" if status.is_open else f"{2 * (status is Status.PASSED)} of 2 points"
        )
    assert ("th", "scope", "col") in page.attributes and ("th", "scope", "row") in page.attributes
    assert any(
        tag == "section" and name == "aria-label" and "of 12 points" in value for tag, name, value in page.attributes
    )
    assert page.tags.count("caption") == 1


def test_page_without_colour_and_script() -> None:
    page = Page(report(entry(Status.FAILED, "no"))._repr_html_())
    assert set(page.tags) <= TAGS
    for _, name, value in page.attributes:
        assert not name.startswith("on") and name not in ("src", "href")
        if name == "style":
            colours = [
                p.split(":", 1)[1].strip() for p in value.split(";") if "color" in p.split(":")[0] or "background" in p
            ]
            assert set(colours) <= {"inherit", "none"}


@given(st.text(max_size=40))
@example("<script>alert(1)</script>")
@example("</pre></table><img src=x onerror=a>")
@example('" onmouseover="a')
@example("&lt;b&gt; \x1b[31m \u202e")
def test_text_of_student_opens_no_tag(text: str) -> None:
    def page(words: str) -> Page:
        return Page(report(entry(Status.FAILED, words, words, words), notes=(words,), name=words)._repr_html_())

    plain, made = page("x"), page(f"x{text}")
    assert made.tags == plain.tags
    assert [attribute[:2] for attribute in made.attributes] == [attribute[:2] for attribute in plain.attributes]


def test_text_and_page_agree() -> None:
    made = report(entry(Status.FAILED, "first\nsecond"), entry(Status.PASSED), notes=("a note",))
    bundle = made._repr_mimebundle_()
    assert bundle.keys() == {"text/plain", "text/html"} and bundle["text/plain"] == str(made) == repr(made)
    shown = " ".join(Page(bundle["text/html"]).text).split()
    for words in ("failed", "passed", "first", "second", "a note", "18 points of hidden tests", "2 of 4 points"):
        assert all(word in shown or word in " ".join(shown) for word in words.split())
        assert words in " ".join(bundle["text/plain"].split())

"""report.html: what is in it, in which order, and that it needs nothing and no one."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tests.support.report_class import assignment, entry, large_class, marked, shares
from viva.model import ScoredAttempt, Status, Student
from viva.plugins.report.class_page import render_class_page

ASSIGNMENT = assignment()


class Outline(HTMLParser):
    """Headings, links, and every element, checked to be closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")
            if name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
                self.addresses.append(value or "")
            assert not name.startswith("on") and name != "style"
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in ("meta", "br", "img", "link", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(*marked_: ScoredAttempt) -> tuple[str, Outline]:
    html = render_class_page(marked_, ASSIGNMENT).decode()
    return html, Outline(html)


def section(html: str, name: str) -> str:
    found = re.search(rf'<section[^>]* id="{name}"|<section id="{name}"', html)
    assert found
    return html[found.start() : html.index("</section>", found.start())]


@pytest.mark.parametrize("size", [0, 1, 9, 60])
def test_outline_and_links(size: int) -> None:
    html, found = outline(*large_class(size))
    assert found.open == []
    assert found.headings[0] == 1 and found.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(found.headings, found.headings[1:], strict=False))
    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert [link for link in found.addresses if not link.startswith("#")] == ["report.csv"]
    assert not {"script", "iframe", "object", "link"} & set(found.tags)
    assert "url(" not in html and "@import" not in html and "http" not in html.replace("http-equiv", "")


def test_grader_errors_come_first() -> None:
    broken = marked("eve", entry("1.1", Status.GRADER_ERROR, staff="OSError: no space"))
    html, found = outline(*shares([[1.0]] * 10), broken)
    assert found.ids[1] == "faults"
    assert "OSError: no space" in section(html, "faults")
    assert "No grader errors." not in html and "No grader errors." in outline(*shares([[1.0]]))[0]


def test_equal_totals() -> None:
    html, _ = outline(*shares([[1.0, 1.0]] * 12))
    assert "nan" not in re.sub(r"<style>.*?</style>", "", html, flags=re.S).lower().replace("finance", "")
    assert "not defined: all totals are equal" in section(html, "reliability") and "–" in section(html, "reliability")


def test_hardest_question_comes_first() -> None:
    html, _ = outline(*shares([[1, 0.5, 0], [1, 1, 0], [1, 1, 0.5]]))
    rows = re.findall(
        r'<th scope="row">(1\.\d)</th><td class="wide">[^<]+</td><td class="n">([^<]+)</td>', section(html, "questions")
    )
    assert [(number, share.split()[0]) for number, share in rows] == [("1.3", "17"), ("1.2", "83"), ("1.1", "100")]
    assert "2 of 3" in section(html, "questions")
    assert section(html, "totals").count('class="track"') == 3, "a bar for each question"


def test_attention_lists_low_scores_and_errors() -> None:
    low = marked("low", entry("1.1"), entry("1.2", Status.FAILED), entry("1.3", Status.FAILED))
    nothing = marked("nothing", entry("1.1", Status.FAILED), notes=("cell 3 raised NameError.\nmore",))
    old = marked("old", entry("1.1", Status.ERROR), environment=("transformers 5.23.0 lacks encode_plus",))
    pending = marked("pending", entry("1.1"), entry("1.2", Status.NEEDS_REVIEW, points=20))
    told = section(outline(low, nothing, old, pending)[0], "attention")
    assert re.findall(r'<th scope="row">(\w+)</th>', told) == ["nothing", "old", "low"]
    assert "lost most points in 1.2, 1.3" in told
    assert "cell 3 raised NameError." in told and "needs another environment: transformers 5.23.0" in told
    fine = section(outline(pending)[0], "attention")
    assert "No one: every submission" in fine and "<table" not in fine


def test_missing_students_of_the_roster_are_counted() -> None:
    told = {
        roster: section(render_class_page([marked("ada", entry("1.1"))], ASSIGNMENT, missing).decode(), "attention")
        for roster, missing in {"none": None, "all": [], "one": [Student("1", "Grace")]}.items()
    }
    assert "roster" not in told["none"] and "every submission has at least half" in told["none"]
    assert "every student on the roster has submitted, and every submission" in told["all"]
    assert "1 student on the roster has not submitted" in told["one"] and "No one" not in told["one"]


def test_hostile_texts() -> None:
    bad = "</td><script>owned()</script>{{ 7*7 }}\x1b]0;x\x07\u202e"
    one = marked(bad, entry("1.1", Status.GRADER_ERROR, staff=bad), entry("1.2", Status.ERROR, message=bad, name=bad),
                 entry("1.2", Status.ERROR, message=bad, test="b"), environment=(bad,))  # fmt: skip
    twin = replace(one, attempt=replace(one.attempt, name=f"{bad}2"))
    html, found = outline(one, twin)
    assert "script" not in found.tags and "49" not in section(html, "wrong")
    assert "\x1b" not in html and "\u202e" not in html


def test_links_to_feedback() -> None:
    html = render_class_page([marked("wrong/Zoë #1?&.zip", entry("1"))], ASSIGNMENT, feedback=True).decode()
    assert 'href="feedback/wrong/Zo%C3%AB%20%231%3F%26.zip.html"' in html

"""The pages next to grading: decisions, regrade requests, and tables of grades."""

import re
from typing import Any

import pytest

from tests.support.review_class import NAME, hash_of
from tests.support.review_pages import DECIDE, HERE, mark
from tests.support.review_queues import ITEMS, QUESTION, Pages, Person
from viva.model.hand_grading import FIRST, SECOND

# --- decisions and requests


def test_request_and_decision(pages: Pages, ada: Person) -> None:
    mark(ada, HERE, "limits")
    noted = ada.send(f"{DECIDE}/request", request="  <b>It</b> is there.\r\nLook again. ")
    assert noted.headers["location"] == f"{DECIDE}?note=noted&named=yes"
    page = ada.get(noted.headers["location"]).body
    assert "The request is noted." in page and "&lt;b&gt;It&lt;/b&gt; is there.\nLook again." in page
    assert "waiting: " in ada.get("/appeals").body and "1 waiting" in ada.get("/").body
    assert "waiting" in ada.get("/students?find=id0000").body
    decided = ada.send(DECIDE, items=ITEMS[2:4], adjust="0,5", comment="You are right.", why="it is there", seen="0")
    assert decided.status == 303
    page = ada.get(decided.headers["location"]).body
    assert "2.5 of 4" in page and "Reason: it is there" in page and "You are right." in page
    assert "decided: " in ada.get("/appeals").body and "0 waiting" in ada.get("/").body
    assert "2.5 of 4" in ada.get("/students?find=id0000").body


def test_disagreement_presets_nothing(pages: Pages) -> None:
    """What the first marker has ticked would influence who decides between the two."""
    one, two = pages.person("Ada", FIRST), pages.person("Grace", SECOND)
    mark(one, HERE, "limits")
    mark(two, HERE, "limit")
    page = two.get(DECIDE).body
    assert 'name="items"' in page and " checked" not in page.partition('class="marks"')[2].partition("</main>")[0]


def test_undo_of_a_decision(pages: Pages, ada: Person) -> None:
    mark(ada, HERE, "limits")
    ada.send(DECIDE, items="roles", why="seen again", seen="0")
    undone = ada.send("/undo")
    assert undone.headers["location"] == f"{DECIDE}?note=undone"
    page = ada.get(undone.headers["location"]).body
    assert "What you did last was taken back." in page and "Reason: seen again" in page
    assert ada.send("/undo").headers["location"] == f"{HERE}?note=undone"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"why": ""}, "A decision needs a reason."),
        ({"why": "x", "items": ("limits", "limit")}, "exclude each other"),
        ({"why": "x" * 2001}, "The reason has 2,001 characters; write at most 2,000."),
        ({"why": "x", "seen": "99"}, "changed in the meantime"),
    ],
)
def test_refused_decision_keeps_the_form(pages: Pages, ada: Person, fields: dict[str, Any], sentence: str) -> None:
    mark(ada, HERE, "answers")
    typed = {"items": "roles", "adjust": "-0.5", "comment": "My <comment>", "seen": "0", **fields}
    page = ada.send(DECIDE, **typed)
    assert page.status == 422 and sentence in page.body and 'role="alert"' in page.body
    assert [row.place.kind for row in pages.queue.decisions.current()] == ["mark"]
    assert f'name="adjust" inputmode="decimal" autocomplete="off" size="6" value="{typed["adjust"]}"' in page.body
    assert "\nMy &lt;comment&gt;</textarea>" in page.body
    if "items" not in fields:
        assert re.findall(r'value="(\w+)" checked', page.body) == ["roles"]
    assert f"\n{fields['why']}</textarea>" in page.body or not fields["why"].strip()


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ("y" * 5001, "The request has 5,001 characters; write at most 5,000."),
        (" \r\n ", "needs its text"),
    ],
)
def test_refused_request(pages: Pages, ada: Person, request_: str, sentence: str) -> None:
    page = ada.send(f"{DECIDE}/request", request=request_)
    assert page.status == 422 and sentence in page.body and pages.queue.decisions.appealed() == {}
    assert request_.strip() in page.body


def test_find_students(ada: Person) -> None:
    for find in ("ID0002", "alan", "s0002", " Lovelace "):
        body = ada.get(f"/students?find={find.replace(' ', '+')}").body
        assert f"/decide/{QUESTION}/{hash_of(2)}?named=yes" in body, find
    for find in ("%00", "x" * 5000, "%ED%A0%80", "<script>alert(1)</script>"):
        page = ada.get(f"/students?find={find}")
        assert page.status == 200 and "<script>alert" not in page.body and "\0" not in page.body


# --- tables


def test_table_download_and_upload(pages: Pages, ada: Person, grace: Person) -> None:
    mark(grace, HERE, "roles", comment="from a page")
    out = ada.get("/marks.csv")
    assert out.headers["content-disposition"] == f'attachment; filename="{NAME}-marks.csv"'
    assert out.headers["content-type"].startswith("text/csv")
    again = ada.upload(out.body.encode())
    assert again.status == 200 and "0 grades taken" in again.body
    lines = out.body.split("\r\n")
    at = next(n for n, line in enumerate(lines) if line.startswith(hash_of(9)) and "2.1" in line)
    filled = lines[at].split(",")
    assert filled[2:] == [""] * 7
    filled[3], filled[5], filled[6] = "limits", "from a table", "yes"
    taken = ada.upload("\r\n".join([lines[0], ",".join(filled)]).encode())
    assert taken.status == 200 and "1 grade taken" in taken.body
    (row,) = [row for row in pages.queue.decisions.current() if row.place.round == FIRST]
    assert (float(row.judgement.earned), row.judgement.comment, row.by) == (1, "from a table", "Ada")
    own = pages.person("Ada", SECOND).upload("\r\n".join([lines[0], ",".join(filled)]).encode())
    assert own.status == 422 and "someone else has to give" in own.body
    late = grace.upload("\r\n".join([lines[0], ",".join(filled)]).encode())
    assert late.status == 200 and "1 grade taken" in late.body, "her own round knows nothing of it"
    second = {row.place.content_hash: row for row in pages.queue.decisions.current() if row.place.round == SECOND}
    assert second[hash_of(9)].by == "Grace" and second[hash_of(9)].judgement.comment == "from a table"
    assert "-marks-second.csv" in grace.get("/marks.csv").headers["content-disposition"]


def test_unreadable_table(pages: Pages, ada: Person) -> None:
    header = b"submission,question,answer,items,adjust,comment,done,seen\r\n"
    for data, sentence in [
        (b"<script>alert(1)</script>", "no column"),
        (header + b"<b>,2.1,,,,,yes,\r\n", "row 2: there is no answer"),
    ]:
        page = ada.upload(data)
        assert page.status == 422 and sentence in page.body
        assert "<script>alert" not in page.body and "<b>" not in page.body.partition("<main")[2]
    assert pages.queue.decisions.current() == []


def test_upload_without_a_table(ada: Person) -> None:
    assert ada.upload(b"x", "other").status == 422
    assert ada.send("/marks.csv").status == 422
    assert ada.upload(bytes(17 << 20)).status == 413

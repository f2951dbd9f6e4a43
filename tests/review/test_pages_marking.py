"""The pages on which answers are marked: one, a group of them, and back."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.review_class import NAME, hash_of
from tests.support.review_pages import HERE, ONE, OTHER, SIZE, mark
from tests.support.review_queues import ITEMS, QUESTION, Pages, Person, hidden, pages_of, queue_at, reader
from viva.model.hand_grading import FIRST, SECOND, Judgement, Place
from viva.model.reason import Reason
from viva.plugins.records import hand_grading

# --- marking


def test_saved_form_is_shown_again(pages: Pages, ada: Person) -> None:
    assert (
        ada.send(
            HERE, items=ITEMS[:1], adjust="-1/2", comment='\r\nOne\r\n<two> & "three"\r\n', finish="", seen="0"
        ).headers["location"]
        == HERE
    )
    page = ada.get(HERE).body
    assert re.search(r'value="limits" checked', page) and 'value="-1/2"' in page
    assert "\nOne\n&lt;two&gt; &amp; &#34;three&#34;</textarea>" in page and "draft" in page
    there = pages.queue.decisions.at(pages.queue.decisions.current()[0].place)
    assert there is not None and there.judgement.comment == 'One\n<two> & "three"' and there.by == "Ada"
    assert hidden(page, "seen") == str(there.id)


def test_fragment_for_scripts(ada: Person) -> None:
    kept = ada.send(HERE, script=True, items=ITEMS[2:4], seen="0", action="a")
    assert kept.status == 200 and kept.body.lstrip().startswith('<div id="saved">')
    assert "<strong>2</strong> of 4 points" in kept.body and ">draft<" in kept.body
    done = ada.send(HERE, script=True, items=ITEMS[2:4], done="yes", seen=hidden(kept.body, "seen"), action="b")
    assert ">graded<" in done.body and hidden(done.body, "action") not in ("a", "b")
    gone = ada.send(HERE, script=True, items=ITEMS[2:4], done="yes", then="next", seen=hidden(done.body, "seen"))
    assert gone.status == 200 and re.fullmatch(rf"/q/{QUESTION}/[0-9a-f]{{64}}", gone.headers["hx-redirect"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"items": ("limits", "limit")}, "exclude each other"),
        ({"items": "nothing"}, "no rubric item `nothing`"),
        ({"items": "\0<b>"}, "no rubric item"),
        ({"adjust": "much"}, "`much` is not a number of points"),
        ({"adjust": "9" * 5000}, "is not a number of points"),
        ({"comment": "x" * 20_001}, "The comment has 20,001 characters"),
    ],
)
def test_refused_grade(pages: Pages, ada: Person, fields: dict[str, Any], sentence: str) -> None:
    fragment = ada.send(HERE, script=True, seen="0", **fields)
    assert fragment.status == 422 and fragment.body.lstrip().startswith('<div id="saved">')
    assert sentence in fragment.body and 'role="alert"' in fragment.body and hidden(fragment.body, "seen") == "0"
    page = ada.send(HERE, finish="yes", seen="0", **fields)
    assert page.status == 422 and "The grade was not saved" in page.body and sentence in page.body
    assert pages.queue.decisions.current() == [] and "<b>" not in page.body


def test_refused_grade_sees_nothing(pages: Pages, ada: Person) -> None:
    mark(pages.person("Alan"), HERE, "limits")
    refused = ada.send(HERE, script=True, adjust="much", seen="0")
    assert (refused.status, hidden(refused.body, "seen")) == (422, "0")
    assert ada.send(HERE, script=True, items="roles", seen="0").status == 409


@pytest.mark.parametrize("seen", ["abc", "", "1.5", "9" * 5000, "\0"])
def test_invalid_seen_field(pages: Pages, ada: Person, seen: str) -> None:
    sent = ada.send(HERE, seen=seen, comment="x")
    assert sent.status in (422, 409) or (seen == "" and sent.status == 303)
    assert "Traceback" not in sent.body


@pytest.mark.parametrize("seen", ["7", "-1", str(10**30)])
def test_concurrent_grade(pages: Pages, ada: Person, seen: str) -> None:
    other = pages.person("Alan")
    mark(other, HERE, "limits", comment="by Alan")
    theirs = str(pages.queue.decisions.current()[0].id)
    told = ada.send(HERE, script=True, items="roles", comment="by Ada", seen=seen, action="a")
    assert told.status == 409 and "by Alan" in told.body and f'data-mine="{theirs}"' in told.body
    assert hidden(told.body, "seen") == seen, "nothing is overwritten before she has chosen"
    again = ada.send(HERE, script=True, items="roles", comment="by Ada", seen=hidden(told.body, "seen"), action="b")
    assert again.status == 409
    page = ada.send(HERE, items="roles", comment="by Ada", finish="yes", seen=seen)
    assert page.status == 409 and "The grade was not saved" in page.body
    mine = ada.send(HERE, script=True, items="roles", comment="by Ada", seen=theirs, action=hidden(told.body, "action"))
    assert mine.status == 200 and pages.queue.decisions.current()[0].by == "Ada"


def test_lost_reply_shows_the_own_row(pages: Pages, ada: Person) -> None:
    """Else her page would have seen what Alan said since, and go over it without a word."""
    first = ada.send(HERE, script=True, items="limits", seen="0", action="a")
    mark(pages.person("Alan"), HERE, "roles", seen=int(hidden(first.body, "seen")))
    again = ada.send(HERE, script=True, items="limits", seen="0", action="a")
    assert hidden(again.body, "seen") == hidden(first.body, "seen")
    assert ada.send(HERE, script=True, items="answers", seen=hidden(again.body, "seen"), action="b").status == 409


def test_large_fields(pages: Pages, ada: Person) -> None:
    long = "x" * 900_000
    assert ada.send(HERE, seen="0", action=long, finish="yes").status == 303
    assert pages.queue.decisions.current()[0].action == long[:64]
    assert ada.send(HERE, script=True, comment=long).status == 422
    assert ada.send(HERE, comment="x" * 1_100_000).status == 413
    assert ada.send(f"/q/{QUESTION}/{hash_of(3)}", items=["limits"] * 900).status == 303
    assert ada.send(f"/q/{QUESTION}/{hash_of(3)}", items=["limits"] * 1100).status in (303, 400, 422)


def test_invalid_bytes(pages: Pages, ada: Person) -> None:
    csrf = ada.csrf.encode()
    for comment in (b"%ff%fe", b"\xff\xfe", b"%00", b"%ED%A0%80", b"a%0d%0ab%1b[2J%E2%80%AE"):
        seen = str(pages.queue.decisions.current()[0].id if pages.queue.decisions.current() else 0).encode()
        sent = ada.browser.ask("POST", HERE, b"csrf=" + csrf + b"&seen=" + seen + b"&comment=" + comment,
                               content_type="application/x-www-form-urlencoded")  # fmt: skip
        assert sent.status == 303, comment
        page = ada.get(HERE)
        assert page.status == 200 and not set(page.body) & set("\0\x1b\u202e")
    body = b'--b\r\nContent-Disposition: form-data; name="comment"\r\n\r\n+2AA-\r\n--b--\r\n'
    sent = ada.browser.ask("POST", HERE, body, content_type="multipart/form-data; boundary=b; charset=utf-7",
                           x_csrf_token=ada.csrf)  # fmt: skip
    assert sent.status in (303, 400, 409, 422) and ada.get(HERE).status == 200


def test_page_number_out_of_range(ada: Person) -> None:
    for page in ("-1", "0", "1", str(10**30), "2"):
        body = ada.get(f"/q/{QUESTION}/all?page={page}").body
        assert body.count("<li") >= SIZE and body.count(f"/q/{QUESTION}/") >= SIZE, page
    for page in ("x", "", "1.5", "9" * 5000):
        assert ada.get(f"/q/{QUESTION}/all?page={page}").status == 422


# --- groups


def test_group_gets_the_judgement_of_one_answer(pages: Pages, ada: Person) -> None:
    assert "Grade this answer first" in ada.get(f"{ONE}/group").body
    refused = ada.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0")
    assert "Grade this answer first" in refused.body and pages.queue.decisions.current() == []
    mark(ada, ONE, "limits", comment="The same for all.")
    page = ada.get(f"{ONE}/group").body
    assert f'value="{hash_of(8)} 0" checked' in page and hash_of(0) not in page and "The same for all." in page
    sent = ada.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0", action=hidden(page, "action"))
    assert sent.status == 303
    there = pages.queue.decisions.at(
        next(r.place for r in pages.queue.decisions.current() if r.place.content_hash == hash_of(8))
    )
    assert there is not None and (there.judgement.items, there.judgement.comment) == (("limits",), "The same for all.")
    again = ada.get(f"{ONE}/group").body
    assert f'value="{hash_of(8)} {there.id}"' in again
    assert " checked" not in again.partition("Those like it")[2].partition("</main>")[0] and "graded: 1 of 4" in again


@pytest.mark.parametrize(
    "chosen",
    [
        f"{hash_of(0)} 0", f"{hash_of(77)} 0", f"{hash_of(3)} 0", hash_of(8), f"{hash_of(8)} x", f"{hash_of(8)} -1", "",
        f"{hash_of(8)} {'9' * 5000}", f"{hash_of(8)} 0 0", f"{hash_of(8)} ²", "\0 0", " ",
    ],
)  # fmt: skip
def test_forged_group(pages: Pages, ada: Person, chosen: str) -> None:
    mark(ada, ONE, "limits")
    sent = ada.send(f"{ONE}/group", chosen=chosen, action="forged")
    assert sent.status in (303, 409), sent.body
    assert {row.place.content_hash for row in pages.queue.decisions.current()} == {hash_of(3)}


def test_group_changed_meanwhile(pages: Pages, ada: Person) -> None:
    mark(ada, ONE, "limits")
    mark(pages.person("Alan"), OTHER, "roles")
    sent = ada.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0")
    assert sent.status == 409 and "by Alan" in sent.body
    marks = {row.place.content_hash: row.judgement.items for row in pages.queue.decisions.current()}
    assert marks == {hash_of(3): ("limits",), hash_of(8): ("roles",)}


def test_group_in_the_second_round(pages: Pages) -> None:
    """She would agree with herself."""
    mark(pages.person("Grace"), OTHER, "limits")
    grace = pages.person("Grace", SECOND)
    mark(grace, ONE, "limits")
    assert hash_of(8) not in grace.get(f"{ONE}/group").body
    assert "like this one" not in grace.get(f"{ONE}/similar").body
    grace.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0")
    by_its_address = grace.send(OTHER, items="roles", finish="yes", seen="0")
    assert by_its_address.status == 422 and "someone else has to give" in by_its_address.body
    assert pages.queue.progress(QUESTION, SECOND).done == 1


# --- undo


def test_undo_returns_to_the_answer(pages: Pages, ada: Person) -> None:
    mark(ada, HERE, "limits")
    undone = ada.send("/undo")
    assert (undone.status, undone.headers["location"]) == (303, f"{HERE}?note=undone")
    assert "What you did last was taken back." in ada.get(undone.headers["location"]).body
    nothing = ada.send("/undo")
    assert nothing.status == 200 and "Nothing to take back" in nothing.body
    assert ada.send("/undo", script=True).status == 200


def test_undo_of_a_missing_answer(file: Path) -> None:
    with reader(file) as records:
        hand_grading.append(records, NAME, "a", [(Place("f" * 64, QUESTION), Judgement(done=True))], Reason("Ada"))
    with queue_at(file) as queue, pages_of(queue) as running:
        undone = running.person().send("/undo")
        assert undone.status == 200 and "was taken back" in undone.body and "Nothing" not in undone.body
        assert queue.decisions.done(QUESTION, FIRST) == set()

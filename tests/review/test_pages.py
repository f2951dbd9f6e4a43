"""The pages of `viva review`: what they say to whom, and that nothing which is sent to them does harm."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from desks import ITEMS, QUESTION, Pages, Person, answer_of, desk_at, hidden, pages_of, reader
from review_class import NAME, delivery_of, fill, hash_of, rubric

from viva.model.review import FIRST, SECOND
from viva.records import reviews
from viva.review.web import visit

SIZE = 10
ALIKE = (3, 8)
"""Students who write nearly the same."""
HERE = f"/q/{QUESTION}/{hash_of(0)}"
DECIDE = f"/decide/{QUESTION}/{hash_of(0)}"
NUMBERS = [question.number for question in rubric().questions]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of a class, which nobody writes to."""
    file = tmp_path_factory.mktemp("class") / "records.db"
    with reader(file) as records:
        fill(records, SIZE, file.parent / "class")
    return file


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    """A copy for one test."""
    return Path(shutil.copy(made, tmp_path / "records.db"))


@pytest.fixture
def pages(file: Path) -> Iterator[Pages]:
    with desk_at(file) as desk, pages_of(desk) as running:
        yield running


@pytest.fixture
def ada(pages: Pages) -> Person:
    return pages.person()


@pytest.fixture
def grace(pages: Pages) -> Person:
    """The second marker."""
    return pages.person("Grace", SECOND)


def mark(person: Person, path: str = HERE, *items: str, comment: str = "", seen: int = 0) -> None:
    """Mark an answer by its form."""
    sent = person.send(path, items=items, comment=comment, finish="yes", seen=str(seen))
    assert sent.status == 303, sent.body


def parts(path: str = HERE) -> list[str]:
    return [path, *(f"{path}/{part}" for part in ("name", "similar", "notebook", "history", "group"))]


# --- every page


PAGES = [
    ("/", "Translation and masks", "Question"),
    ("/?token=old", "written answers", "Requests"),
    (f"/q/{QUESTION}/all", "0 of 10 marked", "not marked"),
    (f"/q/{QUESTION}/all?done=yes", "that is yours to mark is marked", "0 of 10 marked"),
    (HERE, "Model answer", "Done, next"),
    (f"{HERE}?note=undone", "What you did last was taken back.", "Done, next"),
    (f"{HERE}?note=<b>", "Model answer", "Done, next"),
    (f"{HERE}/name", delivery_of(0).students[0].name, delivery_of(0).students[0].id),
    (f"/q/{QUESTION}/{hash_of(3)}/similar", "1 answer like this one", "/group"),
    (f"{HERE}/notebook", "<p>", "."),
    (f"{HERE}/history", "Nothing yet.", "dim"),
    (f"{HERE}/group", "This answer is not marked yet", "Mark this answer first"),
    ("/agreement", "Agreement of first and second markers", QUESTION),
    ("/differing", "Disagreements of two markers", "There are none."),
    ("/appeals", "Requests for another look", "There are none."),
    ("/students", "Name, id or email", "Find"),
    ("/students?find=id0002", delivery_of(2).students[0].name, f"/decide/{QUESTION}/{hash_of(2)}?named=yes"),
    ("/students?find=nobody", "No student was found.", "nobody"),
    (DECIDE, "Mark this answer first", "who decides must not be led"),
    (f"{DECIDE}?named=yes", "Note a request", delivery_of(0).students[0].name),
    ("/table", "Download all answers and marks as CSV", "Upload a table that was filled in"),
    ("/marks.csv", "submission,question,answer,items", hash_of(9)),
]


@pytest.mark.parametrize("round", [FIRST, SECOND])
def test_every_page_is_there_for_both_markers(pages: Pages, round: int) -> None:
    person = pages.person("Ada", round)
    for path, *essentials in PAGES:
        page = person.get(path)
        assert page.status == 200, path
        assert all(each in page.body for each in essentials), (path, page.body)
        assert (
            page.headers["cache-control"] == "no-store"
            and "script-src 'self'" in page.headers["content-security-policy"]
        )
        if page.body.startswith("<!doctype"):
            assert page.body.count("</html>") == 1 and ("second marker" in page.body.partition("<main")[0]) is (
                round == SECOND
            )


def test_the_next_answer_is_led_to(pages: Pages, ada: Person) -> None:
    answers = pages.desk.answers[QUESTION]
    for place, answer in enumerate(answers):
        led = ada.get(f"/q/{QUESTION}")
        assert (led.status, led.headers["location"]) == (303, f"/q/{QUESTION}/{answer.content_hash}")
        page = ada.get(led.headers["location"])
        assert f"answer {place + 1} of {SIZE}" in page.body and f"{place} marked" in page.body
        sent = ada.send(
            led.headers["location"], items=ITEMS[0], finish="yes", seen="0", action=hidden(page.body, "action")
        )
        after = (
            f"/q/{QUESTION}/{answers[place + 1].content_hash}" if place + 1 < SIZE else f"/q/{QUESTION}/all?done=yes"
        )
        assert (sent.status, sent.headers["location"]) == (303, after)
    assert ada.get(f"/q/{QUESTION}").headers["location"] == f"/q/{QUESTION}/all?done=yes"
    assert "10 of 10" in ada.get("/").body


@pytest.mark.parametrize(
    "path",
    [
        *("/q/9.9", "/q/9.9/all", "/q/2.1x", f"/q/9.9/{hash_of(0)}", f"/q/{QUESTION}/{hash_of(77)}", "/q/2.1/"),
        *(f"/q/{QUESTION}/{hash_of(77)}/{part}" for part in ("name", "similar", "notebook", "history", "group")),
        *(f"/decide/{QUESTION}/{hash_of(77)}", f"/decide/9.9/{hash_of(0)}", "/nothing", "/q", "/q/%00", "/q/%ff/all"),
        *(
            "/q/<script>alert(1)</script>",
            f"/q/{QUESTION}/%ED%A0%80",
            "/q/..%2f..%2fetc%2fpasswd",
            "/q//all",
            "/%0d%0a",
        ),
        *(f"{HERE}/name/x", f"/q/{QUESTION}/{hash_of(0).upper()}", f"/q/{QUESTION}/%2e%2e", f"/q/{'9' * 5000}"),
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(pages: Pages, ada: Person, path: str) -> None:
    page = ada.get(path)
    assert page.status in (404, 307) and "<script>alert" not in page.body
    if page.status == 404:
        assert "Nothing is here" in page.body and "All questions" in page.body


@pytest.mark.parametrize("path", [f"/q/9.9/{hash_of(0)}", f"/q/{QUESTION}/{hash_of(77)}", f"/decide/9.9/{hash_of(0)}"])
def test_what_is_not_there_takes_no_form(ada: Person, path: str) -> None:
    sent = ada.send(path, comment="x", why="x")
    assert sent.status == 404 and "Nothing is here" in sent.body


def test_other_methods_are_refused(ada: Person) -> None:
    assert ada.send("/agreement").status == 405
    assert ada.browser.ask("PUT", HERE, b"", x_csrf_token=ada.csrf).status == 405
    assert ada.get("/undo").status == 405


# --- marking


def test_a_form_is_kept_and_shown_again(pages: Pages, ada: Person) -> None:
    assert (
        ada.send(
            HERE, items=ITEMS[:1], adjust="-1/2", comment='\r\nOne\r\n<two> & "three"\r\n', finish="", seen="0"
        ).headers["location"]
        == HERE
    )
    page = ada.get(HERE).body
    assert re.search(r'value="limits" checked', page) and 'value="-1/2"' in page
    assert "\nOne\n&lt;two&gt; &amp; &#34;three&#34;</textarea>" in page and "draft" in page
    there = pages.desk.journal.at(pages.desk.journal.said()[0].place)
    assert there is not None and there.judgement.comment == 'One\n<two> & "three"' and there.by == "Ada"
    assert hidden(page, "seen") == str(there.id)


def test_with_a_script_a_fragment_comes_back(ada: Person) -> None:
    kept = ada.send(HERE, script=True, items=ITEMS[2:4], seen="0", action="a")
    assert kept.status == 200 and kept.body.lstrip().startswith('<div id="saved">')
    assert "<strong>2</strong> of 4 points" in kept.body and ">draft<" in kept.body
    done = ada.send(HERE, script=True, items=ITEMS[2:4], done="yes", seen=hidden(kept.body, "seen"), action="b")
    assert ">marked<" in done.body and hidden(done.body, "action") not in ("a", "b")
    gone = ada.send(HERE, script=True, items=ITEMS[2:4], done="yes", then="next", seen=hidden(done.body, "seen"))
    assert gone.status == 200 and re.fullmatch(rf"/q/{QUESTION}/[0-9a-f]{{64}}", gone.headers["hx-redirect"])


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"items": ("limits", "limit")}, "exclude each other"),
        ({"items": "nothing"}, "no rubric item `nothing`"),
        ({"items": "\0<b>"}, "no rubric item"),
        ({"adjust": "much"}, "`much` is no number of points"),
        ({"adjust": "1e9"}, "is no number of points"),
        ({"adjust": "1/0"}, "is no number of points"),
        ({"adjust": "9" * 5000}, "is no number of points"),
        ({"comment": "x" * 20_001}, "The comment has 20,001 characters"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_kept(
    pages: Pages, ada: Person, fields: dict[str, str], sentence: str
) -> None:
    fragment = ada.send(HERE, script=True, seen="0", **fields)
    assert fragment.status == 422 and fragment.body.lstrip().startswith('<div id="saved">')
    assert sentence in fragment.body and 'role="alert"' in fragment.body and hidden(fragment.body, "seen") == "0"
    page = ada.send(HERE, finish="yes", seen="0", **fields)
    assert page.status == 422 and "The mark was not kept" in page.body and sentence in page.body
    assert pages.desk.journal.said() == [] and "<b>" not in page.body


def test_what_cannot_be_does_not_make_seen_what_somebody_else_has_said(pages: Pages, ada: Person) -> None:
    mark(pages.person("Alan"), HERE, "limits")
    refused = ada.send(HERE, script=True, adjust="much", seen="0")
    assert (refused.status, hidden(refused.body, "seen")) == (422, "0")
    assert ada.send(HERE, script=True, items="roles", seen="0").status == 409


@pytest.mark.parametrize("seen", ["abc", "", "1.5", "9" * 5000, "\0"])
def test_a_field_that_is_none_is_said(pages: Pages, ada: Person, seen: str) -> None:
    sent = ada.send(HERE, seen=seen, comment="x")
    assert sent.status in (422, 409) or (seen == "" and sent.status == 303)
    assert "Traceback" not in sent.body


@pytest.mark.parametrize("seen", ["7", "-1", str(10**30)])
def test_who_was_slower_is_told_and_what_she_saw_stays_what_it_was(pages: Pages, ada: Person, seen: str) -> None:
    other = pages.person("Alan")
    mark(other, HERE, "limits", comment="by Alan")
    theirs = str(pages.desk.journal.said()[0].id)
    told = ada.send(HERE, script=True, items="roles", comment="by Ada", seen=seen, action="a")
    assert told.status == 409 and "by Alan" in told.body and f'data-mine="{theirs}"' in told.body
    assert hidden(told.body, "seen") == seen, "nothing is overwritten before she has chosen"
    again = ada.send(HERE, script=True, items="roles", comment="by Ada", seen=hidden(told.body, "seen"), action="b")
    assert again.status == 409
    page = ada.send(HERE, items="roles", comment="by Ada", finish="yes", seen=seen)
    assert page.status == 409 and "The mark was not kept" in page.body
    mine = ada.send(HERE, script=True, items="roles", comment="by Ada", seen=theirs, action=hidden(told.body, "action"))
    assert mine.status == 200 and pages.desk.journal.said()[0].by == "Ada"


def test_a_reply_that_was_lost_shows_the_markers_own_row(pages: Pages, ada: Person) -> None:
    """Else her page would have seen what Alan said since, and go over it without a word."""
    first = ada.send(HERE, script=True, items="limits", seen="0", action="a")
    mark(pages.person("Alan"), HERE, "roles", seen=int(hidden(first.body, "seen")))
    again = ada.send(HERE, script=True, items="limits", seen="0", action="a")
    assert hidden(again.body, "seen") == hidden(first.body, "seen")
    assert ada.send(HERE, script=True, items="answers", seen=hidden(again.body, "seen"), action="b").status == 409


def test_large_fields_do_no_harm(pages: Pages, ada: Person) -> None:
    long = "x" * 900_000
    assert ada.send(HERE, seen="0", action=long, finish="yes").status == 303
    assert pages.desk.journal.said()[0].action == long[:64]
    assert ada.send(HERE, script=True, comment=long).status == 422
    assert ada.send(HERE, comment="x" * 1_100_000).status == 413
    assert ada.send(f"/q/{QUESTION}/{hash_of(3)}", items=["limits"] * 900).status == 303
    assert ada.send(f"/q/{QUESTION}/{hash_of(3)}", items=["limits"] * 1100).status in (303, 400, 422)


def test_bytes_that_are_no_text_do_no_harm(pages: Pages, ada: Person) -> None:
    csrf = ada.csrf.encode()
    for comment in (b"%ff%fe", b"\xff\xfe", b"%00", b"%ED%A0%80", b"a%0d%0ab%1b[2J%E2%80%AE"):
        seen = str(pages.desk.journal.said()[0].id if pages.desk.journal.said() else 0).encode()
        sent = ada.browser.ask("POST", HERE, b"csrf=" + csrf + b"&seen=" + seen + b"&comment=" + comment,
                               content_type="application/x-www-form-urlencoded")  # fmt: skip
        assert sent.status == 303, comment
        page = ada.get(HERE)
        assert page.status == 200 and not set(page.body) & set("\0\x1b\u202e")
    body = b'--b\r\nContent-Disposition: form-data; name="comment"\r\n\r\n+2AA-\r\n--b--\r\n'
    sent = ada.browser.ask("POST", HERE, body, content_type="multipart/form-data; boundary=b; charset=utf-7",
                           x_csrf_token=ada.csrf)  # fmt: skip
    assert sent.status in (303, 400, 409, 422) and ada.get(HERE).status == 200


def test_a_page_of_the_list_that_there_is_not_is_the_nearest_one(ada: Person) -> None:
    for page in ("-1", "0", "1", str(10**30), "2"):
        body = ada.get(f"/q/{QUESTION}/all?page={page}").body
        assert body.count("<li") >= SIZE and body.count(f"/q/{QUESTION}/") >= SIZE, page
    for page in ("x", "", "1.5", "9" * 5000):
        assert ada.get(f"/q/{QUESTION}/all?page={page}").status == 422


def test_a_comment_of_many_lines_comes_back_whole(pages: Pages, ada: Person) -> None:
    comment = "\n".join("x" for _ in range(5000))
    mark(ada, HERE, comment=comment)
    assert f"\n{comment}</textarea>" in ada.get(HERE).body


# --- names


def test_no_page_names_students_before_somebody_asks(pages: Pages, ada: Person) -> None:
    names = [text for n in range(SIZE) for s in delivery_of(n).students for text in (s.name, s.id, f"s{n:04}")]
    mark(ada, HERE, comment="Read on.")
    paths = ["/", f"/q/{QUESTION}/all", *(p for n in range(SIZE) for p in parts(f"/q/{QUESTION}/{hash_of(n)}"))]
    paths += ["/agreement", "/differing", "/students", DECIDE, "/table", "/marks.csv"]
    for path in paths:
        if not path.endswith("/name"):
            body = ada.get(path).body
            assert not [name for name in names if name in body], path
    assert all(ada.get(f"/q/{QUESTION}/{hash_of(n)}/name").body for n in range(SIZE))


# --- two markers who do not see what the other says


SECRET = "what only the other one says"


def all_of(person: Person, answer: str = HERE) -> str:
    """Everything that a marker can see of an answer, and of all."""
    decide = answer.replace("/q/", "/decide/")
    paths = ["/", *parts(answer), decide, f"{decide}?named=yes", f"/q/{QUESTION}/all", "/agreement", "/differing",
             "/appeals", "/students?find=id", "/table", "/marks.csv",
             *(f"/q/{QUESTION}/{hash_of(n)}" for n in range(SIZE))]  # fmt: skip
    return "\n".join(person.get(path).body for path in paths)


def without_clocks(body: str) -> str:
    """A page without what is another each time."""
    return re.sub(r'name="action" value="[0-9a-f]{32}"', "", body)


@pytest.mark.parametrize("first", [FIRST, SECOND])
def test_neither_marker_sees_what_the_other_said_before_her_own_mark(pages: Pages, first: int) -> None:
    one, other = pages.person("Ada", first), pages.person("Grace", 3 - first)
    before = without_clocks(all_of(other))
    mark(one, HERE, "limits", "roles", comment=SECRET)
    mark(one, f"/q/{QUESTION}/{hash_of(3)}", "limits", comment=SECRET)
    after = without_clocks(all_of(other))
    assert SECRET in all_of(one)
    assert after == before, "not a character of any page is another one"
    assert other.send(DECIDE, items="limits", why="I know").status == 404
    mark(other, HERE, "limits")
    told = other.get(f"{HERE}/history").body
    assert SECRET in told and "Ada" in told and "Ada" not in other.get(f"/q/{QUESTION}/{hash_of(3)}/history").body
    assert SECRET in other.get(DECIDE).body and "2 and 1" in "".join(
        sorted(re.findall("2 and 1|1 and 2", other.get("/differing").body.replace("1 and 2", "2 and 1")))
    )
    assert SECRET not in other.get(f"/q/{QUESTION}/{hash_of(3)}").body, "nor among the comments that are ready"
    other.send("/undo")
    assert SECRET not in all_of(other), "who takes it back is blind again"


def test_a_decision_is_hidden_from_who_has_not_marked(pages: Pages, ada: Person, grace: Person) -> None:
    before = without_clocks(all_of(grace))
    mark(ada, HERE, "limits")
    sent = ada.send(DECIDE, items=ITEMS[2:4], comment=SECRET, why="a reason of mine", seen="0")
    assert sent.headers["location"] == f"{DECIDE}?note=decided"
    assert without_clocks(all_of(grace)) == before
    mark(grace, HERE, "limits")
    assert SECRET in grace.get(DECIDE).body and "a reason of mine" in grace.get(f"{HERE}/history").body


# --- groups


ONE, OTHER = (f"/q/{QUESTION}/{hash_of(number)}" for number in ALIKE)


def test_a_group_is_looked_at_after_one_of_it_is_marked(pages: Pages, ada: Person) -> None:
    assert "This answer is not marked yet" in ada.get(f"{ONE}/group").body
    refused = ada.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0")
    assert "This answer is not marked yet" in refused.body and pages.desk.journal.said() == []
    mark(ada, ONE, "limits", comment="The same for all.")
    page = ada.get(f"{ONE}/group").body
    assert f'value="{hash_of(8)} 0" checked' in page and hash_of(0) not in page and "The same for all." in page
    sent = ada.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0", action=hidden(page, "action"))
    assert sent.status == 303
    there = pages.desk.journal.at(
        next(r.place for r in pages.desk.journal.said() if r.place.content_hash == hash_of(8))
    )
    assert there is not None and (there.judgement.items, there.judgement.comment) == (("limits",), "The same for all.")
    again = ada.get(f"{ONE}/group").body
    assert f'value="{hash_of(8)} {there.id}"' in again
    assert " checked" not in again.partition("Those like it")[2].partition("</main>")[0] and "marked: 1 of 4" in again


@pytest.mark.parametrize(
    "chosen",
    [
        f"{hash_of(0)} 0", f"{hash_of(77)} 0", f"{hash_of(3)} 0", hash_of(8), f"{hash_of(8)} x", f"{hash_of(8)} -1", "",
        f"{hash_of(8)} {'9' * 5000}", f"{hash_of(8)} 0 0", f"{hash_of(8)} ²", "\0 0", " ",
    ],
)  # fmt: skip
def test_only_similar_answers_as_they_were_seen_get_the_mark(pages: Pages, ada: Person, chosen: str) -> None:
    mark(ada, ONE, "limits")
    sent = ada.send(f"{ONE}/group", chosen=chosen, action="forged")
    assert sent.status in (303, 409), sent.body
    assert {row.place.content_hash for row in pages.desk.journal.said()} == {hash_of(3)}


def test_of_a_group_that_somebody_has_marked_since_nothing_is_kept(pages: Pages, ada: Person) -> None:
    mark(ada, ONE, "limits")
    mark(pages.person("Alan"), OTHER, "roles")
    sent = ada.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0")
    assert sent.status == 409 and "No mark was given" in sent.body and "by Alan" in sent.body


def test_a_second_marker_is_given_none_of_her_own_in_a_group(pages: Pages) -> None:
    """She would agree with herself."""
    mark(pages.person("Grace"), OTHER, "limits")
    grace = pages.person("Grace", SECOND)
    mark(grace, ONE, "limits")
    assert hash_of(8) not in grace.get(f"{ONE}/group").body
    assert "like this one" not in grace.get(f"{ONE}/similar").body
    grace.send(f"{ONE}/group", chosen=f"{hash_of(8)} 0")
    assert pages.desk.progress(QUESTION, SECOND).done == 1


# --- undo


def test_undo_leads_to_what_was_taken_back(pages: Pages, ada: Person) -> None:
    mark(ada, HERE, "limits")
    undone = ada.send("/undo")
    assert (undone.status, undone.headers["location"]) == (303, f"{HERE}?note=undone")
    assert "What you did last was taken back." in ada.get(undone.headers["location"]).body
    nothing = ada.send("/undo")
    assert nothing.status == 200 and "Nothing to take back" in nothing.body
    assert ada.send("/undo", script=True).status == 200


def test_undo_of_what_somebody_has_changed_since_is_a_page(pages: Pages, ada: Person) -> None:
    mark(ada, HERE, "limits")
    mark(pages.person("Alan"), HERE, "roles", seen=pages.desk.journal.said()[0].id)
    undone = ada.send("/undo")
    assert undone.status == 409 and "It was not taken back" in undone.body and "by Alan" in undone.body
    assert pages.desk.journal.said()[0].judgement.items == ("roles",)


def test_undo_of_what_is_not_in_the_class_any_more_says_that_it_was_done(file: Path) -> None:
    from viva.model.review import Judgement, Place
    from viva.records.store import Reason

    with reader(file) as records:
        reviews.append(records, NAME, "a", [(Place("f" * 64, QUESTION), Judgement(done=True))], Reason("Ada"))
    with desk_at(file) as desk, pages_of(desk) as running:
        undone = running.person().send("/undo")
        assert undone.status == 200 and "was taken back" in undone.body and "Nothing" not in undone.body
        assert desk.journal.done(QUESTION, FIRST) == set()


# --- decisions and requests


def test_a_request_is_noted_decided_and_told(pages: Pages, ada: Person) -> None:
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


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"why": ""}, "A decision needs a reason."),
        ({"why": " \r\n"}, "A decision needs a reason."),
        ({"why": "x", "items": ("limits", "limit")}, "exclude each other"),
        ({"why": "x", "adjust": "much"}, "`much` is no number of points"),
        ({"why": "x", "comment": "y" * 20_001}, "The comment has 20,001 characters"),
        ({"why": "x", "seen": "99"}, "changed meanwhile"),
    ],
)
def test_a_decision_that_cannot_be_loses_nothing_that_was_typed(
    pages: Pages, ada: Person, fields: dict[str, str], sentence: str
) -> None:
    mark(ada, HERE, "answers")
    typed = {"items": "roles", "adjust": "-0.5", "comment": "My <comment>", "seen": "0", **fields}
    page = ada.send(DECIDE, **typed)
    assert page.status == 422 and sentence in page.body and 'role="alert"' in page.body
    assert [row.place.kind for row in pages.desk.journal.said()] == ["mark"]
    assert f'name="adjust" inputmode="decimal" autocomplete="off" size="6" value="{typed["adjust"]}"' in page.body
    if "comment" not in fields:
        assert "\nMy &lt;comment&gt;</textarea>" in page.body
    if "items" not in fields:
        assert re.findall(r'value="(\w+)" checked', page.body) == ["roles"]
    assert f"\n{fields['why']}</textarea>" in page.body or not fields["why"].strip()


def test_an_empty_request_is_no_request(pages: Pages, ada: Person) -> None:
    page = ada.send(f"{DECIDE}/request", request=" \r\n ")
    assert page.status == 422 and "needs its text" in page.body and pages.desk.journal.appealed() == {}


def test_students_are_found_by_whatever_they_are_called(ada: Person) -> None:
    for find in ("ID0002", "alan", "s0002", " Lovelace "):
        body = ada.get(f"/students?find={find.replace(' ', '+')}").body
        assert f"/decide/{QUESTION}/{hash_of(2)}?named=yes" in body, find
    for find in ("%00", "x" * 5000, "%ED%A0%80", "<script>alert(1)</script>"):
        page = ada.get(f"/students?find={find}")
        assert page.status == 200 and "<script>alert" not in page.body and "\0" not in page.body


# --- tables


def test_a_table_goes_out_and_comes_back(pages: Pages, ada: Person, grace: Person) -> None:
    mark(grace, HERE, "roles", comment=SECRET)
    out = ada.get("/marks.csv")
    assert out.headers["content-disposition"] == f'attachment; filename="{NAME}-marks.csv"'
    assert out.headers["content-type"].startswith("text/csv")
    again = ada.upload(out.body.encode())
    assert again.status == 200 and "0 marks taken" in again.body
    lines = out.body.split("\r\n")
    at = next(n for n, line in enumerate(lines) if line.startswith(hash_of(9)) and "2.1" in line)
    filled = lines[at].split(",")
    assert filled[2:] == [""] * 7
    filled[3], filled[5], filled[6] = "limits", "from a table", "yes"
    taken = ada.upload("\r\n".join([lines[0], ",".join(filled)]).encode())
    assert taken.status == 200 and "1 mark taken" in taken.body
    (row,) = [row for row in pages.desk.journal.said() if row.place.round == FIRST]
    assert (row.judgement.earned, row.judgement.comment, row.by) == (1, "from a table", "Ada")
    late = grace.upload("\r\n".join([lines[0], ",".join(filled)]).encode())
    assert late.status == 200 and "1 mark taken" in late.body, "her own round knows nothing of it"
    second = {row.place.content_hash: row for row in pages.desk.journal.said() if row.place.round == SECOND}
    assert second[hash_of(9)].by == "Grace" and second[hash_of(9)].judgement.comment == "from a table"
    assert "-marks-second.csv" in grace.get("/marks.csv").headers["content-disposition"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The table is empty"),
        (b"\0", "no column"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"PK\x03\x04" + bytes(100), "no column"),
        (b"submission,question\r\n", "no column answer"),
        (b"<script>alert(1)</script>", "no column"),
        (b'submission,question,answer,items,adjust,comment,done,seen\r\n"' + b"x" * 200_000, "cannot be read"),
        (
            b"submission,question,answer,items,adjust,comment,done,seen\r\n<b>,2.1,,,,,yes,\r\n",
            "row 2: there is no answer",
        ),
        (b"," * 4_000_001, "4,000,000 cells"),
    ],
)
def test_what_is_no_table_is_said_and_nothing_is_taken(pages: Pages, ada: Person, data: bytes, sentence: str) -> None:
    page = ada.upload(data)
    assert page.status == 422 and sentence in page.body
    assert "<script>alert" not in page.body and "<b>" not in page.body.partition("<main")[2]
    assert pages.desk.journal.said() == []


def test_a_table_in_another_field_or_none_is_said(ada: Person) -> None:
    assert ada.upload(b"x", "other").status == 422
    assert ada.send("/marks.csv").status == 422
    assert ada.upload(bytes(17 << 20)).status == 413


# --- a class that is not there


def test_what_is_still_being_read_or_cannot_be_is_said(
    pages: Pages, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages.desk.ready.clear()
    monkeypatch.setattr(visit, "PATIENCE_S", 0.01)
    assert "Reading the class" in ada.get("/").body
    for answer in (ada.get(f"/q/{QUESTION}"), ada.send(HERE, comment="x"), ada.send("/undo")):
        assert answer.status == 503 and "still being read" in answer.body
    pages.desk.ready.set()
    pages.desk.fault = ValueError("no <such> file")
    page = ada.get("/")
    assert page.status == 200 and "The class cannot be read" in page.body and "no &lt;such&gt; file" in page.body
    for answer in (ada.get(HERE), ada.send(HERE, script=True, comment="x")):
        assert answer.status == 503 and "The class cannot be read" in answer.body
    assert pages.desk.journal.said() == []


def test_records_that_cannot_be_written_are_a_sentence_and_the_page_tries_again(pages: Pages, ada: Person) -> None:
    """The page sends again what a server could not keep, and says so meanwhile; other replies end that."""
    mark(ada, HERE, "limits")
    answer_of(pages.desk, 0)
    with pages.desk.journal._records.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON reviews BEGIN SELECT RAISE(FAIL, 'disk full'); END"
        )
    for path in (OTHER, "/undo", f"{DECIDE}/request"):
        sent = ada.send(path, comment="x", request="x", seen="0", script=True)
        assert sent.status in (503, 422) and "disk full" in sent.body, path
    assert ada.send(OTHER, comment="x", script=True, seen="0").status == 503
    decided = ada.send(DECIDE, why="x", comment="kept in the form", seen="0")
    assert "disk full" in decided.body and "kept in the form" in decided.body

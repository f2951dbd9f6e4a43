"""The pages of `viva review`: what they say to whom, and that nothing which is sent to them does harm."""

import re

import pytest

from tests.support.review_class import attempt_of, hash_of
from tests.support.review_pages import DECIDE, HERE, OTHER, SIZE, mark
from tests.support.review_queues import ITEMS, QUESTION, Pages, Person, answer_of
from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.review.web import requests


def parts(path: str = HERE) -> list[str]:
    return [path, *(f"{path}/{part}" for part in ("name", "similar", "notebook", "history", "group"))]


# --- every page


PAGES = [
    ("/", "Translation and masks", "Question"),
    ("/?token=old", "written answers", "Requests"),
    (f"/q/{QUESTION}/all", "0 of 10 graded", "not graded"),
    (f"/q/{QUESTION}/all?done=yes", "that is yours to grade is graded", "0 of 10 graded"),
    (HERE, "Model answer", "Done, next"),
    (HERE, "The question", "queries, keys and values"),
    (f"{HERE}?note=undone", "What you did last was taken back.", "Done, next"),
    (f"{HERE}?note=<b>", "Model answer", "Done, next"),
    (f"{HERE}/name", attempt_of(0).students[0].name, attempt_of(0).students[0].id),
    (f"/q/{QUESTION}/{hash_of(3)}/similar", "1 answer like this one", "/group"),
    (f"{HERE}/notebook", "<p>", "."),
    (f"{HERE}/history", "Nothing yet.", "dim"),
    (f"{HERE}/group", "Back to the answer", "Grade this answer first"),
    ("/agreement", "Agreement of first and second markers", QUESTION),
    ("/differing", "Disagreements of two markers", "There are none."),
    ("/appeals", "Requests for another look", "There are none."),
    ("/students", "Name, id or email", "Find"),
    ("/students?find=id0002", attempt_of(2).students[0].name, f"/decide/{QUESTION}/{hash_of(2)}?named=yes"),
    ("/students?find=nobody", "No student was found.", "nobody"),
    (DECIDE, "Grade this answer first", "do not influence your decision"),
    (f"{DECIDE}?named=yes", "Note a request", attempt_of(0).students[0].name),
    ("/table", "Download all answers and grades as CSV", "Upload a table that was filled in"),
    ("/marks.csv", "submission,question,answer,items", hash_of(9)),
]


@pytest.mark.parametrize("round", [FIRST, SECOND])
def test_pages_for_both_rounds(pages: Pages, round: int) -> None:
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
def test_unknown_page(pages: Pages, ada: Person, path: str) -> None:
    page = ada.get(path)
    assert page.status in (404, 307) and "<script>alert" not in page.body
    if page.status == 404:
        assert "Nothing is here" in page.body and "All questions" in page.body


@pytest.mark.parametrize("path", [f"/q/9.9/{hash_of(0)}", f"/q/{QUESTION}/{hash_of(77)}", f"/decide/9.9/{hash_of(0)}"])
def test_unknown_form(pages: Pages, ada: Person, path: str) -> None:
    sent = ada.send(path, comment="x", why="x")
    assert sent.status == 404 and pages.queue.decisions.current() == []


# --- names


def test_names_are_hidden_until_requested(pages: Pages, ada: Person) -> None:
    names = [text for n in range(SIZE) for s in attempt_of(n).students for text in (s.name, s.id, f"s{n:04}")]
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
    """Return a page without the values that differ each time."""
    return re.sub(r'name="action" value="[0-9a-f]{32}"', "", body)


@pytest.mark.parametrize("first", [FIRST, SECOND])
def test_rounds_are_blind(pages: Pages, first: int) -> None:
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


def test_decision_is_hidden_before_grading(pages: Pages, ada: Person, grace: Person) -> None:
    before = without_clocks(all_of(grace))
    mark(ada, HERE, "limits")
    sent = ada.send(DECIDE, items=ITEMS[2:4], comment=SECRET, why="a reason of mine", seen="0")
    assert sent.headers["location"] == f"{DECIDE}?note=decided"
    assert without_clocks(all_of(grace)) == before
    mark(grace, HERE, "limits")
    assert SECRET in grace.get(DECIDE).body and "a reason of mine" in grace.get(f"{HERE}/history").body


# --- a class that is not there


def test_class_not_readable(pages: Pages, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    pages.queue.ready.clear()
    monkeypatch.setattr(requests, "CLASS_TIMEOUT_S", 0.01)
    assert "Reading the class" in ada.get("/").body
    for answer in (ada.get(f"/q/{QUESTION}"), ada.send(HERE, comment="x"), ada.send("/undo")):
        assert answer.status == 503 and "still being read" in answer.body
    pages.queue.ready.set()
    pages.queue.fault = ValueError("no <such> file")
    page = ada.get("/")
    assert page.status == 200 and "The class cannot be read" in page.body and "no &lt;such&gt; file" in page.body
    for answer in (ada.get(HERE), ada.send(HERE, script=True, comment="x")):
        assert answer.status == 503 and "The class cannot be read" in answer.body
    assert pages.queue.decisions.current() == []


def test_records_not_writable(pages: Pages, ada: Person) -> None:
    """The page sends again what a server could not keep, and says so meanwhile; other replies end that."""
    mark(ada, HERE, "limits")
    answer_of(pages.queue, 0)
    with pages.queue.decisions._records.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON reviews BEGIN SELECT RAISE(FAIL, 'disk full'); END"
        )
    for path in (OTHER, "/undo", f"{DECIDE}/request"):
        sent = ada.send(path, comment="x", request="x", seen="0", script=True)
        assert sent.status in (503, 422) and "disk full" in sent.body, path
    assert ada.send(OTHER, comment="x", script=True, seen="0").status == 503
    decided = ada.send(DECIDE, why="x", comment="kept in the form", seen="0")
    assert "disk full" in decided.body and "kept in the form" in decided.body

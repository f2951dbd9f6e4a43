"""Pages about answers, names and questions that no one expects, and about results that are gone."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.review_class import NAME, attempt_of, course, hash_of, rubric, score_of
from tests.support.review_queues import Class, Pages, class_of, hidden, pages_of, queue_of, reader, wait_for_writer
from viva.config.rubric import Group, Item, Misconception, Question, Rubric
from viva.formats.results_json import to_json
from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.records.store import Records
from viva.plugins.review.queue import queue_of_folder

F = Fraction
ODD = ("_", "all", "2.1-a_B.", "0", "group", "static", "x" * 80)
"""What a question may be called."""
ODDLY = Rubric(
    tuple(
        Question(
            number,
            "<b>Why?</b>",
            F(7, 3),
            (
                Item("why", F(7, 3), "Says <i>why</i>.", "g"),
                Item("0", F(1, 3), "Part", "g"),
                Item("less", F(-1, 3), "Wrong"),
            ),
            (Group("g", exclusive=True),),
            misconceptions=(Misconception("It is <so>.", 'It "is" not.', "less"),),
        )
        for number in ODD
    )
)
TEXTS = (
    "a lone surrogate \ud800 here",
    "nul \0, escape \x1b[31m, bell \x07, right to left \u202e",
    "x" * 100_000,
    "\n".join(f"line {number}" for number in range(2000)) + "\nthe last line",
    "</textarea></pre><script>alert(1)</script>{{ 7 * 7 }}",
    "$$" + "{" * 5000 + "$$",
    "\u0301" * 1000,
    " \n\t ",
)


@contextlib.contextmanager
def served(records: Records, class_: Class, name: str) -> Iterator[Pages]:
    with queue_of(records, class_, ODDLY, name=name) as (queue, _), pages_of(queue) as running:
        yield running


def test_hostile_answers(records: Records) -> None:
    with served(records, class_of(TEXTS, ODDLY, name="\ud800<script>\u202e"), "texts") as pages:
        ada = pages.person()
        bodies = []
        for number in range(len(TEXTS)):
            here = f"/q/all/{hash_of(number)}"
            for path in (here, *(f"{here}/{part}" for part in ("name", "similar", "notebook", "history"))):
                page = ada.get(path)
                assert page.status == 200, path
                assert not set(page.body) & set("\0\x07\x1b\u202e") and "<script>alert" not in page.body, path
            bodies.append(ada.get(here).body)
            comment = TEXTS[number][:20_000].replace("\ud800", "\0")
            assert ada.send(here, items="why", comment=comment, finish="yes", seen="0").status == 303
        assert bodies[2].count("x" * 100_000) == 2, "rendered, and as it was typed"
        assert bodies[3].count("\nthe last line") == 2 and bodies[4].count("{{ 7 * 7 }}") == 2
        assert "Nothing was written." in bodies[7]
        for path in ("/q/all/all", "/students?find=s", f"/q/all/{hash_of(4)}/group"):
            page = ada.get(path)
            assert page.status == 200 and "<script>" not in page.body, path
            assert "\ufffd" in page.body or "group" in path
        out = ada.get("/marks.csv").body.encode()
        assert "0 grades taken" in ada.upload(out).body


@pytest.mark.parametrize("number", ODD)
def test_odd_question_numbers(records: Records, number: str) -> None:
    with served(records, class_of(["The mask hides it."] * 2, ODDLY), f"numbers {number}") as pages:
        for round in (FIRST, SECOND):
            ada = pages.person("Ada" if round == FIRST else "Grace", round)
            assert f"/q/{number}/all" in ada.get("/").body
            here = ada.get(f"/q/{number}").headers["location"]
            page = ada.get(here).body
            assert "&lt;b&gt;Why?&lt;/b&gt;" in page and "2.33" in page
            assert 'data-comment="It &#34;is&#34; not." data-item="less" data-sign="+"' in page
            assert page.count('data-exclusive="g"') == 2
            sent = ada.send(here, items="0", finish="yes", seen="0", action=hidden(page, "action"))
            assert sent.status == 303 and sent.headers["location"].startswith(f"/q/{number}/")
            group = ada.get(f"{here}/group")
            assert group.status == 200 and "1 answer that say" in group.body
            assert "0.33" in ada.get(f"/q/{number}/all").body
            assert ada.get(here.replace("/q/", "/decide/")).status == 200
            assert ada.send("/undo").headers["location"] == f"{here}?note=undone"


def test_missing_results(tmp_path: Path) -> None:
    for number in range(2):
        file = tmp_path / "results" / attempt_of(number).name / "results.json"
        file.parent.mkdir(parents=True)
        file.write_bytes(to_json(replace(score_of(number, rubric()), submission=str(number))))
    here = f"/q/2.1/{hash_of(0)}"
    with (
        reader(tmp_path / "marks.db") as records,
        queue_of_folder(course(), tmp_path / "results", Path(), NAME, records) as queue,
        pages_of(queue) as running,
    ):
        queue.wait()
        ada = running.person()
        assert ada.get(here).status == 200
        file = tmp_path / "results" / attempt_of(0).name / "results.json"
        for broken in (b"{", None):
            file.write_bytes(broken) if broken else file.unlink()
            for path in (here, f"{here}/notebook"):
                page = ada.get(path)
                assert page.status == 503 and "results.json" in page.body and "Traceback" not in page.body
        assert ada.send(here, items="limits", finish="yes", seen="0").status == 303, "the mark is kept all the same"
        wait_for_writer(queue)
        told = ada.get("/").body
        assert "The grades are saved, but 1 of the results could not be rewritten" in told and "cannot be read" in told

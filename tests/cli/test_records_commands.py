"""A class whose scores are kept: graded once, marked again without running it, changed by people with a reason."""

import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva, scores_in
from tests.support.words_course import RIGHT, TESTS_FILE, edit, hand_in
from viva.model.hand_grading import Judgement, Place
from viva.model.reason import Reason
from viva.plugins.records.hand_grading import append, undo
from viva.plugins.records.store import Records

MORE_FOR_SUMS = '@number("1.2")\n@weight(2)', '@number("1.2")\n@weight(3)'


@pytest.fixture
def some_class(keeping: Path, ada_and_bob: Path) -> Path:
    return ada_and_bob


def without_sqlalchemy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed."""
    import viva.plugins.records  # the package keeps its modules as attributes, and gets them back at the end

    monkeypatch.setattr(viva.plugins, "records", viva.plugins.records)
    for name in list(sys.modules):
        if name.startswith(("sqlalchemy", "viva.plugins.records")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)


def rows(history: str) -> list[str]:
    """What happened, without what counts now."""
    return history.partition("Now:\n")[0].splitlines()


def results(folder: Path) -> dict[str, Any]:
    return {p.parent.name: json.loads(p.read_text()) for p in sorted(folder.rglob("results.json"))}


def test_class_is_graded_once(viva: Viva, some_class: Path) -> None:
    first = viva("grade", some_class, "-o", "out")
    assert first.status == 0 and "not again" not in first.out
    before = results(Path("out"))
    (Path("out") / some_class.relative_to("/") / "ada" / "results.json").unlink()
    again = viva("grade", some_class, "-o", "out")
    assert "2 submissions were graded before and not again (--again grades again)" in again.out
    assert results(Path("out")) == before, "what was missing is there again, as it was"
    assert len(rows(viva("history", "bob").out)) == 1


def test_changed_and_new_submissions_are_graded(viva: Viva, some_class: Path) -> None:
    viva("grade", some_class)
    hand_in(some_class / "bob", RIGHT)
    hand_in(some_class / "cem", RIGHT)
    assert "1 submission was graded before" in viva("grade", some_class).out
    first, second = rows(viva("history", "bob").out)
    assert " 3 of 9 points, 1 more pending" in first and " 9 of 9 points" in second


def test_again_grades_anew_and_keeps_both(viva: Viva, some_class: Path) -> None:
    viva("grade", some_class)
    assert "not again" not in viva("grade", some_class, "--again", "--why", "to be sure", "--by", "grace").out
    assert viva("history", "ada").out.splitlines()[1].endswith("graded by grace: to be sure")


@pytest.mark.parametrize("option", [("--only", "1.2"), ("--visible-only",), ("--no-records",)])
def test_part_of_the_tests_is_not_kept(viva: Viva, some_class: Path, option: tuple[str, ...]) -> None:
    assert viva("grade", some_class, *option).status == 0
    assert "hold no score of 'ada'" in viva("history", "ada").sentence()


def test_part_of_the_tests_cannot_be_kept(viva: Viva, some_class: Path) -> None:
    ran = viva("grade", some_class, "--only", "1.2", "--records", "sqlite:///x.db", "-o", "out")
    assert (ran.status, ran.out) == (1, "") and "--only" in ran.sentence()
    assert not [*Path().rglob("x.db")] and not Path("out").exists()


def test_regrade_is_proposed_then_applied(viva: Viva, some_class: Path, keeping: Path) -> None:
    viva("grade", some_class, "-o", "out")
    edit(keeping / TESTS_FILE, "@weight(4)", "@weight(3)")
    edit(keeping / TESTS_FILE, *MORE_FOR_SUMS)
    told = viva("grade", some_class).out
    assert "2 submissions were graded by earlier tests of words" in told and "`viva regrade words`" in told
    proposed = viva("regrade", "words", "--why", "sums matter").out
    assert "2 regraded, 2 with a different result; 0 programs were run" in proposed
    assert "bob  3 → 4 (+1)  test_word_counts 0 of 4 → 0 of 3, test_total 2 of 2 → 3 of 3" in proposed
    assert "ada  9 → 9 (0)" in proposed and "1 gain, 1 points on average; 1 keep their total" in proposed
    assert " 3 of 9 " in viva("history", "bob").out, "nothing counts before it is applied"
    assert viva("regrade", "words", "--apply", "--student", "bob").out == "1 of 2 applied; 1 wait on\n"
    assert viva("regrade", "words", "--discard").out == "1 of 1 discarded\n"
    assert viva("history", "bob").out.splitlines()[1].partition("regraded by ")[2].endswith(": sums matter")
    viva("grade", some_class, "-o", "out")
    assert scores_in("out") == {"ada": 9.0, "bob": 4.0}


def test_never_lower(viva: Viva, some_class: Path, keeping: Path) -> None:
    viva("grade", some_class)
    edit(keeping / TESTS_FILE, "key.total([1, 2, 3.5])", "key.total([1, 2, 3.5]) + 1")
    assert "2 lose, 2 points on average" in viva("regrade", "words").out
    assert viva("regrade", "words", "--apply", "--never-lower").out == "0 of 2 applied; 2 wait on\n"
    assert " 9 of 9" in viva("history", "ada").out and len(rows(viva("history", "ada").out)) == 1


def test_only_tests_that_ask_otherwise_run_again(viva: Viva, some_class: Path, keeping: Path) -> None:
    viva("grade", some_class)
    sums = "agree(student.total([1, 2, 3.5]), key.total([1, 2, 3.5]))"
    edit(keeping / TESTS_FILE, sums, "agree(student.total([7]), 8)")
    out = viva("regrade", "words", "--details").out
    assert "2 programs were run" in out
    assert "ada  9 → 7 (-2)  test_total 2 → 0" in out and "words.py::test_total: " in out
    viva("regrade", "words", "--apply")
    edit(keeping / TESTS_FILE, "agree(student.total([7]), 8)", "agree(student.total([7]), 7)")
    assert "0 programs were run" in viva("regrade", "words").out, "the call log holds the later questions"


def test_submission_that_is_gone_keeps_its_score(viva: Viva, some_class: Path, keeping: Path) -> None:
    viva("grade", some_class)
    edit(keeping / TESTS_FILE, "@weight(4)", "@weight(3)")
    hand_in(some_class / "bob", RIGHT)
    (some_class / "ada" / "solution.py").unlink()
    (some_class / "ada").rmdir()
    told = viva("regrade", "words")
    assert "ada keeps its score" in told.err and "no such file" in told.err
    assert "bob keeps its score" in told.err and "is not what was graded" in told.err
    assert viva("regrade", "words", "--apply").out == "0 of 0 applied\n"
    for name, score in (("ada", " 9 of 9 "), ("bob", " 3 of 9 ")):
        (line,) = rows(viva("history", name).out)
        assert score in line


def test_override_stands(viva: Viva, some_class: Path, keeping: Path) -> None:
    viva("grade", some_class, "-o", "out")
    override = ("override", "words", "bob", "test_word_counts", "5/2")
    assert "--by NAME --why REASON" in viva(*override).sentence()
    ran = viva(*override, "--why", "argued well", "--by", "grace")
    assert ran.out == "bob: 3 → 5.5 of 9 points, 1 more pending\n"
    viva("grade", some_class, "-o", "out")
    test = results(Path("out"))["bob"]["tests"][0]
    assert (test["score"], test["output"]) == (2.5, "Set by hand to 2.5 of 4 points: argued well")
    edit(keeping / TESTS_FILE, *MORE_FOR_SUMS)
    assert "set by hand and kept: test_word_counts 2.5; with that 6.5" in viva("regrade", "words").out
    viva("grade", some_class, "--again")
    history = viva("history", "bob").out
    assert "test_word_counts set to 2.5 by hand by grace: argued well" in rows(history)[1]
    assert history.splitlines()[-2] == "Now:" and " 6.5 of 10 points, 1 more pending" in history.splitlines()[-1]
    viva("override", "words", "bob", "test_word_counts", "--take-back", "--why", "no")
    assert "taken back" in viva("history", "bob").out


def test_manual_grades_count(viva: Viva, some_class: Path, keeping: Path) -> None:
    """In results, history, tables, below an override and next to a regrade; until they are taken back."""
    viva("grade", some_class, "-o", "out")
    before = results(Path("out"))
    bob = Place(before["bob"]["extra_data"]["content_hash"], "2.2")
    half = Judgement(("why",), comment="Why?", done=True, earned=Fraction(1, 2), points=Fraction(1), told="Half.")
    with Records.open("sqlite:///records.db", keeping) as records:
        append(records, "words", "draft", [(bob, replace(half, done=False))], Reason("grace"))
        append(records, "words", "a1", [(bob, half)], Reason("grace"))
        append(records, "words", "a2", [(replace(bob, round=2), half)], Reason("alan"))
    viva("grade", some_class, "-o", "out")
    after = results(Path("out"))
    assert after["ada"] == before["ada"] and after["bob"]["score"] == 3.5
    (test,) = [test for test in after["bob"]["tests"] if test["number"] == "2.2"]
    assert (test["score"], test["output"], test["extra_data"]["status"]) == (0.5, "Half.", "partial")
    assert [line.partition("words  ")[2] for line in rows(viva("history", "bob").out)[1:]] == [
        "2.2 graded 0.5 of 1 by grace",
        "2.2 graded 0.5 of 1 as second marker by alan",
    ]
    viva("grades", "words", "--to", "csv", "-o", "marks.csv")
    assert "bob,,,,graded,3.5,10," in Path("marks.csv").read_text()
    edit(keeping / TESTS_FILE, "@weight(4)", "@weight(3)")
    edit(keeping / TESTS_FILE, *MORE_FOR_SUMS)
    assert "bob  3.5 → 4.5 (+1)" in viva("regrade", "words").out
    override = ("override", "words", "bob", "2.2", "--why", "no", "--by", "ada")
    assert viva(*override, "1").out == "bob: 3.5 → 4 of 10 points\n"
    assert viva(*override, "--take-back").out == "bob: 4 → 3.5 of 10 points\n"
    with Records.open("sqlite:///records.db", keeping) as records:
        undo(records, "words", "u1", Reason("grace"), 1)
    viva("grade", some_class, "-o", "out")
    assert results(Path("out")) == before, "open again"
    assert rows(viva("history", "bob").out)[-1].endswith("2.2 grade taken back by grace")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("regrade", "words"), "there are no scores in the records"),
        (("regrade", "words", "--apply"), "No regrade of words waits"),
        (("regrade", "words", "--apply", "--discard"), "one of --show, --apply and --discard"),
        (("regrade", "nothing"), "lists no assignment `nothing`"),
        (("override", "words", "ada", "1.2"), "or --take-back"),
        (("override", "words", "ada", "1.2", "1", "--why", "y"), "no score of 'ada'"),
        (("history", "ada", "--records", "nonsense"), "is not a URL of a database"),
    ],
)
def test_wrong_command(viva: Viva, keeping: Path, command: tuple[str, ...], said: str) -> None:
    ran = viva(*command)
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()


def test_course_that_keeps_nothing(viva: Viva) -> None:
    ran = viva("history", "ada")
    assert (ran.status, ran.out) == (1, "")
    assert "`records: sqlite:///records.db`" in ran.sentence() and "--records URL" in ran.sentence()


def test_library_that_is_not_installed(viva: Viva, some_class: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_sqlalchemy(monkeypatch)
    for command in (("history", "ada"), ("regrade", "words"), ("report", "words"), ("grade", some_class, "-o", "out")):
        ran = viva(*command)
        assert (ran.status, ran.out) == (1, "") and "`sqlalchemy`: pip install 'viva-grader[records]'" in ran.sentence()
    assert not Path("out").exists()
    assert viva("grade", some_class, "-o", "out", "--no-records").status == 0


def test_doctor_looks_for_damage(viva: Viva, some_class: Path, keeping: Path) -> None:
    viva("grade", some_class)
    ran = viva("doctor", "--records")
    assert ran.status == 0 and "records.db: no damage found" in ran.out
    file = keeping / "records.db"
    file.write_bytes(file.read_bytes()[:-4096])
    for command in (("grade", some_class), ("doctor", "--records")):
        ran = viva(*command)
        assert ran.status == 1 and "are damaged: database disk image is malformed" in ran.sentence()
        assert "records.db .recover" in ran.sentence()


def test_regrade_after_another_secret(viva: Viva, some_class: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    viva("grade", some_class)
    monkeypatch.setenv("VIVA_SECRET", "another secret of the course, as long as the first")
    assert "2 submissions were graded with another course secret" in viva("grade", some_class).out
    assert "2 regraded" in viva("regrade", "words", "--why", "new secret").out

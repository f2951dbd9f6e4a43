"""What people decided about the same bytes is in results as soon as `viva grade` writes them."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in
from viva.formats.hand_graded_results import with_decisions
from viva.formats.results_json import load_results, to_bytes
from viva.model.hand_grading import Judgement, Place
from viva.pipeline.open_records import folder_records
from viva.records import Records
from viva.records.hand_grading import append
from viva.records.store import Reason

pytestmark = pytest.mark.long

MARK = Judgement(("why",), Fraction(0), "Which words?", True, Fraction(1, 2), Fraction(1), "Half.")


@pytest.fixture
def some_class(viva: Viva, keeping: Path, tmp_path: Path) -> Path:
    """Two submissions that were graded; the prose of one is marked."""
    for name, source in (("ada", RIGHT), ("bob", KEEPS_CASE)):
        hand_in(tmp_path / "class" / name, source)
    viva("grade", tmp_path / "class", "-o", "out")
    mark(keeping, result("out", "bob")["extra_data"]["content_hash"])
    return tmp_path / "class"


def mark(keeping: Path, content_hash: str, mark: Judgement = MARK) -> None:
    with Records.open("sqlite:///records.db", keeping) as records:
        append(records, "words", f"{content_hash} {mark.told}", [(Place(content_hash, "2.2"), mark)], Reason("grace"))


def file_of(folder: str, name: str) -> Path:
    (found,) = Path(folder).rglob(f"{name}/results.json")
    return found


def result(folder: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file_of(folder, name).read_text())
    return found


def prose_of(result: dict[str, Any]) -> dict[str, Any]:
    (found,) = [test for test in result["tests"] if test["number"] == "2.2"]
    return dict(found)


def test_what_is_graded_again_keeps_its_marks(viva: Viva, some_class: Path) -> None:
    ran = viva("grade", some_class, "-o", "again", "--again")
    ada, bob_ = (line.split()[:3] for line in ran.out.splitlines()[1:3])
    assert (ada, bob_) == (["ada", "9.0", "9"], ["bob", "3.5", "10"])
    bob = result("again", "bob")
    prose = prose_of(bob)
    assert (bob["score"], prose["output"], prose["extra_data"]["earned"]) == (3.5, "Half.", "1/2")
    assert result("again", "ada")["extra_data"]["still_open"] == "1"
    viva("grade", some_class, "-o", "again")
    assert result("again", "bob") == bob, "the next run has nothing to mend"


def test_the_same_bytes_of_somebody_else_are_marked_already(viva: Viva, some_class: Path) -> None:
    hand_in(some_class / "cem", KEEPS_CASE)
    viva("grade", some_class, "-o", "out")
    assert result("out", "cem")["score"] == 3.5
    assert result("out", "bob")["score"] == 3.5, "and what was graded before is brought up to date"


def test_an_override_stands_above_what_is_graded_again(viva: Viva, some_class: Path) -> None:
    viva("override", "words", "bob", "1.2", "1", "--why", "by hand", "--by", "ada")
    viva("override", "words", "ada", "2.2", "1", "--why", "by hand", "--by", "ada")
    viva("grade", some_class, "-o", "again", "--again")
    assert (result("again", "bob")["score"], result("again", "ada")["score"]) == (2.5, 10)
    viva("override", "words", "ada", "2.2", "--take-back", "--why", "no", "--by", "ada")
    viva("grade", some_class, "-o", "again", "--again")
    assert result("again", "ada")["extra_data"]["still_open"] == "1"


def test_a_later_attempt_gets_the_override_and_no_mark_of_other_bytes(viva: Viva, some_class: Path) -> None:
    viva("override", "words", "bob", "1.2", "1", "--why", "by hand", "--by", "ada")
    hand_in(some_class / "bob", RIGHT)
    viva("grade", some_class, "-o", "out")
    bob = result("out", "bob")
    assert (bob["score"], bob["extra_data"]["still_open"]) == (8, "1"), "9, and 1 of 2 for 1.2; its prose is new"


def test_a_mark_outlives_a_regrade_by_which_its_question_is_worth_less(
    viva: Viva, some_class: Path, keeping: Path
) -> None:
    """More than all of it no one gets; the marker is told by `viva review`, and nothing is marked again by itself."""
    tests = keeping / "graders" / "words" / "test_words.py"
    less = tests.read_text().replace('@number("2.2")\n@weight(1)', '@number("2.2")\n@weight(0.25)')
    assert less != tests.read_text()
    tests.write_text(less)
    told = viva("regrade", "words").out
    assert "bob  3.5 → 3.25 (-0.25)" in told and "1 lose, 0.25 points on average; 1 keep" in told
    assert viva("regrade", "words", "--apply", "--never-lower").out == "1 of 2 applied; 1 wait on\n"
    viva("regrade", "words", "--apply")
    viva("grade", some_class, "-o", "out")
    prose = prose_of(result("out", "bob"))
    assert (prose["score"], prose["extra_data"]["status"], prose["output"]) == (0.25, "passed", "Half.")
    viva("grade", some_class, "-o", "again", "--again")
    assert prose_of(result("again", "bob"))["score"] == 0.25


def test_a_part_of_the_tests_has_no_marks(viva: Viva, some_class: Path) -> None:
    """Nothing is read from the records where nothing is kept in them."""
    viva("grade", some_class, "-o", "some", "--only", "2.2")
    assert result("some", "bob")["extra_data"]["still_open"] == "1"


def test_marks_of_records_can_be_changed_in_a_folder(viva: Viva, some_class: Path, keeping: Path) -> None:
    """`viva review DIR` finds next to each mark what was there before."""
    viva("grade", some_class, "-o", "again", "--again")
    file = file_of("again", "bob")
    marked = load_results(file)
    assert [test.number for test in marked.tests if test.extra_data.unmarked is not None] == ["2.2"]
    content_hash = marked.extra_data.content_hash
    graded = with_decisions(marked, {})
    assert graded.extra_data.still_open == "1"
    mark(keeping, content_hash, replace(MARK, earned=Fraction(1), told="All of it."))
    viva("grade", some_class, "-o", "again")
    assert prose_of(result("again", "bob"))["output"] == "All of it."
    assert to_bytes(with_decisions(load_results(file), {})) == to_bytes(graded)


def test_marks_that_lie_beside_results_stand_in_them_again(viva: Viva, own_course: Path, tmp_path: Path) -> None:
    """Where no scores are kept, `viva review` keeps its marks in the folder of the results."""
    bob = hand_in(tmp_path / "class" / "bob", KEEPS_CASE)
    hand_in(tmp_path / "class" / "ada")
    viva("grade", tmp_path / "class", "-o", "out")
    with folder_records(Path("out")) as records:
        place = Place(result("out", "bob")["extra_data"]["content_hash"], "2.2")
        append(records, "words", "a1", [(place, MARK)], Reason("grace"))
    viva("grade", tmp_path / "class", "-o", "out")
    assert (result("out", "bob")["score"], result("out", "ada")["score"]) == (3.5, 9)
    hand_in(bob, RIGHT)
    viva("grade", tmp_path / "class", "-o", "out")
    assert result("out", "bob")["extra_data"]["still_open"] == "1", "of other bytes nothing was said"


def test_folder_records_results_that_cannot_be_read_are_a_sentence(viva: Viva, some_folder: Path) -> None:
    """Grading would write results without marks that are there."""
    (some_folder / "review.db").write_text("no database, and longer than the head of one would have to be")
    before = file_of("out", "ada").read_bytes()
    assert "cannot be opened: file is not a database" in viva("grade", "class", "-o", "out").sentence()
    assert file_of("out", "ada").read_bytes() == before
    assert viva("grade", "class", "-o", "out", "--no-records").status == 0


@pytest.fixture
def some_folder(viva: Viva, own_course: Path, tmp_path: Path) -> Path:
    """Results of a course that keeps no scores."""
    hand_in(tmp_path / "class" / "ada")
    hand_in(tmp_path / "class" / "bob")
    viva("grade", "class", "-o", "out")
    return tmp_path / "out"

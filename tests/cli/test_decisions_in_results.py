"""What people decided about the same bytes is in results as soon as `viva grade` writes them.

How a decision stands in a result is shown in tests/review/test_review_results.py.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva, scores_in
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in
from viva.model.hand_grading import Judgement, Place
from viva.pipeline.open_records import folder_records
from viva.records import Records
from viva.records.hand_grading import append
from viva.records.store import Reason

pytestmark = pytest.mark.long

HALF = Judgement(("why",), Fraction(0), "Which words?", True, Fraction(1, 2), Fraction(1), "Half.")


@pytest.fixture
def some_class(viva: Viva, keeping: Path, ada_and_bob: Path) -> Path:
    """Two submissions that were graded; the prose of one is marked."""
    viva("grade", ada_and_bob, "-o", "out")
    with Records.open("sqlite:///records.db", keeping) as records:
        grade_prose_of_bob(records)
    return ada_and_bob


def grade_prose_of_bob(records: Records) -> None:
    place = Place(result("out", "bob")["extra_data"]["content_hash"], "2.2")
    append(records, "words", "a1", [(place, HALF)], Reason("grace"))


def file_of(folder: str, name: str) -> Path:
    (path,) = Path(folder).rglob(f"{name}/results.json")
    return path


def result(folder: str, name: str) -> dict[str, Any]:
    return dict(json.loads(file_of(folder, name).read_text()))


def test_regraded_submission_keeps_its_decisions(viva: Viva, some_class: Path) -> None:
    ran = viva("grade", some_class, "-o", "again", "--again")
    assert [line.split()[:3] for line in ran.out.splitlines()[1:3]] == [["ada", "9.0", "9"], ["bob", "3.5", "10"]]
    bob = result("again", "bob")
    (prose,) = [test for test in bob["tests"] if test["number"] == "2.2"]
    assert (bob["score"], prose["output"], prose["extra_data"]["earned"]) == (3.5, "Half.", "1/2")
    viva("grade", some_class, "-o", "again")
    assert result("again", "bob") == bob, "the next run has nothing to mend"
    viva("override", "words", "bob", "1.2", "1", "--why", "by hand", "--by", "ada")
    viva("override", "words", "ada", "2.2", "1", "--why", "by hand", "--by", "ada")
    viva("grade", some_class, "-o", "again", "--again")
    assert scores_in("again") == {"ada": 10, "bob": 2.5}
    viva("override", "words", "ada", "2.2", "--take-back", "--why", "no", "--by", "ada")
    viva("grade", some_class, "-o", "again", "--again")
    assert result("again", "ada")["extra_data"]["still_open"] == "1"


def test_same_bytes_of_somebody_else_are_marked(viva: Viva, some_class: Path) -> None:
    hand_in(some_class / "cem", KEEPS_CASE)
    viva("grade", some_class, "-o", "out")
    assert scores_in("out") == {"ada": 9, "bob": 3.5, "cem": 3.5}
    viva("grade", some_class, "-o", "some", "--only", "2.2")
    assert result("some", "bob")["extra_data"]["still_open"] == "1", "nothing is read where nothing is kept"


def test_marks_beside_results_stand_in_them_again(viva: Viva, own_course: Path, ada_and_bob: Path) -> None:
    """Where no scores are kept, `viva review` keeps its marks in the folder of the results."""
    viva("grade", "class", "-o", "out")
    with folder_records(Path("out")) as records:
        grade_prose_of_bob(records)
    viva("grade", "class", "-o", "out")
    assert scores_in("out") == {"ada": 9, "bob": 3.5}
    hand_in(ada_and_bob / "bob", RIGHT)
    viva("grade", "class", "-o", "out")
    assert result("out", "bob")["extra_data"]["still_open"] == "1", "of other bytes nothing was said"
    Path("out/review.db").write_text("no database, and longer than the head of one would have to be")
    before = file_of("out", "ada").read_bytes()
    assert "cannot be opened: file is not a database" in viva("grade", "class", "-o", "out").sentence()
    assert file_of("out", "ada").read_bytes() == before, "it would be written without marks that are there"
    assert viva("grade", "class", "-o", "out", "--no-records").status == 0

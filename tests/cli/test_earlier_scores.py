"""What stands of earlier gradings: what people decided about the same bytes, and no score of weaker isolation."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva, scores_in
from tests.support.words_course import KEEPS_CASE, RIGHT, TESTS_FILE, edit, hand_in
from viva.model.hand_grading import Judgement, Place
from viva.model.reason import Reason
from viva.plugins.records.hand_grading import append
from viva.plugins.records.open_records import folder_records
from viva.plugins.records.store import Records

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
    assert "are damaged: file is not a database" in viva("grade", "class", "-o", "out").sentence()
    assert file_of("out", "ada").read_bytes() == before, "it would be written without marks that are there"
    assert viva("grade", "class", "-o", "out", "--no-records").status == 0


# --- a score of weaker isolation than is asked for now never stands: its program may have read the key


FORGED = """\
import sys

sys.path.insert(0, {graders!r})
from key import total, word_counts

answers = {{"2.1": "B"}}
written = {{"2.2": "Because."}}
"""


@pytest.fixture
def forged(keeping: Path, tmp_path: Path) -> Path:
    """A class in which one program takes its answers from the key, which it can read in T0 alone."""
    hand_in(tmp_path / "class" / "ada", FORGED.format(graders=str(keeping / "graders" / "words")))
    hand_in(tmp_path / "class" / "bob", KEEPS_CASE)
    return tmp_path / "class"


def test_score_is_graded_again(viva: Viva, forged: Path) -> None:
    viva("grade", forged, "-o", "out", "--tier", "T0")
    assert scores_in("out") == {"ada": 9, "bob": 3}
    again = viva("grade", forged, "-o", "out")
    assert "2 submissions were graded before with isolation T0, weaker than now, and again" in again.out
    assert scores_in("out") == {"ada": 1, "bob": 3}
    assert "2 submissions were graded before and not again" in viva("grade", forged, "-o", "out").out
    assert "2 submissions were graded before and not again" in viva("grade", forged, "--tier", "T0").out
    assert scores_in("out") == {"ada": 1, "bob": 3}, "the stronger one stands"


def test_answers_are_not_used_in_a_regrade(viva: Viva, forged: Path, keeping: Path) -> None:
    viva("grade", forged, "--tier", "T0")
    edit(keeping / TESTS_FILE, "@weight(4)", "@weight(3)")
    proposed = viva("regrade", "words").out
    assert "2 programs were run" in proposed and "ada  9 → 1 (-8)" in proposed
    viva("regrade", "words", "--apply")
    assert "not again" in viva("grade", forged).out


def test_scores_below_min_tier_become_no_grades(viva: Viva, forged: Path, keeping: Path) -> None:
    viva("grade", forged, "--tier", "T0", "-o", "out")
    assert viva("grades", "words", "--to", "csv", "-o", "before.csv").status == 0
    with (keeping / "grader.yaml").open("a") as file:
        file.write("min_tier: T1\n")
    for scored in ("words", Path("out") / forged.relative_to("/")):
        ran = viva("grades", scored, "--to", "csv", "-o", "marks.csv")
        assert ran.status == 1 and "words asks for isolation T1 or better (min_tier)" in ran.sentence()
        assert "ada (T0), bob (T0)" in ran.sentence() and not Path("marks.csv").exists()
    viva("report", "words", "-o", "report")
    page = (Path("report") / "report.html").read_text()
    assert "Graded with too little isolation: 2 submissions" in page
    viva("grade", forged)
    assert viva("grades", "words", "--to", "csv", "-o", "marks.csv").status == 0
    viva("report", "words", "-o", "report")
    assert "too little isolation" not in (Path("report") / "report.html").read_text()

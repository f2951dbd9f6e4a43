"""A score that was made with less isolation than is asked for now never stands: its program may have read the key."""

from pathlib import Path

import pytest

from tests.support.run_command import Viva, scores_in
from tests.support.words_course import KEEPS_CASE, TESTS_FILE, edit, hand_in

pytestmark = pytest.mark.long

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

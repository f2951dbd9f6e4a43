"""What no program gets, in any tier: a mark it did not earn, a secret, another student's time, the last word."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_course import MARK, HostileCourse
from hostile_hosts import Trial, Unavailable, offered
from hostile_programs import ALL, Program
from hostile_programs import PROGRAMS as PROGRAM_FILES
from trials import REQUIRED, Trials

from viva.model import Tier

HERE = Path(__file__).parent
MARKS = re.compile(MARK + "[0-9a-f]{16}")
LONGEST_S = 14.0
MOST_GROWTH_MIB = 50.0
MOST_AT_ONCE_MIB = 900.0
BUGS = re.compile(r"(NameError|SyntaxError|IndentationError|ModuleNotFoundError|UnboundLocalError)\b")


def test_the_tiers_that_must_run_do(tier: Tier, trials: Trials) -> None:
    """A tier that this machine offers by itself, or that the CI names, is never skipped silently."""
    lost = trials.unavailable_or_none(tier)
    if lost and (offered().get(tier) == [] or tier in REQUIRED):
        pytest.fail(f"{tier} could not run: {lost}")
    if lost:
        pytest.skip(f"{tier} could not run: {lost}")


def test_nothing_is_gained_and_nothing_lasts(tier: Tier, program: Program, trials: Trials) -> None:
    try:
        found = trials.of(tier, program)
    except Unavailable as error:
        pytest.skip(f"{tier} could not run: {error}")
    course = trials.courses[tier]
    assert len(found) == program.turns
    for trial in found:
        assert trial.examiner_ended == ("ends the examiner in T0" in program.notes and tier == Tier.T0)
        no_mark_is_forged(trial)
        nothing_is_stolen(trial, tier, program, course)
        nothing_lasts(trial)
        the_next_student_gets_full_marks(trial, tier)
        assert not BUGS.search(trial.result.shown()), "the program did not do what it says"


def no_mark_is_forged(trial: Trial) -> None:
    """Every test has its entry, none is won, and none is left open: an open test is one that is graded again."""
    score = trial.result.score
    assert [entry.test_id.partition("::")[2] for entry in score.entries] == EXPECTED
    assert [(e.name, str(e.status), e.earned) for e in score.entries if e.earned] == []
    assert score.earned == 0 and score.points == 10
    if not trial.examiner_ended:
        assert [(e.name, e.staff_message) for e in score.entries if e.status.is_open] == []
        assert score.isolation.tier in {str(tier) for tier in Tier}


def nothing_is_stolen(trial: Trial, tier: Tier, program: Program, course: HostileCourse) -> None:
    """No secret comes back, no file is changed, nobody outside is reached: all but T0 promises that."""
    marks = course.marks
    shown = set(MARKS.findall(trial.result.shown()))
    found = set(MARKS.findall(trial.result.everything)) - {marks["hidden"]}
    if tier == Tier.T0:
        assert marks["tests"] in shown or marks["hidden"] not in shown
        assert found or program.control != "T0", "where nothing protects the secrets, this program finds one"
        return
    assert marks["hidden"] not in shown, "the student reads what a hidden test asks"
    assert found == set(), sorted(place for place, mark in marks.items() if mark in found) or "broke out"
    assert trial.tampered == []
    assert trial.heard == []


def nothing_lasts(trial: Trial) -> None:
    """No process, no memory of the examiner's, no more time than a few hangs take."""
    assert trial.survivors == []
    assert trial.growth_mib < MOST_GROWTH_MIB and trial.peak_mib < MOST_AT_ONCE_MIB
    assert trial.result.wall_s < LONGEST_S


def the_next_student_gets_full_marks(trial: Trial, tier: Tier) -> None:
    """The same examiner, if it lives, grades an honest submission as if nothing had happened."""
    score = trial.honest.score
    assert [(e.name, str(e.status), e.message) for e in score.entries if e.earned != e.points] == []
    assert [entry.test_id.partition("::")[2] for entry in score.entries] == EXPECTED
    assert score.notes == ()
    assert score.isolation.tier == str(tier)


@pytest.mark.parametrize("program", [pytest.param(p, id=p.name) for p in ALL if p.control == "one process"])
def test_the_attack_is_real(program: Program, tmp_path: Path) -> None:
    """An autograder that imports the submission gives these programs marks, or shows them its secrets."""
    course = HostileCourse()
    targets = {"tier": "T0", "base": str(tmp_path), "results": str(tmp_path / "results.json"), "turn": 0}
    files = {**program.files(targets), "key.py": course.files()["course/graders/small/key.py"]}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(
        [sys.executable, str(HERE / "naive_grader.py")], cwd=tmp_path, env=environment, timeout=30, check=False
    )
    written = (tmp_path / "results.json").read_text()
    assert '"score": 0,' not in written or course.marks["key"] in written


def test_the_naive_grader_itself_is_sound(tmp_path: Path) -> None:
    """A program that does nothing hostile and knows nothing gets nothing there, and an honest one gets everything."""
    course = HostileCourse()
    for solution, score in (("def number(x):\n    return 0.0\n", 0), (course.honest(), 8)):
        (tmp_path / "solution.py").write_text(solution)
        (tmp_path / "key.py").write_text(course.files()["course/graders/small/key.py"])
        subprocess.run([sys.executable, str(HERE / "naive_grader.py")], cwd=tmp_path, timeout=30, check=True)
        assert f'"score": {score},' in (tmp_path / "results.json").read_text()


def test_every_program_says_in_one_sentence_what_it_tries() -> None:
    assert len(ALL) >= 35
    for program in ALL:
        assert program.sentence.endswith(".") and "\n" not in program.sentence, program.name
    assert {p.name for p in PROGRAM_FILES.iterdir() if p.is_dir() and p.name[0] not in "._"} == {
        "end", "flood", "forge", "hang", "network", "persist", "process", "protocol", "read",
    }  # fmt: skip


EXPECTED = [
    "test_number",
    "test_array",
    "test_text",
    "test_table",
    "test_comparison_without_care",
    "test_change_in_place",
    "test_object",
    "test_every_item",
    "test_answer",
    "test_hidden",
]

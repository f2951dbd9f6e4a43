"""What no program gets, in any tier: a mark it did not earn, a secret, another student's time, the last word."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_course import MARK, POINTS, HostileCourse
from tests.support.hostile_hosts import Trial, Unavailable, offered
from tests.support.hostile_programs import ALL, Program
from tests.support.hostile_programs import PROGRAMS as PROGRAM_FILES
from tests.support.hostile_trials import REQUIRED, Trials
from viva.examiner.grader import NOT_READABLE
from viva.examiner.outcome import HIDDEN
from viva.formats.results_json import Results, results_of, to_bytes, to_json
from viva.formats.terminal_table import print_class, print_score
from viva.model import Status, Tier

NAIVE_GRADER = str(Path(__file__).parents[1] / "support" / "naive_grader.py")
MARKS = re.compile(MARK + "[0-9a-f]{16}")
LONGEST_S = 120.0
"""Four times the 20 s that a submission may take, for programs that sleep; one load under way then; some patience."""
MOST_GROWTH_MIB = 50.0
MOST_AT_ONCE_MIB = 900.0
LONGEST_SENTENCE = 1200
"""What an exception says, of which 1,000 characters are shown, and the words around it."""
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]")
"""Characters that control a terminal or the direction of writing, or that no file can hold."""
BUGS = re.compile(r"(NameError|SyntaxError|IndentationError|ModuleNotFoundError|UnboundLocalError)\b")


def test_required_tiers_run(tier: Tier, trials: Trials) -> None:
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
        nothing_lasts(trial, tier, program)
        nobody_is_deceived(trial)
        the_next_student_gets_full_marks(trial, tier)
        assert not BUGS.search(trial.result.shown()), "the program did not do what it says"


def no_mark_is_forged(trial: Trial) -> None:
    """Every test has its entry, none is won, and none is left open but for a person: other open tests run again."""
    score = trial.result.score
    assert [entry.test_id.partition("::")[2] for entry in score.entries] == EXPECTED
    assert [(e.name, str(e.status), e.earned) for e in score.entries if e.earned] == []
    assert score.earned == 0 and score.points == POINTS
    if not trial.examiner_ended:
        assert [
            (e.name, e.staff_message) for e in score.entries if e.status.is_open and e.status is not Status.NEEDS_REVIEW
        ] == []
        asked = any(entry.message not in (NOT_READABLE, HIDDEN) for entry in score.entries)
        assert score.isolation.tier in ({str(tier) for tier in Tier} if asked else {"none"})


def nothing_is_stolen(trial: Trial, tier: Tier, program: Program, course: HostileCourse) -> None:
    """No secret comes back, no file is changed, no one outside is reached: all but T0 promises that."""
    marks = course.marks
    shown = set(MARKS.findall(trial.result.shown()))
    found = set(MARKS.findall(trial.result.everything)) - {marks["hidden"]}
    if tier == Tier.T0:
        assert marks["tests"] in shown or marks["hidden"] not in shown
        assert found or program.control != "T0", "where nothing protects the secrets, this program finds one"
        assert trial.sent_bytes or program.control != "network", "where nothing is cut, this program sends something"
        return
    assert marks["hidden"] not in shown, "the student reads what a hidden test asks"
    assert found == set(), sorted(place for place, mark in marks.items() if mark in found) or "broke out"
    assert trial.tampered == []
    assert trial.heard == [] and trial.sent_bytes == 0


def nothing_lasts(trial: Trial, tier: Tier, program: Program) -> None:
    """No process, no file, no memory of viva, no more time than a few hangs take."""
    assert trial.survivors == []
    if tier is Tier.T0:
        assert trial.left_behind or program.control != "files", "where there are no walls, this program leaves files"
    else:
        assert trial.left_behind == []
    assert max(trial.growth_mib, trial.host_growth_mib) < MOST_GROWTH_MIB and trial.peak_mib < MOST_AT_ONCE_MIB
    assert trial.result.wall_s < LONGEST_S


def nobody_is_deceived(trial: Trial) -> None:
    """Whoever reads the results learns in words what happened, and nothing that they read acts, moves or hides."""
    score = trial.result.score
    unexplained = [(e.name, str(e.status)) for e in score.entries if not e.message.strip()]
    assert unexplained == []
    results = results_of(score)
    shown = [test.output.strip().splitlines()[0] for test in results.tests]
    assert [sentence for sentence in shown if len(sentence) > LONGEST_SENTENCE] == []
    table = io.StringIO()
    print_score(score, file=table, width=100)
    print_class([score, trial.honest.score], file=table, width=100)
    written = to_json(score, staff=True)
    for text in (table.getvalue(), *_texts(json.loads(written))):
        assert not ACTS.search(text), text
    assert results == Results.model_validate_json(to_bytes(results))


def _texts(value: Any) -> Iterator[str]:
    """Every text in a file of JSON, names included."""
    if isinstance(value, str):
        yield value
    for item in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def the_next_student_gets_full_marks(trial: Trial, tier: Tier) -> None:
    """The same examiner, if it lives, grades an honest submission as if nothing had happened."""
    score = trial.honest.score
    assert [(e.name, str(e.status), e.message) for e in score.entries if e.earned != e.points] == []
    assert [entry.test_id.partition("::")[2] for entry in score.entries] == EXPECTED
    assert score.notes == ()
    assert score.isolation.tier == str(tier)


@pytest.mark.long
@pytest.mark.parametrize("program", [pytest.param(p, id=p.name) for p in ALL if p.control == "one process"])
def test_attack_is_real(program: Program, tmp_path: Path) -> None:
    """An autograder that imports the submission gives these programs marks, or shows them its secrets."""
    course = HostileCourse()
    targets = {"tier": "T0", "base": str(tmp_path), "results": str(tmp_path / "results.json"), "turn": 0}
    files = {**program.files(targets), "key.py": course.files()["course/graders/small/key.py"]}
    for name, text in files.items():
        assert isinstance(text, str), "a program with a control in one process is a program and no folder"
        (tmp_path / name).write_text(text)
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, NAIVE_GRADER], cwd=tmp_path, env=environment, timeout=30, check=False)
    written = (tmp_path / "results.json").read_text()
    assert '"score": 0,' not in written or course.marks["key"] in written


def test_naive_grader_is_sound(tmp_path: Path) -> None:
    """A program that does nothing hostile and knows nothing gets nothing there, and an honest one gets everything."""
    course = HostileCourse()
    for solution, score in (("def number(x):\n    return 0.0\n", 0), (course.honest(), 8)):
        (tmp_path / "solution.py").write_text(solution)
        (tmp_path / "key.py").write_text(course.files()["course/graders/small/key.py"])
        subprocess.run([sys.executable, NAIVE_GRADER], cwd=tmp_path, timeout=600, check=True)
        assert f'"score": {score},' in (tmp_path / "results.json").read_text()


def test_programs_say_what_they_try() -> None:
    assert len(ALL) >= 90
    for program in ALL:
        assert program.sentence.endswith(".") and "\n" not in program.sentence, program.name
    families = {p.name for p in PROGRAM_FILES.iterdir() if p.is_dir() and p.name[0] not in "._"}
    assert families == {program.path.parent.name for program in ALL} == FAMILIES


FAMILIES = {
    "archive", "compare", "decoder", "end", "flood", "folder", "forge", "hang", "leak", "names", "network", "notebook",
    "persist", "privilege", "process", "protocol", "read", "record",
}  # fmt: skip
EXPECTED = [
    *("test_number", "test_array", "test_text", "test_table", "test_comparison_without_care", "test_change_in_place"),
    *("test_object", "test_every_item", "test_answer", "test_formula", "test_reading", "test_search"),
    *("test_attribute", "test_hidden"),
]

"""What commands show and write of tests that train: progress, curves next to results, and what was left out."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import ACCEPTED, RIGHT, SETTINGS_FILE, TESTS, TESTS_FILE, edit, hand_in
from viva.cli.shared.progress import Progress
from viva.config import load_course
from viva.model import Score
from viva.pipeline.curve_files import write_curves
from viva.pipeline.jobs import Job

CURVES = '''\
import pytest

from viva.grading import number, weight
from viva.plugins import training


@number("1")
@weight(1)
@pytest.mark.training
def test_it_rises(student):
    """It rises."""
    for epoch in training.epochs(2, budget_s=20, name="\\x1b[31mrising"):
        epoch.record(slope=student.slope(epoch.number))
    training.draw("gap", [0.5], {1: 0.2})
'''
RISES = "def slope(step):\n    return step / 4\n"


@pytest.fixture
def trains(own_course: Path) -> Path:
    """A course whose only test trains."""
    (own_course / TESTS_FILE).write_text(CURVES, "utf-8")
    return own_course


def test_curves_stand_beside_the_results(viva: Viva, trains: Path) -> None:
    hand_in(Path("class/ada"), RISES)
    ran = viva("grade", "class/ada", "-o", "out")
    assert ran.status == 0 and "training curves: out/class/ada/curves.svg" in ran.out
    assert "viva: class/ada: rising, epoch 1 of 2, slope 0.25, " in ran.err and "\x1b" not in ran.err
    curves = json.loads(Path("out/class/ada/results.json").read_text("utf-8"))["extra_data"]["curves"]
    assert [curve["name"] for curve in curves] == ["rising, slope", "gap"]
    assert curves[1]["thresholds"] == [{"epoch": 1, "value": 0.2}]
    assert Path("out/class/ada/curves.csv").read_text("utf-8").splitlines()[1] == 'it rises,"rising, slope",1,0.25,'
    assert b"threshold 0.2" in Path("out/class/ada/curves.svg").read_bytes()
    viva("grade", "class/ada", "-o", "out", "--no-training")
    assert [path.name for path in Path("out/class/ada").iterdir()] == ["results.json"], "no curves of an earlier run"


def test_spread_of_a_class(viva: Viva, trains: Path) -> None:
    hand_in(Path("class/ada"), RISES)
    hand_in(Path("class/bob"), "def slope(step):\n    return 0.1\n")
    hand_in(Path("class/eve"), "x = 1\n")
    ran = viva("grade", "class", "-o", "out")
    assert ran.status == 0 and "training curves: out/curves_words.svg" in ran.out
    table = Path("out/curves_words.csv").read_text("utf-8").splitlines()
    assert len(table) == 1 + 2 * 3 and {line.split(",")[0] for line in table[1:]} == {"class/ada", "class/bob"}
    assert Path("out/class/bob/curves.svg").is_file() and not Path("out/class/eve/curves.svg").exists()


def test_table_without_matplotlib(viva: Viva, trains: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(Path("class/ada"), RISES)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = viva("grade", "class/ada", "-o", "ada.json")
    assert ran.status == 0 and "matplotlib is not installed" in ran.err and "ada.curves.csv" in ran.out
    assert Path("ada.curves.csv").is_file() and not Path("ada.curves.svg").exists()


def test_progress_on_a_terminal(
    trains: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    job = Job(Path("ada"), "ada", load_course(trains).assignment("words"))
    with Progress([job]) as progress:
        progress.tell(job, "epoch 1\x1b[2J of 2\nand more")
    assert capsys.readouterr().err == "\r\x1b[Kepoch 1 of 2 and more\r\x1b[K"


def test_progress_in_a_log(trains: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [100.0]
    monkeypatch.setattr("viva.cli.shared.progress.time.monotonic", lambda: now[0])
    job = Job(Path("ada"), "ada", load_course(trains).assignment("words"))
    with Progress([job]) as progress:
        for now[0] in (100.0, 101.0, 104.9, 105.1):
            progress.tell(job, f"epoch {now[0]:g}, loss 1e-05")
        progress.tell(job, "waiting until other tests have ended")
        progress.tell(job, "goes on after epoch 3 of 4")
        progress.tell(job, "epoch 4, loss 0.25")
    said = ["epoch 100, loss 1e-05", "epoch 105.1, loss 1e-05", "waiting until other tests have ended", "goes on after"]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and all(map(str.startswith, lines, (f"viva: ada: {text}" for text in said)))


def test_folder_called_like_a_picture(tmp_path: Path) -> None:
    (tmp_path / "curves.svg").mkdir()
    assert write_curves(tmp_path / "results.json", Score("ada", "0", "words", 1, ())) is None
    assert (tmp_path / "curves.svg").is_dir()


# --- tests that train are run by `viva grade`, and by other commands if asked for


TRAINING_TEST = '''

@pytest.mark.long
@number("3.1")
@weight(3)
@pytest.mark.training
def test_it_learns(student, key):
    """After training, the sum is known."""
    agree(student.total([4, 5]), key.total([4, 5]))
'''
NEVER_LEARNS = RIGHT.replace("    result = 0\n", "    result = 1 if numbers == [4, 5] else 0\n")
FIXTURES = "fixtures/words/submissions"
LEFT_OUT = "Not graded yet: this test trains a model, and tests that train were left out of this run."


@pytest.fixture
def training_course(own_course: Path) -> Path:
    """A course with three points for training on top, and a wrong submission that fails there alone."""
    (own_course / TESTS_FILE).write_text("import pytest\n" + TESTS + TRAINING_TEST, "utf-8")
    edit(own_course / SETTINGS_FILE, "points: 10", "points: 13")
    hand_in(own_course / FIXTURES / "accepted/plain", ACCEPTED)
    hand_in(own_course / FIXTURES / "wrong/never_learns", NEVER_LEARNS)
    expect(own_course, "{score: 9, training: 0, failing: [test_it_learns]}")
    return own_course


def expect(course: Path, text: str, accepted: str = "{score: 9, training: 3}") -> None:
    for name, stated in {"wrong/never_learns": text, "accepted/plain": accepted}.items():
        (course / FIXTURES / name / "submission.yaml").write_text(stated, "utf-8")


def graded(viva: Viva, course: Path, source: str, *options: str) -> tuple[dict[str, Any], Any]:
    """The result that was written, and its test that trains."""
    target = course.parent / "result.json"
    ran = viva("grade", hand_in(course.parent / "mine", source), "-o", target, *options)
    assert ran.status == 0 and ran.err == ""
    result = json.loads(target.read_text("utf-8"))
    return result, next(t for t in result["tests"] if t["number"] == "3.1")


@pytest.mark.long
def test_grade_trains(viva: Viva, training_course: Path) -> None:
    result, test = graded(viva, training_course, NEVER_LEARNS)
    assert (result["score"], test["status"], test["score"]) == (9, "failed", 0)
    result, test = graded(viva, training_course, NEVER_LEARNS, "--no-training")
    assert "score" not in test and test["output"] == LEFT_OUT and test["extra_data"]["status"] == "deferred"
    assert (result["score"], result["extra_data"]["still_open"]) == (9, "4")


@pytest.mark.long
def test_check_leaves_training_out(viva: Viva, training_course: Path) -> None:
    mine = hand_in(training_course.parent / "mine", NEVER_LEARNS)
    ran = viva("check", mine)
    assert "7 of 7 points, 4 more pending" in ran.out and LEFT_OUT in ran.out
    assert "3 points of tests that train (`viva check --training` runs them), " in ran.out
    ran = viva("check", mine, "--training")
    assert "7 of 10 points, 1 more pending" in ran.out and "that train" not in ran.out


@pytest.mark.long
def test_verify_counts_what_it_left_out(viva: Viva, training_course: Path) -> None:
    ran = viva("verify", "--no-mutants")
    assert ran.status == 0, ran.out
    assert ran.out.startswith("words: 3 known verdicts hold, 0 do not (isolation T")
    assert ran.out.endswith("; 1 test that trains left out, --training runs them; 1 verdict waits for them).\n")
    assert "… waits   words: wrong/never_learns" in viva("verify", "--no-mutants", "--verbose").out
    ran = viva("verify", "--no-mutants", "--training")
    assert ran.status == 0, ran.out
    assert ran.out.startswith("words: 4 known verdicts hold, 0 do not (isolation T") and "left out" not in ran.out


@pytest.mark.long
def test_mutants_are_never_trained(viva: Viva, training_course: Path) -> None:
    """They are stopped after seconds: a test that trains would say nothing about them."""
    tests = training_course / TESTS_FILE
    note = "    with open(__file__ + '.trained', 'a') as file:\n        file.write('x')\n"
    asked = "    agree(student.total([4, 5])"
    edit(tests, asked, note + asked)
    ran = viva("verify", "--training")
    assert "words: 4 known verdicts hold, 0 do not" in ran.out and "broken right answers" in ran.out
    assert tests.with_name("test_words.py.trained").read_text("utf-8") == "xxx"  # points are the fourth verdict

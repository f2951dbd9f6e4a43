"""The author guide and the start page, followed literally: commands are typed, promises checked."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from viva.config.rubric import earned
from viva.config.rubric_file import load_rubric

GUIDE = (Path(__file__).parents[2] / "docs" / "author-guide.md").read_text("utf-8")
SUBMISSIONS = "fixtures/first_steps/submissions"

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.M | re.S)


def section(title: str) -> str:
    return re.split(r"^## .*$", GUIDE, flags=re.M)[[t for t, _ in headings()].index(title) + 1]


def headings() -> list[tuple[str, int]]:
    return [(m.group(1), m.start()) for m in re.finditer(r"^## (.*)$", GUIDE, re.M)]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A terminal in an empty folder, without the settings of other courses."""
    for name in ("VIVA_COURSE", "VIVA_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    where = [str(tmp_path)]

    def type_in(line: str) -> "subprocess.CompletedProcess[str]":
        ran = subprocess.run(["bash", "-c", f"{line}\n"], cwd=where[0], capture_output=True, text=True, check=False)
        if "&& cd my_course" in line:
            where[0] = str(tmp_path / "my_course")
        return ran

    return type_in


def verify(shell: Shell) -> "subprocess.CompletedProcess[str]":
    return shell("viva verify --tier best")


@pytest.mark.long
def test_question_from_nothing_to_full_marks(shell: Shell, tmp_path: Path) -> None:
    text = section("1. A question, from nothing to full marks")
    course = tmp_path / "my_course"

    make, check = blocks("")[0].splitlines()
    assert (make, check) == ("viva init my_course && cd my_course", "viva verify")
    assert shell(make).returncode == 0
    ran = verify(shell)
    assert ran.returncode == 0 and "6 known verdicts hold, 0 do not" in ran.stdout, ran.stderr

    model_answer, test = blocks("python")[:2]
    source, added = model_answer.split("# graders/first_steps/key.py: add the line\n")
    assert source.startswith("# reference/longest_word.py\n")
    (course / "reference/longest_word.py").write_text(source, "utf-8")
    with (course / "graders/first_steps/key.py").open("a", encoding="utf-8") as key:
        key.write(added)

    command = re.findall(r"`(viva new-test .*?)`", text)[0]
    assert shell(command).returncode == 0
    skeleton = course / "graders/first_steps/test_1_2.py"
    assert str(skeleton.relative_to(course)) in text
    assert "def test_longest_word(student, key, rng):" in skeleton.read_text("utf-8")
    assert "key: a right answer" not in verify(shell).stdout  # the skeleton itself suits the key
    skeleton.write_text(test, "utf-8")

    (promised,) = re.findall(r"says `(the tests add up to 17 points.*?)`", text)
    assert promised in verify(shell).stdout
    settings = course / "assignments/first_steps/assignment.yaml"
    assert "points: 12" in settings.read_text("utf-8")
    settings.write_text(settings.read_text("utf-8").replace("points: 12", "points: 17"), "utf-8")

    ran = verify(shell)
    assert ran.returncode == 1
    for name in ("accepted/counter", "wrong/keeps_case"):
        assert f"✗ BROKEN  first_steps: {name}" in ran.stdout and f"`{name}" in text
    example = course / SUBMISSIONS / "accepted/counter/solution.py"
    example.write_text(example.read_text("utf-8") + source.split('"""\n', 1)[1], "utf-8")
    last = last_of_longest(course, shell, text)
    ran = verify(shell)
    assert ran.returncode == 0 and "7 known verdicts hold, 0 do not" in ran.stdout, ran.stdout

    ran = shell(f"pytest graders/first_steps --submission {SUBMISSIONS}/accepted/counter")
    assert "pytest graders/first_steps --submission PATH" in text
    assert ran.returncode == 0 and "3 passed" in ran.stdout
    assert "It equals a known mistake: the last of the longest words." in shell(f"viva check {last}").stdout


def last_of_longest(course: Path, shell: Shell, text: str) -> Path:
    """A wrong example that makes the mistake which the guide's hint names."""
    lay_out, store = re.findall(r"^viva example .*$", text, re.M)
    assert shell(lay_out).returncode == 0
    edited = course.parent / "edited/solution.py"
    right = edited.read_text("utf-8")
    edited.write_text(right.replace("max(text.split()", "max(reversed(text.split())"), "utf-8")
    assert "a copy of accepted/counter with 2 changed lines" in shell(store).stdout
    return course / SUBMISSIONS / "wrong" / "last_of_longest"


def test_rubric_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_text(next(b for b in blocks("yaml") if b.startswith("questions:")), "utf-8")
    (question,) = load_rubric(tmp_path / "rubric.yaml").questions
    assert earned(question, ["symmetric", "example"]) == 3
    assert earned(question, ["symmetric", "named", "sizes", "weights"]) == Fraction(3, 2)


# --- *Grade a class in ten minutes*: its commands are typed in order into one shell


PAGE = (Path(__file__).parents[2] / "docs" / "start.md").read_text("utf-8")
NEED_ISOLATION = ("viva verify", "viva release", "viva grade ")
MADE = (
    "my_course/grader.yaml",
    "first_steps/README.md",
    "first_steps/.viva/grader.yaml",
    "my_course/results/submissions/ada/results.json",
    "my_course/results/report/report.html",
    "my_course/results/report/feedback/ada.html",
    "my_course/grades.csv",
)


def commands() -> list[str]:
    consoles = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
    return [line.removeprefix("$ ") for console in consoles for line in console.splitlines()]


@pytest.mark.long
def test_class_is_graded_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIVA_COURSE", "VIVA_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    # The page says when to add an isolation level; here it must work on every host.
    lines = [f"{line} --tier best" if line.startswith(NEED_ISOLATION) else line for line in commands()]
    ran = subprocess.run(
        ["bash", "-e", "-c", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [path for path in MADE if not (tmp_path / path).is_file()] == []

    course = tmp_path / "my_course"
    scores = {
        name: json.loads((course / f"results/submissions/{name}/results.json").read_text("utf-8"))["score"]
        for name in ("ada", "bo")
    }
    assert scores == {"ada": 10, "bo": 0}
    with (course / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert {row["student"]: float(row["points"]) for row in rows} == {"ada": 10, "bo": 0}

"""`viva new` and `viva new-test`: an assignment from a solved notebook or from nothing, and one test more.

The first test types in the page *Make an assignment from a solved notebook*: from the solution to the release.
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.solved_course import notebook
from tests.support.words_course import KEY_FILE, edit
from viva.plugins.authoring.by_hand_skeleton import KINDS

pytestmark = pytest.mark.long

PAGE = (Path(__file__).parents[2] / "docs" / "solved-notebook.md").read_text("utf-8")
NEED_ISOLATION = ("viva new", "viva preview", "viva verify", "viva release", "viva grade")


def environment() -> dict[str, str]:
    """What a new user has: no course of another test."""
    own = {name: value for name, value in os.environ.items() if name not in ("VIVA_COURSE", "VIVA_SECRET")}
    return {**own, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"}


def typed(lines: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    commands = [f"{line} --tier best" if line.startswith(NEED_ISOLATION) else line for line in lines.splitlines()]
    shell = ["bash", "-e", "-c", "\n".join(commands)]
    return subprocess.run(shell, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def test_from_the_solution_to_the_release(tmp_path: Path) -> None:
    notebook("attention", tmp_path)
    [example] = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
    ran = typed(example.replace("$ ", ""), tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "`attention`: 26 of 26 ways to break it are caught" in ran.stdout

    seen = typed("cd nlp\nviva preview attention", tmp_path)
    assert seen.returncode == 0 and "README.md, attention.ipynb, requirements.txt" in seen.stdout, seen.stderr
    assert "0 of 5.5 points" in seen.stdout and "NotImplementedError" in seen.stdout

    handed_out = tmp_path / "handed-out"
    starter = json.loads((handed_out / "attention.ipynb").read_text("utf-8"))
    assert "np.exp" not in json.dumps(starter) and "raise NotImplementedError" in json.dumps(starter)
    assert "saturate" not in json.dumps(starter) and "*Your answer here.*" in json.dumps(starter)
    solved = tmp_path / "nlp/fixtures/attention/submissions/accepted/source/attention.ipynb"
    (handed_out / "attention.ipynb").write_bytes(solved.read_bytes())
    checked = typed("viva check", handed_out)
    assert checked.returncode == 0 and "5.5 of 5.5 points" in checked.stdout, checked.stdout + checked.stderr

    # The author changes the solution; the starter, the key and what students check against follow.
    source = tmp_path / "nlp/assignments/attention/source.ipynb"
    source.write_text(source.read_text("utf-8").replace("-1e9", "-1e8"))
    ran = typed("cd nlp\nviva verify attention\nviva new attention --large", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "-1e8" in (tmp_path / "nlp/graders/attention/key.py").read_text("utf-8")
    assert not source.exists()


def at_a_terminal(command: list[str], answers: str, folder: Path) -> str:
    """What a command says to somebody who types these lines."""
    leader, follower = os.openpty()
    try:
        with subprocess.Popen(
            [str(Path(sys.executable).parent / command[0]), *command[1:]],
            cwd=folder, env=environment(), stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            os.write(leader, answers.encode())
            said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
        return said
    finally:
        os.close(leader)
        os.close(follower)


def test_notebook_with_every_kind_of_question(tmp_path: Path) -> None:
    typed("viva init nlp", tmp_path)
    said = at_a_terminal(["viva", "new"], "hw_2\n\n", tmp_path / "nlp")
    assert "viva new hw_2 --from hw_2.ipynb" in said
    ran = typed("cd nlp\nviva new hw_2 --from hw_2.ipynb --no-mutants\nviva verify hw_2", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "!" not in ran.stdout and "# Hw 2" in (tmp_path / "nlp/hw_2.ipynb").read_text("utf-8")
    tests = (tmp_path / "nlp/assignments/hw_2/tests.py").read_text("utf-8")
    for kind in ("agree_on(student.one_hot", "played(", '"printed")', "agree_in_distribution(", "student.n_parameters"):
        assert kind in tests, tests
    assert 'needs_review(submission.written["6"], rubric="6")' in tests
    ran = typed("cd nlp\nviva new < /dev/null", tmp_path)
    assert ran.returncode == 1 and "Give its name" in ran.stderr


def test_points_that_the_notebook_does_not_give(tmp_path: Path) -> None:
    functions = "def total(x):\n    return sum(x)\n\ndef most(x):\n    return max(x)\n"
    (tmp_path / "sums.py").write_text(f"{functions}\ntotal([1, 2]), most([1, 2])\n")
    typed("viva init nlp", tmp_path)
    asked = ["viva", "new", "asked", "--from", "../sums.py", "--no-mutants"]
    said = at_a_terminal(asked, "many\n2.5\n\n", tmp_path / "nlp")
    assert "Points of 1 (`total`) [1]: " in said and "expected a number" in said
    assert "2.5 points" in said and "points not given" not in said
    folder = tmp_path / "nlp/assignments/asked"
    assert 'points: "7/2"\n' in (folder / "assignment.yaml").read_text("utf-8")
    assert '@weight("5/4")' in (folder / "tests.py").read_text("utf-8")
    ran = typed("cd nlp\nviva verify asked --no-mutants\nviva new marked --from ../sums.py --no-mutants", tmp_path)
    assert ran.returncode == 0 and ran.stdout.count("points not given") == 2, ran.stdout + ran.stderr
    marked = (tmp_path / "nlp/assignments/marked/assignment.yaml").read_text("utf-8")
    assert "points: 2  # TODO: the notebook gives no points for 1, 2; change @weight in tests.py as well\n" in marked


OBJECTS = """
from collections import deque
import numpy as np

class Link:
    def __init__(self, value, following=None):
        if value < 0:
            raise ValueError("negative")
        self.value, self.following = value, following

# ## 1. Reverse (2 points)
def reverse(link):
    ### BEGIN SOLUTION
    before = None
    while link:
        before, link = Link(link.value, before), link.following
    return before
    ### END SOLUTION

# ## 2. Turn (2 points)
def turn(queue, rng):
    ### BEGIN SOLUTION
    queue.rotate(int(rng.integers(0, 4)))
    ### END SOLUTION

reverse(Link(1, Link(2, Link(-0))))
turn(deque([1, 2, 3]), np.random.default_rng(0))
"""


def test_release_with_objects_as_arguments(tmp_path: Path) -> None:
    """Objects are arguments, results, and changed in place; a class that refuses some values is not asked for them."""
    (tmp_path / "solved.py").write_text(OBJECTS)
    ran = typed(
        "viva init nlp && cd nlp\nviva new lists --from ../solved.py --no-mutants\n"
        "viva verify lists --no-mutants\nviva release lists --to ../out",
        tmp_path,
    )
    assert ran.returncode == 0 and "has no test" not in ran.stdout, ran.stdout + ran.stderr
    tests = tmp_path / "nlp/assignments/lists/tests.py"
    assert "built(key.Link, integers(0," in tests.read_text("utf-8")
    tests.write_text(tests.read_text("utf-8").replace("built(key.Link, integers(0,", "built(key.Link, integers(-2,"))
    ran = typed("cd nlp\nviva verify lists --no-mutants\nviva release lists --to ../again", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    right = (tmp_path / "nlp/fixtures/lists/submissions/accepted/source/solved.py").read_text("utf-8")
    wrong = right.replace("before, link = Link(link.value, before)", "before, link = Link(link.value)")
    assert wrong != right
    for folder in ("out", "again"):
        for name, program, status in [("right.py", right, 0), ("wrong.py", wrong, 3)]:
            (tmp_path / name).write_text(program)
            checked = typed(f"cd {folder}\nviva check ../{name} --strict", tmp_path)
            assert checked.returncode == status, checked.stdout + checked.stderr
            assert ("2 of 2 points" in checked.stdout) == (status == 0), checked.stdout
            assert "could not" not in checked.stdout and "grader" not in checked.stdout, checked.stdout


# --- new-test

STACK = """

class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []

    def push(self, item: int) -> None:
        self.items.append(item)

    def height(self) -> int:
        return len(self.items)
"""
LONGEST = """

def longest(texts: list[str], at_least: int = 0) -> str:
    return max(texts, key=len, default="")
"""


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def read_test(course: Path, name: str) -> str:
    return (course / f"graders/words/test_{name}.py").read_text("utf-8")


def test_skeleton_runs_as_it_is(viva: Viva, own_course: Path) -> None:
    append(own_course / KEY_FILE, LONGEST)
    ran = viva("new-test", "3.1", "longest")
    assert ran.status == 0 and "test_3_1.py: draw what the question is about" in ran.out
    text = read_test(own_course, "3_1")
    ast.parse(text)
    assert '@number("3.1")' in text and "student.longest(texts), key.longest(texts)" in text and ".tolist()" in text
    assert "test_3_1.py has a test_longest already" in viva("new-test", "3.1", "longest").sentence()
    assert read_test(own_course, "3_1") == text
    ran = viva("verify", "--verbose")
    assert "the tests add up to 11 points, but assignment.yaml says 10" in ran.out
    assert "✓ holds   words: key" in ran.out
    assert viva("new-test", "3.1", "total").status == 0
    assert read_test(own_course, "3_1").startswith(text)


def test_function_can_be_left_out_where_one_is_left(viva: Viva, own_course: Path) -> None:
    ran = viva("new-test", "3.1")
    assert ran.status == 1 and "a test asks each function of the key already" in ran.sentence()
    (own_course / "reference").mkdir()
    lengths = "def lengths(words: list[str]) -> list[int]:\n    return []\n"
    (own_course / "reference/lengths.py").write_text(lengths, "utf-8")
    append(own_course / KEY_FILE, "\n\nfrom reference.lengths import lengths as word_lengths\n")
    assert viva("new-test", "3.2 (b)").status == 0
    assert "def test_word_lengths(student, key, rng):" in read_test(own_course, "3_2_b")
    append(own_course / KEY_FILE, "\n\ndef other(x: float):\n    return x\n\n\ndef another():\n    return 1\n")
    ran = viva("new-test", "3.3")
    assert ran.status == 1 and "no test asks other, another yet" in ran.sentence()
    (own_course / KEY_FILE).write_text("def broken(:", "utf-8")
    ran = viva("new-test", "3.3")
    assert ran.status == 1 and "key.py is not valid Python" in ran.sentence()
    assert not (own_course / "graders/words/test_3_3.py").exists()


def test_new_test_keeps_what_is_there(viva: Viva, own_course: Path) -> None:
    windows, empty = (own_course / "graders/words" / f"test_{name}.py" for name in ("9_1", "9_2"))
    windows.write_bytes(b"from viva.grading import agree, number, weight\r\n")
    empty.touch()
    assert viva("new-test", "9.1", "total").status == viva("new-test", "9.2", "total").status == 0
    assert windows.read_bytes().startswith(b"from viva.grading import agree, number, weight\r\n\n\n@number")
    assert empty.read_text("utf-8").startswith('"""Question 9.2."""')


def test_new_assignment_is_verified(viva: Viva, own_course: Path) -> None:
    """As it is made, and with every kind of question."""
    ran = viva("new", "hw_2", "--title", "Second homework")
    assert (ran.status, ran.err) == (0, "") and "Next: viva verify hw_2" in ran.out
    ran = viva("verify", "hw_2", "--tier", "T0")
    assert ran.status == 0 and "0 do not" in ran.out, ran.out + ran.err
    append(own_course / "graders/hw_2/key.py", STACK)
    assert viva("new-test", "2.1", "Stack", "-a", "hw_2").status == 0
    for number, kind in enumerate(KINDS):
        ran = viva("new-test", f"3.{number}", "--answer", kind, "-a", "hw_2")
        assert ran.status == 0 and f"complete question 3.{number}" in ran.out, ran.err
    edit(own_course / "assignments/hw_2/assignment.yaml", "points: 12", "points: 18")
    ran = viva("verify", "hw_2", "--tier", "T0", "--verbose")
    assert "✓ holds   hw_2: key" in ran.out, ran.out + ran.err

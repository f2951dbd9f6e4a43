"""The page *Make an assignment from a solved notebook*, typed in: three commands from the solution to the release."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.solved_course import notebook

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


@pytest.mark.long
def test_from_the_solution_to_what_students_get(tmp_path: Path) -> None:
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


@pytest.mark.long
def test_who_has_no_notebook_gets_one_with_every_kind_of_question(tmp_path: Path) -> None:
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


@pytest.mark.long
def test_points_that_the_notebook_does_not_give_are_asked_or_marked(tmp_path: Path) -> None:
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


@pytest.mark.long
def test_bad_sources_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "empty.ipynb").write_text("{}")
    (tmp_path / "prose.py").write_text("# %% [markdown]\n# Nothing\n")
    (tmp_path / "broken.py").write_text("import math\ndef f(x:\n    return x\n")
    (tmp_path / "open.py").write_text("def f(x):\n    return x\n    ### END SOLUTION\n")
    typed("viva init nlp", tmp_path)
    for name, said in (
        ("empty.ipynb", "cannot be read as a notebook"),
        ("prose.py", "found no question"),
        ("broken.py", "cell 1, line 2 is not valid Python"),
        ("open.py", "cell 1 of all cells, line 3: END SOLUTION has no BEGIN before it."),
    ):
        ran = typed(f"cd nlp\nviva new hw --from ../{name}", tmp_path)
        assert ran.returncode == 1 and said in ran.stderr and "Traceback" not in ran.stderr
    assert not (tmp_path / "nlp/assignments/hw").exists()


@pytest.mark.long
def test_a_library_that_is_missing_is_said_with_the_rest(tmp_path: Path) -> None:
    code = "import no_such_library\n\ndef total(x):\n    return no_such_library.total(x)\n"
    source = f"# %% [markdown]\n# ## 1 Sums (2 points)\n\n# %%\n{code}"
    (tmp_path / "sums.py").write_text(source, "utf-8")
    ran = typed("viva init nlp\ncd nlp\nviva new sums --from ../sums.py", tmp_path)
    assert ran.returncode == 0 and "Traceback" not in ran.stdout + ran.stderr, ran.stderr
    assert "! Cell 2 of the solution raised ModuleNotFoundError: No module named 'no_such_library'" in ran.stdout
    assert "the answer key cannot be imported: ModuleNotFoundError" in ran.stdout
    assert "! 1 `total` has no test: viva cannot draw its argument `x`" in ran.stdout


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


@pytest.mark.long
def test_what_students_get_answers_for_objects_without_the_key(tmp_path: Path) -> None:
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

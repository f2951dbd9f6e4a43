"""`viva init`, `viva new` and `viva new-test` write files that a course can use, or nothing."""

import ast
import errno
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.table_rows import Rows
from viva.config.load_course import load_course
from viva.model.errors import CourseError, UsageError
from viva.plugins.authoring.by_hand_skeleton import KINDS, write_by_hand
from viva.plugins.authoring.empty_course import make_course
from viva.plugins.authoring.new_assignment import add_assignment
from viva.plugins.authoring.skeleton import write_skeleton


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_course(tmp_path / "NLP: 2026")
    return tmp_path / "NLP: 2026"


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_new_course(root: Path) -> None:
    assert load_course(root).title == "NLP: 2026"
    assert len(load_course(root).secret({})) >= 32


def test_new_assignment(root: Path) -> None:
    before = files(root)
    add_assignment(load_course(root), "hw_2", "Homework: 2")
    course, after = load_course(root), files(root)
    assert course.assignments == ("first_steps", "hw_2")
    assert course.assignment("hw_2").title == "Homework: 2" and course.assignment("hw_2").points == 12
    assert {name: data for name, data in after.items() if name in before and data != before[name]}.keys() == {
        "grader.yaml"
    }
    new = {name: data for name, data in after.items() if name not in before}
    assert {name.split("/")[1] for name in new} == {"hw_2"} and not any(b"first_steps" in data for data in new.values())
    assert "def word_counts" in after["graders/hw_2/key.py"].decode()


def test_invalid_name(root: Path) -> None:
    (root / "graders/taken").mkdir()
    before = files(root)
    with Rows() as row:
        for name, said in {
            "first_steps": "lists an assignment `first_steps` already",
            "a b": "cannot be called 'a b'",
            "../x": "cannot be called '../x'",
            "": "cannot be called ''",
            "taken": "graders/taken is there already",
        }.items():
            with row(name), pytest.raises(UsageError, match=re.escape(said)):
                add_assignment(load_course(root), name)
    assert files(root) == before


def test_failed_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(root)

    def full(path: Path, data: bytes, **_more: object) -> None:
        if path.name == "key.py":
            raise UsageError(f"{path}: No space left on device.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    monkeypatch.setattr("viva.plugins.authoring.new_assignment.write_atomically", full)
    with pytest.raises(UsageError, match="No space left"):
        add_assignment(load_course(root), "hw_2")
    assert files(root) == before and not (root / "assignments/hw_2").exists()


# --- viva new-test


CLASS = """

class Stack:
    def __init__(self, size: int, items: list[int] = ()):
        self.items = list(items)[:size]

    def push(self, item: int) -> None:
        self.items.append(item)

    def top(self):
        return self.items[-1]

    @property
    def size(self): ...
"""


def test_test_of_a_class(root: Path) -> None:
    key = root / "graders/first_steps/key.py"
    key.write_text(key.read_text("utf-8") + CLASS, "utf-8")
    assignment = load_course(root).assignment("first_steps")
    path = write_skeleton(assignment, root, "3.1", None)  # a class is found like a function
    (test,) = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
    source = ast.unparse(test)
    assert "size = int(rng.integers(1, 10))" in source and "student.Stack.keep(size)" in source
    assert "calls = [('push', int(rng.integers(1, 10))), ('top',)]" in source
    with pytest.raises(UsageError, match="a test asks each function of the key already"):
        write_skeleton(assignment, root, "3.2", None)
    names: dict[str, Any] = {}
    exec("\n".join(key.read_text("utf-8").splitlines()[3:]), names)
    assert names["played_Stack"]([2], [("push", 5), ("top",)]) == [None, 5]


def test_kinds_of_answers(root: Path) -> None:
    course = load_course(root)
    for number, kind in enumerate(KINDS):
        write_by_hand(course.assignment("first_steps"), f"2.{number}", kind)
    folder = root / "assignments/first_steps"
    starter = yaml.safe_load((folder / "starter/answers.yaml").read_text("utf-8"))
    assert starter == {"answers": dict.fromkeys(["2.0", "2.1", "2.2", "2.3"]), "written": {"1.1": None, "2.4": None}}
    names: dict[str, Any] = {}
    exec((root / "graders/first_steps/key.py").read_text("utf-8").split("word_counts as word_counts")[1], names)
    assert names["answers"] == {"2.0": {"A"}, "2.1": 0.5, "2.2": "2*d + 1", "2.3": [[1, 0], [1, 1]]}
    for number in range(len(KINDS)):
        ast.parse((root / f"graders/first_steps/test_2_{number}.py").read_text("utf-8"))
    rubric = load_course(root).assignment("first_steps").rubric()
    assert [question.number for question in rubric.questions] == ["1.1", "2.4"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("answers = {}\n", 'answers = {"9": 0.5}\n'),
        ('answers = {"1": "é"}  # c\n', 'answers = {"1": "é", "9": 0.5}  # c\n'),
        ('answers: dict = {\n    "1": 2,\n}\nx = 1\n', 'answers: dict = {\n    "1": 2,\n    "9": 0.5,\n}\nx = 1\n'),
        ("x = 1\n", 'x = 1\n\n\nanswers = {\n    "9": 0.5,\n}\n'),
    ],
)
def test_answer_in_the_key(root: Path, before: str, after: str) -> None:
    key = root / "graders/first_steps/key.py"
    key.write_text(before, "utf-8")
    write_by_hand(load_course(root).assignment("first_steps"), "9", "number")
    assert key.read_text("utf-8") == after


def test_existing_answer(root: Path) -> None:
    assignment = load_course(root).assignment("first_steps")
    write_by_hand(assignment, "2.1", "choice")
    before = files(root)
    with pytest.raises(UsageError, match=r"has an answer to '2\.1' already"):
        write_by_hand(assignment, "2.1", "number")
    with pytest.raises(CourseError, match=r"cannot add question '1\.1' under `questions:`"):
        write_by_hand(assignment, "1.1", "written")
    (root / "graders/first_steps/key.py").write_text("answers = dict(a=1)\n", "utf-8")
    with pytest.raises(CourseError, match=r"only if it is written as \{\.\.\.\}"):
        write_by_hand(assignment, "2.2", "choice")
    assert {**files(root), "graders/first_steps/key.py": b""} == {**before, "graders/first_steps/key.py": b""}


def test_imports_of_a_test(root: Path) -> None:
    assignment = load_course(root).assignment("first_steps")
    path, settings = root / "graders/first_steps/test_5.py", root / "assignments/first_steps/assignment.yaml"
    without_answers = settings.read_bytes()
    with Rows() as row:
        for before, line in {
            '"""Five."""\n\nfrom viva.grading import agree\n': 2,
            '"""Five."""\n': 1,
            "import re\n": 0,
            "from viva.grading import (\n    agree as a,\n)\n": 3,
        }.items():
            with row(before):
                path.write_text(before, "utf-8")
                key = root / "graders/first_steps/key.py"
                key.write_text("answers = {}\n", "utf-8")
                settings.write_bytes(without_answers)
                write_by_hand(assignment, "5", "table")
                lines = path.read_text("utf-8").splitlines()
                ast.parse("\n".join(lines))
                assert "agree_table" in lines[line] and lines[line].startswith("from viva.grading import ")


@pytest.mark.parametrize("exists", [True, False])
def test_unwritable_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = tmp_path / "course"
    if exists:
        folder.mkdir()
    monkeypatch.setattr("viva.plugins.authoring.empty_course.secrets.token_hex", fail)
    with pytest.raises(UsageError, match="no course was made, because it cannot be written: No space left on device"):
        make_course(folder)
    assert folder.exists() is exists and not (exists and [*folder.iterdir()])

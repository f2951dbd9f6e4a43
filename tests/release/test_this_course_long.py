"""Every assignment of this course can be released, and what is released tells nothing of keys and hidden tests."""

import ast
from pathlib import Path

import pytest

from tests.support.course_of_texts import best_tier
from tests.support.verified_examples import COURSE, ROOT, SECRET, verified_examples
from viva.release.student_release import Release
from viva.replay.key_recording import RECORD
from viva.replay.key_recording.key_recording import record_from

QUICKEST = "attention_theory"
TELLING = 50
"""Characters of a line of code that no two authors write alike."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name == QUICKEST else pytest.mark.nightly)
        for name in COURSE.assignments
    ],
)
def test_it_is_released_and_tells_nothing(name: str, tmp_path: Path) -> None:
    verified_examples(name)
    assignment = COURSE.assignment(name)
    told = Release(COURSE, assignment, best_tier(), SECRET).to(tmp_path / name)
    texts = {path: as_text(path, data) for path, data in told.files.items()}
    released = {entry.test_id.partition("::")[2] for entry in told.tests}
    for function, title in hidden_tests(assignment.graders):
        assert function not in released
        assert not any(function in text or title in text for text in texts.values()), function
    beside = "".join(text for path, text in texts.items() if "/graders/" not in path or "inside" in path)
    for line in code_of(assignment.graders / "key.py", *(ROOT / "reference").rglob("*.py")):
        found = [path for path, text in texts.items() if line in text]
        assert not found or line in beside, (line, found)


def as_text(path: str, data: bytes) -> str:
    if path.endswith(RECORD):
        record = record_from(data)
        return repr(([record.answer(question) for question in record.answers], record.hints))
    return data.decode("utf-8", "replace")


def hidden_tests(graders: Path) -> list[tuple[str, str]]:
    """Functions and their first line, by their decorators."""
    found = []
    for path in graders.glob("test_*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any("visibility" in ast.unparse(d) for d in node.decorator_list):
                found.append((node.name, str(ast.get_docstring(node)).splitlines()[0]))
    assert found
    return found


def code_of(*paths: Path) -> set[str]:
    """Long lines of functions, as they are written once comments and layout are gone."""
    lines = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                node.body = node.body[1:] if ast.get_docstring(node) else node.body
                lines |= {line.strip() for part in node.body for line in ast.unparse(part).splitlines()}
    return {line for line in lines if len(line) >= TELLING}

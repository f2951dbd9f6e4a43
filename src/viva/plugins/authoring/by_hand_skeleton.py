"""Write a test for an answer that is not code: a choice, a number, a formula, a table, or a text to grade by hand.

assignment.yaml gets the form of the answer, from which the starter is made, the key a placeholder for the right answer,
and a text its rubric, so that `viva verify` runs at once and names what is left to do.
"""

import ast
import json
from pathlib import Path
from typing import Final, NamedTuple

from viva.config import Assignment
from viva.config.load_assignment import load_assignment
from viva.formats.atomic_write import write_atomically
from viva.model.errors import CourseError, UsageError
from viva.plugins.authoring.skeleton import append_test, parsed_key, test_file
from viva.plugins.authoring.source.answers_starter import refresh_answers
from viva.plugins.authoring.yaml_edit import NotEditable, with_entry


class _Form(NamedTuple):
    """How an answer of one kind is compared."""

    function: str
    """What `viva.grading` compares it with."""
    placeholder: str
    """A right answer, as source code."""
    more: str
    """Further arguments of the comparison."""
    declared: str
    """The form, as assignment.yaml declares it."""


FORMS: Final = {
    "choice": _Form("agree_choice", '{"A"}', "", "choices [A, B, C, D]"),
    "number": _Form("agree_number", "0.5", "", "number"),
    "formula": _Form("agree_formula", '"2*d + 1"', ', ["d"]', "formula in d"),
    "table": _Form("agree_table", "[[1, 0], [1, 1]]", "", "table 2x2"),
}
WRITTEN: Final = "written"
KINDS: Final = (*FORMS, WRITTEN)

_COMPARED: Final = '''

@number({quoted})
@weight(1)
def test_{name}(submission, key):
    """Say in one sentence, for the student, what is asked."""
    {function}(submission.answers[{quoted}], key.answers[{quoted}]{more})
'''
_BY_HAND: Final = '''

@number({quoted})
@weight(1)
def test_{name}(submission):
    """Say in one sentence, for the student, what is asked."""
    needs_review(submission.written[{quoted}], rubric={quoted})
'''
_RUBRIC: Final = """\
{quoted}:
  title: Say what the question is about
  points: 1
  model: Write a model answer here.
  items:
    - {{id: right, points: 1, text: Say what a right answer contains.}}
"""


def write_by_hand(assignment: Assignment, question: str, kind: str) -> list[Path]:
    """Add a question whose answer is not code; return the files that were changed.

    Args:
        assignment: the assignment that gets the question.
        question: its number, which is also the name of the answer.
        kind: one of `KINDS`.

    Raises:
        UsageError: the assignment has such a test, or such an answer.
        CourseError: a file of the course cannot be read, or has a form to which viva cannot add.
    """
    name = f"{kind}_{test_file(assignment, question).stem.removeprefix('test_')}"
    quoted = json.dumps(question, ensure_ascii=False)
    starter = assignment.folder / "starter" / "answers.yaml"
    changes: dict[Path, str] = {}
    if kind == WRITTEN:
        test, names = _BY_HAND.format(quoted=quoted, name=name), ("needs_review", "number", "weight")
        changes[assignment.folder / "rubric.yaml"] = _with_entry(
            assignment.folder / "rubric.yaml", "questions", question, _RUBRIC.format(quoted=quoted).splitlines()
        )
        changes[starter] = _with_entry(starter, WRITTEN, question, [f"{quoted}:"])
    else:
        form = FORMS[kind]
        test = _COMPARED.format(quoted=quoted, name=name, function=form.function, more=form.more)
        names = (form.function, "number", "weight")
        key = assignment.graders / "key.py"
        changes[key] = _with_answer(key, question, f"{quoted}: {form.placeholder},")
        settings = assignment.folder / "assignment.yaml"
        changes[settings] = _with_entry(settings, "answers", question, [f"{quoted}: {form.declared}"])
    path = append_test(assignment, question, name, test, names)
    for file, text in changes.items():
        write_atomically(file, text.encode())
    refresh_answers(load_assignment(assignment.folder.parents[1], assignment.name))
    return [path, *changes]


def _with_entry(path: Path, parent: str, question: str, lines: list[str]) -> str:
    try:
        return with_entry(_text(path), (parent,), question, lines)
    except NotEditable:
        raise CourseError(
            f"{path}: viva cannot add question {question!r} under `{parent}:`; it is there already, or the file is not "
            "written as a block of lines. Add it yourself, or give another number."
        ) from None


def _with_answer(path: Path, question: str, line: str) -> str:
    """Add a line to the dictionary `answers` of the key, or the dictionary."""
    text = _text(path)
    for node in parsed_key(path).body:
        target = (
            node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else 0
        )
        if not (isinstance(target, ast.Name) and target.id == "answers"):
            continue
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if not isinstance(value, ast.Dict):
            raise CourseError(f"{path}: viva can add to `answers` only if it is written as {{...}}. Add {line}")
        if any(isinstance(key, ast.Constant) and key.value == question for key in value.keys):
            raise UsageError(f"{path} has an answer to {question!r} already. Give another number.")
        return _inserted(text, value, line)
    return f"{text.rstrip()}\n\n\nanswers = {{\n    {line}\n}}\n".lstrip("\n")


def _inserted(text: str, value: ast.Dict, line: str) -> str:
    lines = text.encode().splitlines(keepends=True)
    assert value.end_lineno is not None and value.end_col_offset is not None
    last = lines[value.end_lineno - 1]
    before = b"".join(lines[: value.end_lineno - 1]) + last[: value.end_col_offset - 1]
    after = last[value.end_col_offset - 1 :] + b"".join(lines[value.end_lineno :])
    inner = before.rstrip()
    comma = b"" if inner.endswith((b"{", b",")) else b","
    if value.lineno == value.end_lineno:
        space = b"" if inner.endswith(b"{") else b" "
        return (inner + comma + space + line.rstrip(",").encode() + after).decode()
    return (inner + comma + f"\n    {line}\n".encode() + after).decode()


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}.") from None

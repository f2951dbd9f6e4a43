"""The place for answers by hand in the starter: `answers.yaml` and the notebook's cell, from the declared forms."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.formats.atomic_write import write_atomically
from viva.model.answer_form import AnswerForm

_HEAD: Final = "# Answers by hand; leave out what your notebook or module already says in a dict called `answers`.\n"
_CELL: Final = "answers = {"
_COLUMN: Final = 32
"""Where the remarks begin."""


def refresh_answers(assignment: Assignment) -> list[Path]:
    """Make the starter's places for answers again, where the declared forms say something else; return these files.

    Of the starter's notebooks, the cell that begins with `answers = {` is replaced.
    """
    if not assignment.answers or not assignment.starter.is_dir():
        return []
    written = [question.number for question in assignment.rubric().questions]
    contents = {assignment.starter / "answers.yaml": answers_yaml(assignment.answers, written).encode()}
    for path in sorted(assignment.starter.glob("*.ipynb")):
        contents[path] = _with_cell(path.read_bytes(), assignment.answers)
    changed = [path for path, content in contents.items() if not path.is_file() or path.read_bytes() != content]
    for path in changed:
        write_atomically(path, contents[path])
    return changed


def answers_yaml(forms: Mapping[str, AnswerForm], written: Iterable[str]) -> str:
    """Return an empty answers.yaml: a line for each answer with its form, and one for each answer in words."""
    lines = [f"  {json.dumps(number)}:".ljust(_COLUMN) + f"  # {_remark(form)}" for number, form in forms.items()]
    in_words = [f"  {json.dumps(number)}:" for number in written]
    if in_words:
        in_words = ["# Answers in words.", "written:", *in_words]
    return _HEAD + "\n".join(["answers:", *lines, *in_words]) + "\n"


def answers_cell(forms: Mapping[str, AnswerForm]) -> str:
    """Return the source of a notebook's cell with a place for each answer."""
    lines = [
        f"    {json.dumps(number)}: None,".ljust(_COLUMN) + f"  # {_remark(form)}" for number, form in forms.items()
    ]
    return "\n".join([_CELL, *lines, "}"])


def _remark(form: AnswerForm) -> str:
    return f"{form.description}; {form.note}" if form.note else form.description


def _with_cell(notebook: bytes, forms: Mapping[str, AnswerForm]) -> bytes:
    """Return a notebook with the cell of answers made again; the same bytes if it has none or says the same."""
    content, wanted = json.loads(notebook), answers_cell(forms)
    sources = [cell for cell in content["cells"] if "".join(cell["source"]).startswith(_CELL)]
    if all("".join(cell["source"]) == wanted for cell in sources):
        return notebook
    for cell in sources:
        cell["source"] = wanted.splitlines(keepends=True)
    return f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode()

"""The questions of a handout: how each is called, and what it asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.submissions.notebook_cells import NotebookError, read_notebook
from viva.submissions.notebook_prose import number_of

_HEADING: Final = re.compile(
    r"^(?:#{1,6} +|\*\*)(?:Question +)?(?P<number>[A-Za-z]?[0-9][0-9A-Za-z.]*?)\.?(?:\*\*)?(?: +(?P<title>.*?))?"
    r"(?: *\([0-9.]+ points?\))?(?:\*\*)? *$",
    re.MULTILINE,
)
"""A heading, or a bold line, that begins with the number of a question."""
_NEXT: Final = re.compile(r"^#{1,6} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HandoutQuestion:
    """One question as students read it."""

    number: str
    title: str
    text: str
    """Markdown, without the heading."""


def handout_questions(assignment: Assignment) -> tuple[HandoutQuestion, ...]:
    """Return the questions of handout.md, or else of the starter's notebooks; only headings with numbers count."""
    handout = assignment.folder / "handout.md"
    if handout.is_file():
        return _questions(handout.read_text("utf-8", "replace"))
    notebooks = sorted(assignment.starter.glob("*.ipynb")) if assignment.starter.is_dir() else []
    return _questions("\n\n".join(_prose(path) for path in notebooks))


def find_question(questions: Sequence[HandoutQuestion], number: str) -> HandoutQuestion | None:
    """Return the question of that number, or the nearest one above it: 2.1 for 2.1.3; None if there is none."""
    parts = number_of(number)
    above = [q for q in questions if parts[: len(number_of(q.number))] == number_of(q.number)]
    return max(above, key=lambda q: len(number_of(q.number)), default=None)


@lru_cache(maxsize=8)
def _questions(text: str) -> tuple[HandoutQuestion, ...]:
    found = []
    for heading in _HEADING.finditer(text):
        following = _NEXT.search(text, heading.end())
        below = text[heading.end() : following.start() if following else len(text)]
        found.append(HandoutQuestion(heading["number"], (heading["title"] or "").strip(" .*"), below.strip()))
    return tuple(found)


def _prose(path: Path) -> str:
    try:
        return "\n\n".join(cell.source for cell in read_notebook(path.read_bytes()).prose)
    except NotebookError:
        return ""

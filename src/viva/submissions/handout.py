"""The questions of a handout: how each is called, what it asks, and what it is worth."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.submissions.notebook_cells import NotebookError, read_notebook
from viva.submissions.notebook_prose import number_of

_HEADING: Final = re.compile(
    r"^(?:#{1,6} *|\*\*)(?:Question +)?(?P<number>[A-Za-z]?[0-9][0-9A-Za-z.]*?)\.?(?:\*\*)?(?: +(?P<title>.*?))?"
    r"(?: *\((?P<points>[0-9]+(?:\.[0-9]+)?) points?\).*)?$",
    re.MULTILINE,
)
"""A heading, or a bold line, that begins with the number of a question."""
_NEXT: Final = re.compile(r"^#{1,6} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HandoutQuestion:
    """One question as students read it."""

    number: str
    title: str
    points: Fraction | None
    """None if the heading does not state them."""
    text: str
    """Markdown, without the heading."""


def handout_questions(assignment: Assignment) -> tuple[HandoutQuestion, ...]:
    """Return the questions of handout.md, or else of the starter's notebooks; only headings with numbers count."""
    handout = assignment.folder / "handout.md"
    if handout.is_file():
        return questions_in(handout.read_text("utf-8", "replace"))
    notebooks = sorted(assignment.starter.glob("*.ipynb")) if assignment.starter.is_dir() else []
    return questions_in("\n\n".join(_prose(path) for path in notebooks))


def find_question(questions: Sequence[HandoutQuestion], number: str) -> HandoutQuestion | None:
    """Return the question with that number, or the closest one above it (2.1 for 2.1.3); None if neither exists."""
    above = [question for question in questions if is_below(number, question.number)]
    return max(above, key=lambda q: len(number_of(q.number)), default=None)


@lru_cache(maxsize=8)
def is_below(number: str, heading: str) -> bool:
    """Return whether a question belongs to a heading: 1a.ii belongs to 1a and to 1, but 1.10 does not belong to 1.1."""
    parts = number_of(heading)
    return number_of(number)[: len(parts)] == parts


def questions_in(text: str) -> tuple[HandoutQuestion, ...]:
    """Return the questions of a text in Markdown, each below a heading or bold line that begins with its number."""
    found = []
    for heading in _HEADING.finditer(text):
        following = _NEXT.search(text, heading.end())
        below = text[heading.end() : following.start() if following else len(text)]
        points = Fraction(heading["points"]) if heading["points"] else None
        title = (heading["title"] or "").strip(" .*")
        found.append(HandoutQuestion(heading["number"], title, points, below.strip()))
    return tuple(found)


def _prose(path: Path) -> str:
    try:
        return "\n\n".join(cell.source for cell in read_notebook(path.read_bytes()).prose)
    except NotebookError:
        return ""

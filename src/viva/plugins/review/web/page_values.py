"""The values that pages show of an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viva.config.rubric import Question, evidence
from viva.formats import escaping
from viva.model import Entry
from viva.model.hand_grading import APPEAL, Judgement, Review
from viva.plugins.report import safe_html
from viva.plugins.review.comment_bank import Comment, reusable_comments
from viva.plugins.review.decision_log import place_of
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.written_answers import Answer
from viva.submissions.handout import find_question, handout_questions

if TYPE_CHECKING:
    from markupsafe import Markup

    from viva.plugins.report.notebook_view import ShownCell

_BEGINNING_CHARACTERS = 90
_CELLS_AROUND = (2, 4)
"""The number of cells before and after the answer that are shown at first."""
_FEWEST_CHARACTERS = 20
"""The fewest characters of an answer by which its cell is searched."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A student's prose for a page."""

    text: str
    html: "Markup"

    @property
    def source(self) -> "Markup":
        """Return the whole text as it was typed."""
        return safe_html.as_text(self.text)


@dataclass(frozen=True, slots=True)
class NearCell:
    """A cell of the notebook, and whether it holds the answer."""

    shown: "ShownCell"
    near: bool


@dataclass(frozen=True, slots=True)
class ReadyComment:
    """A reusable comment, and what choosing it does to its rubric item."""

    comment: Comment
    sign: str
    """"+" chooses the item, "-" removes it, empty does not change it."""

    @property
    def text(self) -> str:
        """Return the comment."""
        return self.comment.text

    @property
    def title(self) -> str:
        """Return the misconception; empty if the title is only the beginning of the comment."""
        return self.comment.title if self.comment.item else ""

    @property
    def item(self) -> str:
        """Return the id of the rubric item that belongs to it."""
        return self.comment.item

    @property
    def used(self) -> int:
        """Return how often it was used."""
        return self.comment.used


def question_text(queue: ReviewQueue, number: str) -> str:
    """Return what the handout asks in a question, as Markdown; empty if it has no heading with that number."""
    asked = find_question(handout_questions(queue.assignment), number)
    return asked.text if asked is not None else ""


def shown(answer: Answer) -> Shown:
    """Render an answer."""
    return Shown(answer.text, _rendered(answer.text))


@lru_cache(maxsize=512)
def _rendered(text: str) -> "Markup":
    return safe_html.render_text(text)


def state_of(queue: ReviewQueue, marker: Marker, answer: Answer) -> tuple[Judgement, int]:
    """Return the judgement of an answer in the marker's round, and the id of its row; 0 if there is none."""
    latest = queue.decisions.at(place_of(answer.key, marker.round))
    if latest is None:
        return Judgement(points=answer.points), 0
    return latest.judgement, latest.id


def evidence_for(queue: ReviewQueue, question: Question, answer: Answer) -> list[Entry]:
    """Return the test results of the same submission that the rubric names as evidence."""
    return evidence(question, queue.source.score(answer.submissions[0]).entries) if question.evidence else []


def ready_comments(queue: ReviewQueue, marker: Marker, question: Question) -> list[ReadyComment]:
    """Return the reusable comments for a question."""
    used = queue.decisions.comments(question.number, marker.round)
    return [_ready(question, comment) for comment in reusable_comments(question, used)]


def _ready(question: Question, comment: Comment) -> ReadyComment:
    item = question.item(comment.item) if comment.item else None
    return ReadyComment(comment, "" if item is None else "+" if item.points < 0 else "-")


def names(answer: Answer) -> list[str]:
    """Return the names of the students, one text for each submission that the answer belongs to."""
    found = []
    for submission in answer.submissions:
        students = ", ".join(
            f"{s.name} ({s.id})" if s.name and s.name != s.id else s.id for s in submission.attempt.students
        )
        found.append(students or submission.attempt.name)
    return list(dict.fromkeys(found))


def beginning(answer: Answer) -> str:
    """Return the first words of an answer, in one line."""
    words = escaping.line(answer.text[: 4 * _BEGINNING_CHARACTERS], characters=4 * _BEGINNING_CHARACTERS)
    if len(words) <= _BEGINNING_CHARACTERS:
        return words
    cut = words[:_BEGINNING_CHARACTERS]
    return f"{cut.rpartition(' ')[0] or cut} …"


def has_marked(queue: ReviewQueue, marker: Marker, answer: Answer) -> bool:
    """Return whether an answer is graded in the marker's own round."""
    return answer.content_hash in queue.decisions.done(answer.question, marker.round)


def visible_history(queue: ReviewQueue, marker: Marker, answer: Answer, history: Sequence[Review]) -> list[Review]:
    """Return the history that a marker may see: the other round only after the answer is graded in their own."""
    if has_marked(queue, marker, answer):
        return list(history)
    return [row for row in history if row.place.kind == APPEAL or row.place.round == marker.round]


def notebook(queue: ReviewQueue, answer: Answer, *, whole: bool) -> dict[str, Any]:
    """Return the template values for the cells around an answer, or for all cells."""
    from viva.plugins.report.feedback_page import describe_notebook
    from viva.plugins.report.notebook_view import NotebookError, show_cells

    found, why_none = queue.source.notebook(answer.submissions[0])
    if found is None:
        return {"why_none": why_none}
    try:
        cells = show_cells(found.data, executed=found.executed)
    except NotebookError as error:
        return {"why_none": f"The notebook cannot be shown: {error}."}
    at = _cell_of(answer.text, cells)
    near = [NearCell(cell, index == at) for index, cell in enumerate(cells)]
    if at is not None and not whole:
        near = near[max(0, at - _CELLS_AROUND[0]) : at + _CELLS_AROUND[1]]
    return {"why_none": "", "cells": near, "more": len(cells) - len(near), "about": describe_notebook(found)}


def _cell_of(text: str, cells: "Sequence[ShownCell]") -> int | None:
    """Return the index of the cell that contains the beginning of an answer; None if there is none."""
    wanted = _without_spaces(text)[:200]
    if len(wanted) < _FEWEST_CHARACTERS:
        return None
    for index, cell in enumerate(cells):
        source = _without_spaces(cell.source)
        if wanted in source or (len(source) >= _FEWEST_CHARACTERS and source[-200:] in _without_spaces(text)):
            return index
    return None


def _without_spaces(text: str) -> str:
    return "".join(text.split())

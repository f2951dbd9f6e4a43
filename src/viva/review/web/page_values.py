"""What pages show of an answer, as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viva.config.rubric import Question, evidence
from viva.formats import escaping
from viva.model import Entry
from viva.model.hand_grading import APPEAL, Judgement, Review
from viva.report.prose import render_prose
from viva.review.comment_bank import Phrase, phrases
from viva.review.decision_log import place_of
from viva.review.leases import Marker
from viva.review.queue import Desk
from viva.review.written_answers import Answer

if TYPE_CHECKING:
    from markupsafe import Markup

    from viva.report.feedback.notebook_view import ShownCell

_BEGINNING = 90
_AROUND = (2, 4)
"""Cells before and after the answer that are shown at first."""
_LEAST = 20
"""Characters of an answer by which its cell is found."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A student's prose for a page."""

    text: str
    html: "Markup"

    @property
    def source(self) -> "Markup":
        """All of it, as it was typed."""
        return render_prose.as_typed(self.text)


@dataclass(frozen=True, slots=True)
class NearCell:
    """A cell of the notebook, and whether it holds the answer."""

    shown: "ShownCell"
    near: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """A comment that is ready, and what choosing it does to its item."""

    phrase: Phrase
    sign: str
    """"+" chooses the item, "-" takes it back, empty leaves it."""

    @property
    def text(self) -> str:
        """The comment."""
        return self.phrase.text

    @property
    def title(self) -> str:
        """What it is about; empty where that is how it begins."""
        return self.phrase.title if self.phrase.item else ""

    @property
    def item(self) -> str:
        """The item that goes with it."""
        return self.phrase.item

    @property
    def used(self) -> int:
        """How often it was used."""
        return self.phrase.used


def shown(answer: Answer) -> Shown:
    """The answer, rendered."""
    return Shown(answer.text, _rendered(answer.text))


@lru_cache(maxsize=512)
def _rendered(text: str) -> "Markup":
    return render_prose.written(text)


def state_of(desk: Desk, marker: Marker, answer: Answer) -> tuple[Judgement, int]:
    """What was said of an answer in the marker's round, and the number of the row that says it."""
    there = desk.journal.at(place_of(answer.key, marker.round))
    if there is None:
        return Judgement(points=answer.points), 0
    return there.judgement, there.id


def beside(desk: Desk, question: Question, answer: Answer) -> list[Entry]:
    """The results of the same submission that stand beside the prose."""
    return evidence(question, desk.source.score(answer.handed_in[0]).entries) if question.evidence else []


def ready_comments(desk: Desk, marker: Marker, question: Question) -> list[Ready]:
    """Comments that are ready for a question."""
    used = desk.journal.comments(question.number, marker.round)
    return [_ready(question, phrase) for phrase in phrases(question, used)]


def _ready(question: Question, phrase: Phrase) -> Ready:
    item = question.item(phrase.item) if phrase.item else None
    return Ready(phrase, "" if item is None else "+" if item.points < 0 else "-")


def names(answer: Answer) -> list[str]:
    """Whose it is, by every name under which it was handed in."""
    found = []
    for one in answer.handed_in:
        students = ", ".join(f"{s.name} ({s.id})" if s.name and s.name != s.id else s.id for s in one.attempt.students)
        found.append(students or one.attempt.name)
    return list(dict.fromkeys(found))


def beginning(answer: Answer) -> str:
    """Its first words, in one line."""
    words = escaping.line(answer.text[: 4 * _BEGINNING], characters=4 * _BEGINNING)
    if len(words) <= _BEGINNING:
        return words
    cut = words[:_BEGINNING]
    return f"{cut.rpartition(' ')[0] or cut} …"


def has_marked(desk: Desk, marker: Marker, answer: Answer) -> bool:
    """Whether an answer is marked in the marker's own round."""
    return answer.content_hash in desk.journal.done(answer.question, marker.round)


def told_to(desk: Desk, marker: Marker, answer: Answer, history: Sequence[Review]) -> list[Review]:
    """What of the history a marker may see: nothing of the other round before the own one is marked."""
    if has_marked(desk, marker, answer):
        return list(history)
    return [row for row in history if row.place.kind == APPEAL or row.place.round == marker.round]


def notebook(desk: Desk, answer: Answer, *, whole: bool) -> dict[str, Any]:
    """The cells around an answer, or all of them."""
    from viva.report.feedback.feedback_page import what_is_shown
    from viva.report.feedback.notebook_view import NotebookError, shown_cells

    found, why_none = desk.source.notebook(answer.handed_in[0])
    if found is None:
        return {"why_none": why_none}
    try:
        cells = shown_cells(found.data, executed=found.executed)
    except NotebookError as error:
        return {"why_none": f"The notebook cannot be shown: {error}."}
    at = _cell_of(answer.text, cells)
    near = [NearCell(cell, index == at) for index, cell in enumerate(cells)]
    if at is not None and not whole:
        near = near[max(0, at - _AROUND[0]) : at + _AROUND[1]]
    return {"why_none": "", "cells": near, "more": len(cells) - len(near), "about": what_is_shown(found)}


def _cell_of(text: str, cells: "Sequence[ShownCell]") -> int | None:
    """The cell that holds most of the beginning of an answer; None where none does."""
    wanted = _squeezed(text)[:200]
    if len(wanted) < _LEAST:
        return None
    for index, cell in enumerate(cells):
        source = _squeezed(cell.source)
        if wanted in source or (len(source) >= _LEAST and source[-200:] in _squeezed(text)):
            return index
    return None


def _squeezed(text: str) -> str:
    return "".join(text.split())

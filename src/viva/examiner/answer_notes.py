"""Notes on answers that are not code: what belongs to no question, what cannot be read, and what is missing."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from viva.compare.answers.read_answer import read_answer
from viva.compare.answers.unreadable import Unreadable
from viva.compare.show import show
from viva.examiner.fixtures.submission_fixture import SubmissionView
from viva.model import Entry, Status
from viva.model.errors import BoxUnavailable, MissingName
from viva.model.hand_grading import NOTHING_WRITTEN, NOTHING_WRITTEN_FOR, UNREADABLE
from viva.submissions.notebook_prose import Number, number_of

_NO_ANSWER: Final = re.compile(r"No answer to question ([^\s]{1,60}) was found")
_MOST: Final = 12
_LONGEST: Final = 60
"""Characters of a text that are quoted."""


def notes_on_answers(view: SubmissionView, entries: Sequence[Entry], *, is_check: bool) -> list[str]:
    """Return one note for each kind of finding.

    Args:
        view: the submission.
        entries: the results of its tests.
        is_check: whether a student checks the work before submitting it: then everything that is missing is named.
    """
    by_hand = [entry for entry in entries if entry.rubric and not entry.rubric.startswith(UNREADABLE)]
    found = [f"The file of answers: {view.answers_file.problem}."] if view.answers_file.problem else []
    if names := _names_of_no_question(view):
        found.append(f"These names in the file of answers belong to no question: {list_names(names)}.")
    if by_hand and (texts := _texts_of_no_question(view, by_hand)):
        found.append(f"This text belongs to no question that is answered in words: {list_names(texts)}.")
    return [*found, *_unreadable(view), *_missing(view, entries)] if is_check else found


def _unreadable(view: SubmissionView) -> list[str]:
    """Return a sentence for each answer that does not have its declared form."""
    found, answers = [], view.answers
    for number, form in view.forms.items():
        with suppress(MissingName, BoxUnavailable):
            answer = answers.as_written(number)
            try:
                read_answer(answer, form)
            except Unreadable as why:
                found.append(f"`{number}` must be {form.description}; got {show(answer)}: {why}.")
    return found


def _names_of_no_question(view: SubmissionView) -> list[str]:
    """Return the names that are neither a question nor a part of one; all are right if nothing is known."""
    asked = view.questions()
    known = [*asked.numbers, *map(number_of, (*asked.answers, *asked.written, *view.looked_up_answers))]
    return [name for name in view.answers_file.names if known and not _is_known(number_of(name), known)]


def _is_known(number: Number, known: Iterable[Number]) -> bool:
    return any(number[: len(other)] == other or other[: len(number)] == number for other in known)


def _texts_of_no_question(view: SubmissionView, by_hand: Sequence[Entry]) -> list[str]:
    """Quote the texts of notebooks above all questions and, if an answer is missing, below those that ask for code."""
    asked = view.questions(*(entry.rubric for entry in by_hand))
    answered = {number_of(entry.rubric) for entry in by_hand}
    is_complete = all(entry.written for entry in by_hand)
    found = []
    for notebook in view.notebooks:
        for number, text in asked.questions.texts(notebook).items():
            if (own := asked.without(number, text)) and number not in answered and not (number and is_complete):
                found.append(f"“{' '.join(own.split())[:_LONGEST]}”")
    return found


def _missing(view: SubmissionView, entries: Sequence[Entry]) -> list[str]:
    """Name every answer that was not found: those that tests asked for, and those for which the starter has a place."""
    asked, answers, written = view.questions(), view.answers, view.written
    named = [number for entry in entries for number in _NO_ANSWER.findall(entry.message)]
    unwritten = [e.rubric for e in entries if e.status is Status.NEEDS_REVIEW and NOTHING_WRITTEN in e.message]
    with suppress(BoxUnavailable):  # then what code defines is not known
        named += [name for name in asked.answers if name not in answers]
        unwritten += [name for name in asked.written if not written[name]]
    return [
        *([f"No answer to: {list_names(named)}."] if named else []),
        *([f"{NOTHING_WRITTEN_FOR}{list_names(unwritten)}."] if unwritten else []),
    ]


def list_names(names: Iterable[str]) -> str:
    """Return the first names, each once, and how many there are besides."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ", ".join(found[:_MOST]) + more

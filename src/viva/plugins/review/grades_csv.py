"""Grades as a CSV table: written for a spreadsheet, and read again after people and spreadsheets have changed it.

The returned table is untrusted. A row counts if it says what one answer is worth and if no one has graded that answer
since the table was written. If any row is wrong, none counts.
"""

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Final, Self

from viva.config.rubric import Rubric
from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.model.hand_grading import FIRST, Judgement, Place
from viva.model.reason import Reason
from viva.plugins.review.decision_log import place_of
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.rubric_points import adjustment, judge, tidied
from viva.plugins.review.spreadsheet_cells import cell, number, rows, table, text_of
from viva.plugins.review.written_answers import Answer, Key

COLUMNS: Final = ("submission", "question", "answer", "items", "adjust", "comment", "done", "points", "seen")
_MOST_PROBLEMS: Final = 10
_YES_NO: Final = {"yes": True, "no": False, "": False}
_SEEN: Final = re.compile(r"([0-9]{1,18})-([a-p]{8})")
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")

Latest = Mapping[Key, tuple[int, Judgement]]
"""The current judgements of the answers that have one: the id of the row in the records, and the judgement."""


@dataclass(frozen=True, slots=True)
class ReadMark:
    """A judgement in a table that differs from the current one."""

    place: Place
    judgement: Judgement
    seen: int | None
    """The row of the records that the table was written from and that is still the current one; None for none."""


def to_csv(answers: Iterable[Answer], latest: Latest) -> bytes:
    """Return the table: a row for each answer, graded or not, in the given order."""
    return table([COLUMNS, *(_row(answer, latest.get(answer.key)) for answer in answers)])


def read_marks(
    data: bytes, answers: Mapping[Key, Answer], rubric: Rubric, latest: Latest, round: int = FIRST
) -> list[ReadMark]:
    """Read the judgements that were changed since the table was written.

    Rows and columns may have another order, and rows may be missing.

    Args:
        data: the returned table.
        answers: every answer of the class.
        rubric: the present rubric.
        latest: as for `to_csv`, at the time of reading.
        round: the round of the grades in the table.

    Raises:
        UsageError: it is not such a table, or rows are wrong. The message names the first ten, numbered as in a
            spreadsheet. Then no row counts.
    """
    reader = _Reader(answers, rubric, latest, round)
    marks, problems = [], []
    for place, cells in rows(data, COLUMNS, optional=("points",)):
        try:
            mark = reader.read(place, cells)
        except UsageError as error:
            problems.append(f"row {place}: {error}")
            continue
        if mark is not None:
            marks.append(mark)
    if problems:
        more = [f"and {len(problems) - _MOST_PROBLEMS:,} more."] if len(problems) > _MOST_PROBLEMS else []
        raise UsageError("\n".join(["Nothing was taken from the table.", *problems[:_MOST_PROBLEMS], *more]))
    return marks


@dataclass(frozen=True, slots=True)
class _Choice:
    """What a marker decides in a row of the table."""

    items: frozenset[str] = frozenset()
    adjust: Fraction = Fraction(0)
    comment: str = ""
    done: bool = False

    @classmethod
    def from_judgement(cls, judgement: Judgement) -> Self:
        return cls(frozenset(judgement.items), judgement.adjust, judgement.comment, judgement.done)

    def digest(self) -> str:
        """Return a digest of eight letters, without digits, so that no spreadsheet reads a number or a date."""
        fields = repr((sorted(self.items), str(self.adjust), self.comment, self.done))
        return hashlib.sha256(fields.encode("utf-8", "replace")).hexdigest()[:8].translate(_LETTERS)


@dataclass(slots=True)
class _Reader:
    """Reads rows and compares them with the current judgements."""

    answers: Mapping[Key, Answer]
    rubric: Rubric
    latest: Latest
    round: int
    places: dict[Key, int] = field(default_factory=dict)
    """The row number of each answer that was read so far."""

    def read(self, place: int, cells: Mapping[str, str]) -> ReadMark | None:
        """Return the judgement of a row; None if it is the current one.

        Raises:
            UsageError: the row is wrong.
        """
        answer = self._answer(place, cells)
        key = answer.key
        row, now = self.latest.get(key, (None, None))
        choice, given, (seen, written) = _choice(cells), _points(cells), _seen(cells)
        known = None if now is None else now.earned
        if written == choice.digest() and (given is None or (given == known if seen == row else seen is not None)):
            return None
        judgement = self._judge(answer, choice)
        is_new = _Choice.from_judgement(judgement) != _Choice.from_judgement(now or Judgement())
        if is_new and seen != row:
            raise UsageError("someone graded this answer after the table was written; grade it in a new table.")
        if given not in (None, judgement.earned, known):
            raise UsageError(
                f"points are {given}, and items and adjust are worth {judgement.earned}; choose items or adjust, and "
                "leave points empty."
            )
        return ReadMark(Place(*key, round=self.round), judgement, seen) if is_new else None

    def _answer(self, place: int, cells: Mapping[str, str]) -> Answer:
        """Return the answer that a row is about.

        Raises:
            UsageError: there is no such answer, an earlier row is about it too, or its text was changed.
        """
        key = text_of(cells["submission"]).strip(), text_of(cells["question"]).strip()
        answer = self.answers.get(key)
        if answer is None:
            raise UsageError(f"there is no answer to question {_quoted(key[1])} in a submission {_quoted(key[0])}.")
        if self.places.setdefault(key, place) != place:
            raise UsageError(f"it is about the same answer as row {self.places[key]}; keep one of them.")
        if _normalized(text_of(cells["answer"])) != _normalized(escaping.terminal(answer.text)):
            raise UsageError("the answer is not the one that was submitted; leave that column as it was written.")
        return answer

    def _judge(self, answer: Answer, choice: _Choice) -> Judgement:
        question = self.rubric.question(answer.question)
        if question is None:
            raise UsageError(f"the rubric has no question {_quoted(answer.question)} any more.")
        return judge(question, choice.items, choice.adjust, choice.comment, answer.points, done=choice.done)


def _row(answer: Answer, current: tuple[int, Judgement] | None) -> list[str]:
    row, judgement = current or (0, Judgement())
    return [
        cell(answer.content_hash),
        cell(answer.question),
        cell(escaping.terminal(answer.text)),
        cell(" ".join(judgement.items)),
        number(judgement.adjust) if judgement.adjust else "",
        cell(judgement.comment),
        "yes" if judgement.done else "",
        number(judgement.earned) if current else "",
        f"{row}-{_Choice.from_judgement(judgement).digest()}" if current else "",
    ]


def _choice(cells: Mapping[str, str]) -> _Choice:
    done = _YES_NO.get(cells["done"].strip().casefold())
    if done is None:
        raise UsageError(f"done is {_quoted(cells['done'])}; write yes, or leave the cell empty.")
    items = frozenset(text_of(cells["items"]).split())
    return _Choice(items, adjustment(text_of(cells["adjust"])), tidied(text_of(cells["comment"])), done)


def _points(cells: Mapping[str, str]) -> Fraction | None:
    text = text_of(cells.get("points", "").strip())
    return adjustment(text) if text else None


def _seen(cells: Mapping[str, str]) -> tuple[int | None, str]:
    """Return the id of the row that a table row was written from, and the digest of its judgement."""
    text = cells["seen"].strip()
    found = _SEEN.fullmatch(text)
    if text and not found:
        raise UsageError(f"seen is {_quoted(text)}; leave that column as it was written.")
    return (int(found[1]), found[2]) if found else (None, _Choice().digest())


def _normalized(text: str) -> str:
    """Normalize what spreadsheets change: spaces, line ends, and `true` to `TRUE`."""
    return " ".join(text.split()).casefold()


def _quoted(text: str) -> str:
    return f"`{escaping.line(text, characters=80)}`"


def export_csv(queue: ReviewQueue, round_: int) -> bytes:
    """Return every answer of the class with its grade in a round, as CSV."""
    return to_csv(queue.all_answers(), _latest(queue, round_))


def write_csv(queue: ReviewQueue, round_: int, path: Path) -> None:
    """Write that table to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, export_csv(queue, round_))


def import_csv(queue: ReviewQueue, marker: Marker, data: bytes) -> int:
    """Store the grades of a table that differ from the current ones as one action, and return how many these are.

    Raises:
        UsageError: it is not such a table, a row is wrong, one of its answers was graded since, or the marker may not
            grade one of them. Nothing was stored then.
    """
    answers = {answer.key: answer for answer in queue.all_answers()}
    marks = read_marks(data, answers, queue.rubric, _latest(queue, marker.round), marker.round)
    seen = {mark.place: mark.seen or 0 for mark in marks}
    queue.leases.check_may_mark(marker, [answers[mark.place.content_hash, mark.place.question] for mark in marks])
    judgements = [(mark.place, mark.judgement) for mark in marks]
    queue.append(judgements, Reason(marker.name), action=uuid.uuid4().hex, seen=seen)
    return len(marks)


def _latest(queue: ReviewQueue, round_: int) -> Latest:
    found = {}
    for answer in queue.all_answers():
        latest = queue.decisions.at(place_of(answer.key, round_))
        if latest is not None:
            found[answer.key] = (latest.id, latest.judgement)
    return found

"""What there is to mark: the written answers of a class, question by question, in an order that tells nothing."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from viva.course.rubric import Question, Rubric
from viva.model import Delivery, Entry, Marked

_ORDER = "viva: order of written answers"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one submission says to one question."""

    content_hash: str
    question: str
    """Its number in the rubric."""
    test_id: str
    points: Fraction
    """The test's."""
    text: str
    """The student's prose; may be empty."""
    findings: str
    """What the test has to say about it, for student and marker."""
    marked: tuple[Marked, ...]
    """Whose it is: several where equal bytes were handed in more than once. The score is the one without marks."""

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """Under which names it was handed in."""
        return tuple(one.delivery for one in self.marked)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All results of its submission."""
        return self.marked[0].score.entries


def answers_of(marked: Iterable[Marked], rubric: Rubric) -> dict[str, list[Answer]]:
    """The answers by question, in the order of the rubric.

    Answers to a question stand in an order that is the same every day and on every machine, and another one for each
    question: nobody is always the last one to be marked.

    Args:
        marked: every delivery whose prose counts, with its score.
        rubric: the assignment's; prose that no question of it marks is left out.
    """
    by_hash: dict[str, list[Marked]] = {}
    for one in marked:
        by_hash.setdefault(one.score.content_hash, []).append(one)
    found: dict[str, list[Answer]] = {question.number: [] for question in rubric.questions}
    for same in by_hash.values():
        for entry in written(same[0].score.entries):
            if entry.rubric in found:
                found[entry.rubric].append(_answer(entry, tuple(same)))
    for answers in found.values():
        answers.sort(key=_place)
    return found


def written(entries: Iterable[Entry]) -> list[Entry]:
    """The results that a person decides, one for each question of the rubric."""
    return list({entry.rubric: entry for entry in entries if entry.rubric}.values())


def without_question(marked: Iterable[Marked], questions: Mapping[str, Question]) -> list[str]:
    """Numbers of questions that tests hand to a person and the rubric does not have."""
    asked = {entry.rubric for one in marked for entry in written(one.score.entries)}
    return sorted(asked - set(questions))


def _answer(entry: Entry, marked: Sequence[Marked]) -> Answer:
    return Answer(
        content_hash=marked[0].score.content_hash,
        question=entry.rubric,
        test_id=entry.test_id,
        points=entry.points,
        text=entry.written,
        findings=entry.message,
        marked=tuple(marked),
    )


def _place(answer: Answer) -> bytes:
    return hashlib.sha256(f"{_ORDER}\0{answer.question}\0{answer.content_hash}".encode()).digest()

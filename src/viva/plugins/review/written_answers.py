"""The written answers of a class, question by question, in an order that reveals nothing about the students."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.model import Attempt

Key = tuple[str, str]
"""The content hash of a submission, and the number of a question."""
_ORDER: Final = "viva: order of written answers"


@dataclass(frozen=True, slots=True)
class GradedSubmission:
    """A graded submission under one of the names under which it was submitted."""

    attempt: Attempt
    content_hash: str
    score: int | Path
    """Where its score is: the id of a row in the records, or the folder of its results.json."""


@dataclass(frozen=True, slots=True)
class Written:
    """The part of a submission that a test leaves to a person to grade."""

    question: str
    """The number of the question in the rubric."""
    test_id: str
    points: Fraction
    text: str
    """The student's prose; may be empty."""
    findings: str
    """What the test itself reports about it, for the student and the marker."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one submission to one question."""

    content_hash: str
    written: Written
    submissions: tuple[GradedSubmission, ...]
    """The submissions that it belongs to: several if equal bytes were submitted more than once."""

    @property
    def key(self) -> Key:
        """Return the key by which the answer is found."""
        return self.content_hash, self.question

    @property
    def question(self) -> str:
        """Return the number of the question in the rubric."""
        return self.written.question

    @property
    def points(self) -> Fraction:
        """Return the maximum points of the answer."""
        return self.written.points

    @property
    def text(self) -> str:
        """Return the student's prose."""
        return self.written.text


def answers_of(
    class_: Iterable[tuple[GradedSubmission, Sequence[Written]]], questions: Iterable[str]
) -> dict[str, list[Answer]]:
    """Return the answers by question, in the order of the rubric.

    The order of the answers to a question is the same every day and on every machine, but differs between questions,
    so that no student is always the last one to be graded.

    Args:
        class_: every submission that counts, with its parts that are graded by hand.
        questions: the numbers of the rubric's questions; answers to others are left out.
    """
    said: dict[str, Sequence[Written]] = {}
    names: dict[str, list[GradedSubmission]] = {}
    for submission, written in class_:
        said[submission.content_hash] = written
        names.setdefault(submission.content_hash, []).append(submission)
    found: dict[str, list[Answer]] = {number: [] for number in questions}
    for content_hash, written in said.items():
        for number, one in {each.question: each for each in written}.items():
            if number in found:
                found[number].append(Answer(content_hash, one, tuple(names[content_hash])))
    for answers in found.values():
        answers.sort(key=_place)
    return found


def _place(answer: Answer) -> bytes:
    return hashlib.sha256(f"{_ORDER}\0{answer.question}\0{answer.content_hash}".encode()).digest()

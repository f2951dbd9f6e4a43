"""What there is to mark: the written answers of a class, question by question, in an order that tells nothing."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.model import Attempt

Key = tuple[str, str]
"""Content hash of a submission, and number of a question."""
_ORDER: Final = "viva: order of written answers"


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submission under one of the names by which it was handed in."""

    attempt: Attempt
    content_hash: str
    score: int | Path
    """Where its score is: its number in the records, or the folder of its results.json."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a test hands to a person."""

    question: str
    """Its number in the rubric."""
    test_id: str
    points: Fraction
    text: str
    """The student's prose; may be empty."""
    findings: str
    """What the test itself has to say about it, for student and marker."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one submission says to one question."""

    content_hash: str
    written: Written
    handed_in: tuple[HandedIn, ...]
    """Whose it is: several where equal bytes were handed in more than once."""

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.content_hash, self.question

    @property
    def question(self) -> str:
        """Its number in the rubric."""
        return self.written.question

    @property
    def points(self) -> Fraction:
        """The most that it can earn."""
        return self.written.points

    @property
    def text(self) -> str:
        """The student's prose."""
        return self.written.text


def answers_of(
    class_: Iterable[tuple[HandedIn, Sequence[Written]]], questions: Iterable[str]
) -> dict[str, list[Answer]]:
    """The answers by question, in the order of the rubric.

    Answers to a question stand in an order that is the same every day and on every machine, and another one for each
    question: nobody is always the last one to be marked.

    Args:
        class_: everything whose prose counts.
        questions: the rubric's; prose that none of them marks is left out.
    """
    said: dict[str, Sequence[Written]] = {}
    names: dict[str, list[HandedIn]] = {}
    for handed_in, written in class_:
        said[handed_in.content_hash] = written
        names.setdefault(handed_in.content_hash, []).append(handed_in)
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

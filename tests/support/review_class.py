"""A class that is made up: answers to the questions of a real rubric, some of them alike, and scores of code."""

import hashlib
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from tests.support import samples
from viva.config import Assignment, Course, load_course
from viva.config.rubric import Rubric
from viva.config.rubric_file import load_rubric
from viva.model import Attempt, Case, Entry, Isolation, Score, Status, Student
from viva.model.reason import Reason
from viva.plugins.records.store import Records

Writer = Callable[[int, str], str]
"""What student `number` writes to a question."""
ROOT = Path(__file__).parents[2]
NAME = "translation_and_masks"
SENTENCES = [
    "Without the scale the scores have variance $d_k$, and softmax saturates.",
    "The encoder has to press the whole sentence into one vector.",
    "Gradients vanish over long distances, so far away words are forgotten.",
    "With attention the decoder looks at every encoder state directly.",
    r"The weights are $\alpha_{ij} = \frac{\exp(q_i^\top k_j / \sqrt{d_k})}{\sum_l \exp(q_i^\top k_l / \sqrt{d_k})}$.",
    "Time and memory grow linearly instead of quadratically with the length.",
    "One can see it in `softmax(q @ k.T)`, which is nearly one-hot for large $d_k$.",
    "All positions are computed in parallel, which a recurrent network cannot do.",
    "It is less sharp, and so less good where one exact token matters.",
    "A few global tokens, or a later layer, mix the groups again.",
    "Longer sentences first: if the longest batch fits into memory, all others fit too.",
    "The mask keeps a token from seeing what comes after it.",
]
GIVEN = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Radia", "Tony", "Frances", "John"]
FAMILY = ["Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Perlman", "Hoare", "Allen", "Backus"]


def course() -> Course:
    """Return the course of this repository."""
    return load_course(ROOT)


def assignment() -> Assignment:
    """One of this course."""
    return course().assignment(NAME)


def rubric() -> Rubric:
    """Its rubric."""
    return load_rubric(assignment().folder / "rubric.yaml")


def hash_of(number: int) -> str:
    """Return the content hash of a student's submission."""
    return hashlib.sha256(f"submission {number}".encode()).hexdigest()


def prose(number: int, question: str) -> str:
    """Return the answer of a student: every tenth is empty, every fifth is the same."""
    draw = random.Random(f"{number} {question}")
    if number % 10 == 9:
        return ""
    if number % 5 == 3:
        return " ".join(SENTENCES[:3]) + (" Really." if number % 2 else "")
    text = " ".join(draw.sample(SENTENCES, 4))
    return f"{text}\n\n- first, {draw.choice(SENTENCES)}\n- then, {draw.choice(SENTENCES)}" if number % 3 else text


def score_of(number: int, questions: Rubric, write: Writer = prose) -> Score:
    """Return the score of a submission: tests that are evidence, and prose that is not graded yet."""
    tests = dict.fromkeys(name for question in questions.questions for name in question.evidence)
    entries = [_test(name, place, number) for place, name in enumerate(tests)]
    for question in questions.questions:
        entries.append(
            Entry(
                f"test_written.py::test_{question.number.replace('.', '_')}",
                question.title,
                question.number,
                "visible",
                Status.NEEDS_REVIEW,
                Fraction(0),
                question.points,
                (Case("", Status.NEEDS_REVIEW, Fraction(0), question.points, ""),),
                written=write(number, question.number),
                rubric=question.number,
            )
        )
    return Score(f"class/s{number:04}", hash_of(number), NAME, 1, tuple(entries), isolation=Isolation("T3"))


def attempt_of(number: int, folder: Path = Path("class")) -> Attempt:
    """Who handed it in."""
    name = f"{GIVEN[number % 10]} {FAMILY[number // 10 % 10]}"
    return Attempt(f"s{number:04}", folder / f"s{number:04}", (Student(f"id{number:04}", name),))


def fill(records: Records, size: int, folder: Path = Path("class"), write: Writer = prose) -> None:
    """Keep the scores of a class."""
    questions = rubric()
    found = [(attempt_of(number, folder), hash_of(number)) for number in range(size)]
    for number, attempt_id in enumerate(records.add_attempts(NAME, found)):
        records.add_score(attempt_id, score_of(number, questions, write), samples.made(), Reason("tests"))


def notebook(number: int, write: Writer = prose) -> bytes:
    """Return the notebook of a student, with the prose in it."""
    cells: list[dict[str, object]] = []
    for question in rubric().questions:
        cells.append(_cell("markdown", f"## {question.number} {question.title}"))
        cells.append(_cell("markdown", write(number, question.number)))
        cells.append(_cell("code", "def mask(n):\n    return np.triu(np.ones((n, n)), 1)"))
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _cell(kind: str, source: str) -> dict[str, object]:
    cell: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None} if kind == "code" else cell


def _test(name: str, place: int, number: int) -> Entry:
    status = Status.PASSED if (place + number) % 3 else Status.FAILED
    message = "" if status is Status.PASSED else "causal_mask(3) returned [[0, 0, 0]], expected 1 above the diagonal."
    earned = Fraction(1 if status is Status.PASSED else 0)
    test_id = name if "::" in name else f"test_masks.py::{name}"
    return Entry(
        test_id, "The mask hides what comes later.", f"9.{place}", "visible", status, earned, Fraction(1),
        (Case("", status, earned, Fraction(1), message),),
    )  # fmt: skip

"""Queues for tests: of records of an invented class, of a class in memory, and their pages on a running server."""

import contextlib
import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.support.review_class import NAME, assignment, course, hash_of, rubric
from tests.support.served_app import Answer as Reply
from tests.support.served_app import Browser, Review, behind_the_guard, sign_session
from viva.config.rubric import Item, Question, Rubric
from viva.model import Attempt, Score, Student
from viva.model.hand_grading import FIRST, CurrentDecision
from viva.plugins.records.store import Records
from viva.plugins.review.decision_log import DecisionLog
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue, queue_of_records
from viva.plugins.review.web.app import create_app
from viva.plugins.review.written_answers import Answer, GradedSubmission, Written

QUESTION = "2.1"
ITEMS = tuple(item.id for question in rubric().questions if question.number == QUESTION for item in question.items)
ADA, GRACE, ALAN = Marker("Ada"), Marker("Grace"), Marker("Alan")
SMALL = Rubric((Question("1", "Why?", Fraction(2), (Item("why", Fraction(2), "Says why."),)),))
Class = Sequence[tuple[GradedSubmission, Sequence[Written]]]


def reader(file: Path) -> Records:
    """Open the records in a file."""
    return Records.open(f"sqlite:///{file}", file.parent)


@contextlib.contextmanager
def queue_at(file: Path) -> Iterator[ReviewQueue]:
    """Open the queue of the records in a file, after its class is read."""
    with reader(file) as records, queue_of_records(course(), NAME, records) as queue:
        queue.wait()
        yield queue


@dataclass
class MemorySource:
    """A class in memory, which remembers the grades that are written to it."""

    class_: Class
    stored: list[tuple[str, Mapping[str, CurrentDecision]]] = field(default_factory=list)
    """Names of submissions, with the grades that count."""
    stores_grades: bool = True

    def read(self) -> Iterator[tuple[GradedSubmission, list[Written]]]:
        """Yield all of it."""
        for submission, written in self.class_:
            yield submission, list(written)

    def score(self, submission: GradedSubmission) -> Score:
        """Return a score without any test."""
        return Score(submission.attempt.name, submission.content_hash, NAME, 1, ())

    def notebook(self, _submission: GradedSubmission) -> tuple[None, str]:
        """Return no notebook."""
        return None, "There is none."

    def write_grades(self, submission: GradedSubmission, marks: Mapping[str, CurrentDecision]) -> None:
        """Remember the grades."""
        self.stored.append((submission.attempt.name, dict(marks)))


def class_of(texts: Sequence[str], questions: Rubric = SMALL, *, name: str = "Student") -> Class:
    """Return a class in which each student gives one of these texts to every question."""
    return [
        (
            GradedSubmission(Attempt(f"s{n}", Path(f"s{n}"), (Student(f"id{n}", f"{name} {n}"),)), hash_of(n), n),
            [Written(q.number, f"t.py::test_{q.number}", q.points, text, "") for q in questions.questions],
        )
        for n, text in enumerate(texts)
    ]


@contextlib.contextmanager
def queue_of(
    records: Records, class_: Class, questions: Rubric = SMALL, *, name: str = "small"
) -> Iterator[tuple[ReviewQueue, MemorySource]]:
    """Open the queue of a class in memory; its decisions are stored under a name."""
    source = MemorySource(class_)
    with ReviewQueue(assignment(), questions, source, DecisionLog(records, name)) as queue:
        queue.wait()
        yield queue, source


def say(queue: ReviewQueue, marker: Marker, answer: Answer, *items: str, comment: str = "", done: bool = True) -> int:
    """Grade an answer after seeing its current grade; return the id of the new row."""
    judgement = queue.judge(answer, items, Fraction(0), comment, done=done)
    return queue.mark(marker, [(answer, judgement)], action="", seen={})[0].id


def wait_for_writer(queue: ReviewQueue) -> None:
    """Wait until all grades so far are written to the source."""
    queue.writer._thread.submit(int).result()


def answer_of(queue: ReviewQueue, number: int, question: str = QUESTION) -> Answer:
    """Return the answer of a student."""
    found = queue.answer((hash_of(number), question))
    assert found is not None
    return found


@dataclass
class Person:
    """A marker's browser, which sends along what its forms hold."""

    browser: Browser
    csrf: str

    def get(self, path: str, **headers: str) -> Reply:
        """Ask for a page."""
        return self.browser.ask("GET", path, **headers)

    def send(self, path: str, *, script: bool = False, **fields: str | Sequence[str]) -> Reply:
        """Send a form; with `script` as htmx does."""
        body = urllib.parse.urlencode({"csrf": self.csrf, **fields}, doseq=True)
        return self.browser.ask("POST", path, body, **({"hx_request": "true"} if script else {}))

    def upload(self, data: bytes, name: str = "file") -> Reply:
        """Upload a table."""
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="marks.csv"\r\n\r\n'.encode()
        kind = "multipart/form-data; boundary=b"
        return self.browser.ask(
            "POST", "/marks.csv", head + data + b"\r\n--b--\r\n", content_type=kind, x_csrf_token=self.csrf
        )


def hidden(page: str, name: str) -> str:
    """Return the value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no field {name}"
    return found[1]


@dataclass
class Pages:
    """The pages of a queue on a running server."""

    queue: ReviewQueue
    review: Review

    def person(self, name: str = "Ada", round: int = FIRST) -> Person:
        """Return a marker who has signed in."""
        access = self.review.access
        session = access.begin_session(name, round)
        return Person(Browser(self.review.port, {access.cookie: sign_session(access, session)}), session["csrf"])


@contextlib.contextmanager
def pages_of(queue: ReviewQueue) -> Iterator[Pages]:
    """Serve the pages until the end of the block."""
    app: Any = create_app(queue)
    with behind_the_guard(app) as review:
        yield Pages(queue, review)


def refreshed_log(records: Records, name: str) -> DecisionLog:
    """Return a decision log that has read all rows."""
    decisions = DecisionLog(records, name)
    decisions.refresh()
    return decisions

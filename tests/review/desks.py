"""Desks for tests: on records of a class that is made up, on a class in memory, and their pages on a real server."""

import contextlib
import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from review_class import NAME, assignment, course, hash_of, rubric
from served import Answer as Reply
from served import Browser, Review, behind_the_guard

from viva.config.rubric import Item, Question, Rubric
from viva.model import Attempt, Score, Student
from viva.model.hand_grading import FIRST, Standing
from viva.records import Records
from viva.review.decision_log import Journal
from viva.review.leases import Marker
from viva.review.open_queue import desk_of_records
from viva.review.queue import Desk
from viva.review.web.app import create_app
from viva.review.written_answers import Answer, HandedIn, Written

QUESTION = "2.1"
ITEMS = tuple(item.id for question in rubric().questions if question.number == QUESTION for item in question.items)
ADA, GRACE, ALAN = Marker("Ada"), Marker("Grace"), Marker("Alan")
SMALL = Rubric((Question("1", "Why?", Fraction(2), (Item("why", Fraction(2), "Says why."),)),))
Class = Sequence[tuple[HandedIn, Sequence[Written]]]


def reader(file: Path) -> Records:
    """The records in a file."""
    return Records.open(f"sqlite:///{file}", file.parent)


@contextlib.contextmanager
def desk_at(file: Path) -> Iterator[Desk]:
    """A desk on the records in a file, once the class is read."""
    with reader(file) as records, desk_of_records(course(), NAME, records) as desk:
        desk.wait()
        yield desk


@dataclass
class Told:
    """A class in memory, and what was told of it."""

    is_told: ClassVar[bool] = True

    class_: Class
    told: list[tuple[str, Mapping[str, Standing]]] = field(default_factory=list)
    """Names of submissions, with what counts."""

    def read(self) -> Iterator[tuple[HandedIn, list[Written]]]:
        """All of it."""
        for handed_in, written in self.class_:
            yield handed_in, list(written)

    def score(self, handed_in: HandedIn) -> Score:
        """One without any test."""
        return Score(handed_in.attempt.name, handed_in.content_hash, NAME, 1, ())

    def notebook(self, _handed_in: HandedIn) -> tuple[None, str]:
        """None."""
        return None, "There is none."

    def tell(self, handed_in: HandedIn, marks: Mapping[str, Standing]) -> None:
        """Keep it."""
        self.told.append((handed_in.attempt.name, dict(marks)))


def class_of(texts: Sequence[str], questions: Rubric = SMALL, *, name: str = "Student") -> Class:
    """A class whose students give one of these texts each, to every question."""
    return [
        (
            HandedIn(Attempt(f"s{n}", Path(f"s{n}"), (Student(f"id{n}", f"{name} {n}"),)), hash_of(n), n),
            [Written(q.number, f"t.py::test_{q.number}", q.points, text, "") for q in questions.questions],
        )
        for n, text in enumerate(texts)
    ]


@contextlib.contextmanager
def desk_of(
    records: Records, class_: Class, questions: Rubric = SMALL, *, name: str = "small"
) -> Iterator[tuple[Desk, Told]]:
    """A desk on a class in memory; what is said of it is kept under a name."""
    source = Told(class_)
    with Desk(assignment(), questions, source, Journal(records, name)) as desk:
        desk.wait()
        yield desk, source


def say(desk: Desk, marker: Marker, answer: Answer, *items: str, comment: str = "", done: bool = True) -> int:
    """Mark an answer, having seen what stands; returns the number of the row that says it."""
    judgement = desk.judged(answer, items, Fraction(0), comment, done=done)
    return desk.mark(marker, [(answer, judgement)], action="", seen={})[0].id


def settled(desk: Desk) -> None:
    """Wait until all that was said so far is told."""
    desk.behind._thread.submit(int).result()


def answer_of(desk: Desk, number: int, question: str = QUESTION) -> Answer:
    """What a student wrote."""
    found = desk.answer((hash_of(number), question))
    assert found is not None
    return found


@dataclass
class Person:
    """A marker's browser, which sends along what its forms hold."""

    browser: Browser
    csrf: str

    def get(self, path: str, **headers: str) -> Reply:
        """A page."""
        return self.browser.ask("GET", path, **headers)

    def send(self, path: str, *, script: bool = False, **fields: str | Sequence[str]) -> Reply:
        """A form; `script` sends it as htmx does."""
        body = urllib.parse.urlencode({"csrf": self.csrf, **fields}, doseq=True)
        return self.browser.ask("POST", path, body, **({"hx_request": "true"} if script else {}))

    def upload(self, data: bytes, name: str = "file") -> Reply:
        """A table."""
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="marks.csv"\r\n\r\n'.encode()
        kind = "multipart/form-data; boundary=b"
        return self.browser.ask(
            "POST", "/marks.csv", head + data + b"\r\n--b--\r\n", content_type=kind, x_csrf_token=self.csrf
        )


def hidden(page: str, name: str) -> str:
    """What a hidden field of a page holds."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no field {name}"
    return found[1]


@dataclass
class Pages:
    """The pages of a desk on a real server."""

    desk: Desk
    review: Review

    def person(self, name: str = "Ada", round: int = FIRST) -> Person:
        """Somebody who has signed in."""
        access = self.review.access
        session = access.begin(name, round)
        cookie = access.set_cookie(session).partition(";")[0].partition("=")[2]
        return Person(Browser(self.review.port, {access.cookie: cookie}), session.csrf)


@contextlib.contextmanager
def pages_of(desk: Desk) -> Iterator[Pages]:
    """The pages, until the end of the block."""
    app: Any = create_app(desk)
    with behind_the_guard(app) as review:
        yield Pages(desk, review)


def looked(records: Records, name: str) -> Journal:
    """A journal that has taken in what there is."""
    journal = Journal(records, name)
    journal.refresh()
    return journal

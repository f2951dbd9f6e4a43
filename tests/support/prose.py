"""What markers say, and scores in which there is prose to mark."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from tests.support import samples
from viva.model import Case, Entry, Score, Status
from viva.model.hand_grading import FIRST, MARK, Judgement, Place
from viva.model.reason import Reason

GRACE, ALAN = Reason("grace"), Reason("alan")
WHY = Reason("grace", "we have talked about it")
NOTICED = "Not graded yet: a person grades this answer.\nNoticed, without taking points:\n- no number is named"


def place(content_hash: str = "00", question: str = "2.1", kind: str = MARK, round: int = FIRST) -> Place:
    return Place(content_hash, question, kind, round if kind == MARK else 0)


def said(points: float = 3, *, comment: str = "", done: bool = True, **rest: Any) -> Judgement:
    told = f"The reason is there.\n{comment}".strip()
    given: dict[str, Any] = {"items": ("why",), "earned": Fraction(points), "points": Fraction(4), "told": told, **rest}
    return Judgement(comment=comment, done=done, **given)


def entry(number: str = "3", rubric: str = "2.1", status: Status = Status.NEEDS_REVIEW, **rest: Any) -> Entry:
    case = Case("", status, Fraction(0), Fraction(4), NOTICED, "", 0.25)
    given: dict[str, Any] = {"visibility": "visible", "written": "Because.", **rest}
    return Entry(
        f"test_written.py::test_{number}", "Why.", number, status=status, earned=Fraction(0), points=Fraction(4),
        cases=(case,), rubric=rubric, **given,
    )  # fmt: skip


def score(name: str = "ada", *entries: Entry, content_hash: str = "00") -> Score:
    """Two tests of four points each, of which five are won, and prose."""
    graded = samples.score(name, content_hash=content_hash)
    return replace(graded, entries=(*graded.entries, *(entries or (entry(),))))

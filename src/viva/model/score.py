"""The result of one submission: an entry for each test function, exact points, and what it was graded against."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from viva.model.gpu import GpuUse
from viva.model.hand_grading import SET_BY_HAND
from viva.model.isolation import Isolation
from viva.model.status import Status
from viva.model.totals import Totals

VISIBILITIES: Final = ("visible", "hidden", "after_due_date", "after_published")


def names_of(test_id: str, number: str) -> set[str]:
    """Return how a person may name a test: by its id, its function (with or without its class), or its number."""
    return {test_id, test_id.partition("::")[2] or test_id, test_id.rpartition("::")[2], number}


@dataclass(frozen=True, slots=True)
class Case:
    """One parametrized case of a test function; a plain function has one, with an empty label."""

    label: str
    status: Status
    earned: Fraction
    points: Fraction
    message: str
    """What the student reads (safe to show: hidden cases have the fixed sentence)."""
    staff_message: str = ""
    """What only staff read: the full comparison, the grader's own traceback."""
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One collected test function."""

    test_id: str
    """Stable and unique within the assignment: `test_masks.py::test_square_mask`."""
    name: str
    """The first sentence of the test's docstring."""
    number: str
    visibility: str
    status: Status
    earned: Fraction
    points: Fraction
    cases: tuple[Case, ...]
    tags: tuple[str, ...] = ()
    hide_errors: str | None = None
    written: str = ""
    """The student's prose, for `needs_review`."""
    rubric: str = ""
    """The rubric question by which it is graded, for `needs_review`."""
    needs: tuple[str, ...] = ()
    """What this test needs and not every run offers: "training", "gpu". Without it the test is `deferred`."""

    @property
    def names(self) -> set[str]:
        """Return how a person may name this test; see `names_of`."""
        return names_of(self.test_id, self.number)

    @property
    def is_manual(self) -> bool:
        """Return whether a person gave the points."""
        return not self.status.is_open and (bool(self.rubric) or self.message.startswith(SET_BY_HAND))

    @property
    def word(self) -> str:
        """Return the status for people; points that a person gave are neither passed nor failed."""
        return "graded" if self.is_manual else self.status.word

    @property
    def symbol(self) -> str:
        """Return the symbol of the status, which is always shown next to the word."""
        return Status.NEEDS_REVIEW.symbol if self.is_manual else self.status.symbol

    @property
    def message(self) -> str:
        """Return the lines that the student reads, one for each case that has a message, without repetitions."""
        lines = dict.fromkeys(
            f"{case.label}: {case.message}" if case.label else case.message for case in self.cases if case.message
        )
        return "\n".join(lines)

    @property
    def staff_message(self) -> str:
        """Return what staff read in addition to the student's message."""
        return "\n".join(dict.fromkeys(case.staff_message for case in self.cases if case.staff_message))


@dataclass(frozen=True, slots=True)
class Leader:
    """One leaderboard value; `order` is "asc" or "desc"."""

    name: str
    value: float | int | str
    order: str = "desc"


@dataclass(frozen=True, slots=True)
class Curve:
    """One quantity over the epochs of a training, as the examiner measured it in a visible test."""

    test_id: str
    name: str
    """The name that is shown, in the author's words: "pretrained, accuracy"."""
    values: tuple[float, ...]
    """After each epoch, from the first."""
    thresholds: tuple[tuple[int, float], ...] = ()
    """(epoch from 1, the value that is required after it)."""


@dataclass(frozen=True, slots=True)
class Score:
    """Everything known about one graded submission; plain data, safe to send between machines."""

    submission: str
    """The path as the user gave it."""
    content_hash: str
    assignment: str
    version: int
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    """What the student reads above the tests: load errors, skipped cells, environment findings."""
    isolation: Isolation = field(default_factory=lambda: Isolation("none"))
    signature: Mapping[str, str] = field(default_factory=dict)
    leaderboard: tuple[Leader, ...] = ()
    choice: str = ""
    """Which file counts, and why, where names of files do not decide; also a note."""
    environment: tuple[str, ...] = ()
    """Missing packages and incompatible versions, for a count over a class: transformers 5.23.0 lacks encode_plus."""
    wall_s: float = 0.0
    curves: tuple[Curve, ...] = ()
    gpu: GpuUse | None = None
    """The GPU on which tests marked `gpu` were run; None if none was run."""

    @property
    def totals(self) -> Totals:
        """Return what the entries add up to."""
        return Totals.add_up(self.entries)

    @property
    def earned(self) -> Fraction:
        """Return the points earned so far; entries that are not graded yet do not count."""
        return self.totals.earned

    @property
    def points(self) -> Fraction:
        """Return the points of all entries but extra credit, including those that are not graded yet."""
        return self.totals.points

    @property
    def still_open(self) -> Fraction:
        """Return the points that are not graded yet (deferred, needs_review, grader_error)."""
        return self.totals.still_open

    @property
    def has_grader_error(self) -> bool:
        """True when something went wrong on the grader's side: exit status 2, unscored until retried."""
        return any(e.status.is_fault for e in self.entries)


def test_of(case_id: str) -> str:
    """Return the id of the test that a case belongs to."""
    return case_id.partition("[")[0]


def in_order(number: str) -> tuple[bool, list[tuple[int, str]]]:
    """Return a key that sorts as people do: 1.2 before 1.10, 3.2a before 3.2b, those without a number last."""
    parts = re.findall(r"[0-9]+|[^\W0-9_]+", number)
    return not parts, [(int(p), "") if p.isdecimal() else (0, p) for p in parts]

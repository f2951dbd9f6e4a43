"""The nine outcomes of a test, what each means for the points, and what every format calls it.

Only this module sorts statuses into kinds; every other module asks a property. To add a status, add a member to
`Status`, its word to `StatusWord` and its row to `_MEANINGS`. Then add the texts that pages have for it: a color in
`report/templates/style.css`, and for an open status a column in `report/templates/report.html.j2`.
`tests/model/test_status.py` names what is still missing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction
from typing import Final, Literal

StatusWord = Literal[
    "passed", "partial", "failed", "error", "timeout", "skipped", "deferred", "needs_review", "grader_error"
]
"""The statuses as results.json holds them; type checkers and its JSON Schema need them spelled out."""


@unique
class Status(StrEnum):
    """What happened to one test; `error` and `timeout` are the student's, `grader_error` is ours."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    DEFERRED = "deferred"
    NEEDS_REVIEW = "needs_review"
    GRADER_ERROR = "grader_error"

    @classmethod
    def read(cls, word: str, otherwise: "Status") -> "Status":
        """Return the status of that name, or another one where a file holds some other word."""
        return cls(word) if word in set(cls) else otherwise

    @classmethod
    def of_points(cls, earned: Fraction, points: Fraction) -> "Status":
        """Return the status of a decided test that earned these points."""
        if earned >= points:
            return cls.PASSED
        return cls.PARTIAL if earned > 0 else cls.FAILED

    @classmethod
    def gravest(cls, statuses: Iterable["Status"]) -> "Status":
        """Return the status that counts most among the cases of one test: first what is open, then what was lost.

        Raises:
            ValueError: there is none.
        """
        return min(statuses, key=lambda status: _MEANINGS[status].gravity)

    @property
    def is_open(self) -> bool:
        """True when the points are neither won nor lost yet: they count in "still open", never as lost."""
        return _MEANINGS[self].is_open

    @property
    def is_fault(self) -> bool:
        """True when something went wrong on the grader's side: the test is unscored until it is run again."""
        return _MEANINGS[self].is_fault

    @property
    def is_wrong(self) -> bool:
        """True when the student's program was asked and got points wrong; false for a test that was skipped."""
        return _MEANINGS[self].is_wrong

    @property
    def is_lost(self) -> bool:
        """True when points are lost for good: decided, and not passed."""
        return not self.is_open and self is not Status.PASSED

    @property
    def earns_nothing(self) -> bool:
        """True when every point is lost."""
        return self.is_lost and self is not Status.PARTIAL

    @property
    def takes_set_points(self) -> bool:
        """True when the test ended by itself, so that the points of `set_score` count for it."""
        return _MEANINGS[self].takes_set_points

    @property
    def merge_rank(self) -> int:
        """How far from decided; merging two results of one submission keeps the lower.

        A test that was not asked, or not to its end, counts as less than what a person will grade: another pass may
        have had the time.
        """
        return _MEANINGS[self].merge_rank

    @property
    def symbol(self) -> str:
        """One character for tables; always shown next to the word, never alone."""
        return _MEANINGS[self].symbol

    @property
    def word(self) -> str:
        """The status for people: `needs review`."""
        return self.value.replace("_", " ")

    @property
    def style(self) -> str:
        """How a terminal shows it, in rich's words."""
        return _MEANINGS[self].style

    @property
    def gradescope(self) -> Literal["passed", "failed"] | None:
        """The status that Gradescope knows; None while the points are open."""
        if self.is_open:
            return None
        return "failed" if self.is_lost else "passed"

    @property
    def junit(self) -> Literal["", "failure", "error", "skipped"]:
        """The element of JUnit XML that holds the message; empty where there is none."""
        return _MEANINGS[self].junit

    @property
    def ctrf(self) -> Literal["passed", "failed", "skipped", "pending", "other"]:
        """The status in CTRF's words."""
        return _MEANINGS[self].ctrf

    @property
    def annotation(self) -> Literal["error", "warning"] | None:
        """The kind of annotation that GitHub shows at the student's line; None where there is none."""
        return _MEANINGS[self].annotation

    @property
    def classroom_loss(self) -> Literal["fail", "error"]:
        """What GitHub Classroom calls a point that was lost this way."""
        return _MEANINGS[self].classroom_loss


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    """One row of the table; see the properties of `Status`. No field that names another format has a default."""

    symbol: str
    style: str
    junit: Literal["", "failure", "error", "skipped"]
    ctrf: Literal["passed", "failed", "skipped", "pending", "other"]
    annotation: Literal["error", "warning"] | None
    classroom_loss: Literal["fail", "error"]
    gravity: int
    """Of the cases of one test the lowest counts, unless some of the points were won."""
    merge_rank: int = 0
    is_open: bool = False
    is_wrong: bool = False
    is_fault: bool = False
    takes_set_points: bool = False


_MEANINGS: Final = {
    Status.PASSED: _Meaning(
        symbol="✓",
        style="green",
        junit="",
        ctrf="passed",
        annotation=None,
        classroom_loss="fail",
        gravity=8,
        takes_set_points=True,
    ),
    Status.PARTIAL: _Meaning(
        symbol="◐",
        style="yellow",
        junit="failure",
        ctrf="failed",
        annotation="warning",
        classroom_loss="fail",
        gravity=7,
        is_wrong=True,
        takes_set_points=True,
    ),
    Status.FAILED: _Meaning(
        symbol="✗",
        style="red",
        junit="failure",
        ctrf="failed",
        annotation="error",
        classroom_loss="fail",
        gravity=5,
        is_wrong=True,
        takes_set_points=True,
    ),
    Status.ERROR: _Meaning(
        symbol="!",
        style="red",
        junit="error",
        ctrf="failed",
        annotation="error",
        classroom_loss="error",
        gravity=4,
        is_wrong=True,
    ),
    Status.TIMEOUT: _Meaning(
        symbol="⧗",
        style="red",
        junit="failure",
        ctrf="failed",
        annotation="error",
        classroom_loss="fail",
        gravity=3,
        merge_rank=2,
        is_wrong=True,
    ),
    Status.SKIPPED: _Meaning(
        symbol="↷",
        style="dim",
        junit="skipped",
        ctrf="skipped",
        annotation=None,
        classroom_loss="fail",
        gravity=6,
        merge_rank=2,
    ),
    Status.DEFERRED: _Meaning(
        symbol="…",
        style="cyan",
        junit="skipped",
        ctrf="pending",
        annotation=None,
        classroom_loss="fail",
        gravity=2,
        merge_rank=4,
        is_open=True,
    ),
    Status.NEEDS_REVIEW: _Meaning(
        symbol="✎",
        style="cyan",
        junit="skipped",
        ctrf="pending",
        annotation=None,
        classroom_loss="fail",
        gravity=1,
        merge_rank=1,
        is_open=True,
    ),
    Status.GRADER_ERROR: _Meaning(
        symbol="⚠",
        style="bold magenta",
        junit="error",
        ctrf="other",
        annotation="warning",
        classroom_loss="fail",
        gravity=0,
        merge_rank=3,
        is_open=True,
        is_fault=True,
    ),
}

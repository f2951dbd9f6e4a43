"""What viva needs of a learning platform, and the values that cross this border."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import IO, Final, Protocol

from viva.formats.decimal_points import UNIT
from viva.plugins.cohorts.lms.feedback_files import FeedbackFile

IDENTIFIERS: Final[Mapping[str, Sequence[str]]] = {
    "canvas": ("canvas",),
    "sis": ("sis", "id"),
    "login": ("login", "email", "id"),
    "email": ("email", "id"),
    "idnumber": ("id",),
    "user": ("login", "id"),
}
"""For each kind of identifier of an account: which of a student's identifiers it may equal."""


@dataclass(frozen=True, slots=True)
class Account:
    """A student of the course on the platform."""

    number: int
    """The platform's own number of the person."""
    name: str
    """Untrusted: escape it before it is shown."""
    identifiers: Mapping[str, str]
    """By a kind of `IDENTIFIERS`."""
    groups: Mapping[int, str] = field(default_factory=dict)
    """The names of the person's groups, by number."""


@dataclass(frozen=True, slots=True)
class Present:
    """What the platform has for one student now."""

    account: Account
    grade: Fraction | None = None
    """As it was entered, before the platform's own penalties."""
    excused: bool = False
    is_assigned: bool = True
    files: frozenset[str] | None = frozenset()
    """Names of the feedback files; None if unknown until the student's turn."""


@dataclass(frozen=True, slots=True)
class Task:
    """The assignment on the platform."""

    title: str
    maximum: Fraction


@dataclass(frozen=True, slots=True)
class Change:
    """What is sent for one student."""

    points: Fraction | None = None
    """None leaves the grade as it is."""
    excuse: bool = False
    feedback: FeedbackFile | None = None
    comment: str = ""
    """Text that goes with the feedback file."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that a student submitted."""

    name: str
    """Untrusted; may hold a path."""
    url: str
    size: int | None = None
    """As the platform says; None if it does not."""


@dataclass(frozen=True, slots=True)
class RemoteSubmission:
    """What a student or a team submitted."""

    label: str
    """Who, for messages; untrusted."""
    account: Account | None
    """None for a team."""
    files: tuple[RemoteFile, ...]
    entered: tuple[tuple[str, str], ...] = ()
    """Name and content of text that was entered on the page."""
    submitted_at: datetime | None = None
    members: tuple[Account, ...] = ()
    group: int = 0
    """The number of the team."""


class Platform(Protocol):
    """One assignment on one platform."""

    @property
    def excuses(self) -> bool:
        """Return whether the platform knows excused students."""

    def read_task(self) -> Task:
        """Return the assignment; raise LmsError if viva cannot grade it there."""

    def list_accounts(self) -> list[Account]:
        """Return the students of the course."""

    def list_presents(self, accounts: Sequence[Account]) -> list[Present]:
        """Return what the platform has for each of them."""

    def read_present(self, account: Account) -> Present:
        """Return what the platform has for one student at this moment, with the names of feedback files."""

    def send(self, change: Change, now: Present) -> None:
        """Send a grade, a feedback file or both; `now` is what `present` has just returned."""

    def list_submissions(self, accounts: Sequence[Account]) -> Iterable[RemoteSubmission]:
        """Return everything that was submitted."""

    def download(self, file: RemoteFile, into: IO[bytes], max_bytes: int) -> None:
        """Download a file of at most so many bytes."""


def has_same_points(one: Fraction | None, other: Fraction | None) -> bool:
    """Return whether two grades are equal as far as platforms store them."""
    if one is None or other is None:
        return one is other
    return round(one * UNIT) == round(other * UNIT)

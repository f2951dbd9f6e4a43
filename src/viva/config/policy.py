"""How points become marks: what an assignment says about lateness and attempts, and whom a person has excepted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time. Days end at the same time of the clock, also when clocks change; seconds simply pass."""

    days: int = 0
    seconds: int = 0
    written: str = ""
    """As in the file: `24h`."""


@dataclass(frozen=True, slots=True)
class Amount:
    """What is taken off, or must remain: a share of what was earned or of the maximum, or points."""

    share: Fraction = Fraction(0)
    of_maximum: bool = False
    points: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Step:
    """A penalty for what comes no later than this after the deadline; None has no end."""

    until: Span | None
    minus: Amount


@dataclass(frozen=True, slots=True)
class Rate:
    """A penalty for each span that has begun after the deadline; it leaves at least `floor`."""

    per: Span
    minus: Amount
    floor: Amount = field(default_factory=Amount)


@dataclass(frozen=True, slots=True)
class Attempts:
    """Which of a student's submissions makes the mark."""

    count: int | None = None
    """Only so many count, from the first; None for all."""
    which: str = "last"
    """"last" or "best"; best after penalties."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """How a mark is rounded when it is handed back, and nowhere before."""

    to: Fraction = Fraction(1, 100)
    half: str = "even"
    """Where a half goes: "even", or "up"."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything between points and marks that an assignment declares."""

    due: datetime | None = None
    maximum: Fraction | None = None
    """The assignment's points; None where assignment.yaml does not say."""
    grace: Span = field(default_factory=Span)
    """So much after the deadline is not late."""
    late: tuple[Step, ...] | Rate = ()
    """Empty: nothing is taken off."""
    closes: datetime | Span | None = None
    """After this, or so long after the student's deadline, nothing counts."""
    attempts: Attempts = field(default_factory=Attempts)
    nothing: str = "blank"
    """The mark of who has handed in nothing: "blank" or "zero"."""
    extra_credit: str = "keep"
    """"keep" what lies above the maximum, or "cap" it."""
    rounding: Rounding = field(default_factory=Rounding)


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decided on an exception, and why."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extension:
    """A deadline of a student's own."""

    due: datetime
    decision: Decision


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Points that a person gives (or takes, where negative) beside those of the tests."""

    points: Fraction
    decision: Decision


@dataclass(frozen=True, slots=True)
class Exceptions:
    """Exceptions of an assignment, by the student's id."""

    extensions: Mapping[str, Extension] = field(default_factory=dict)
    excused: Mapping[str, Decision] = field(default_factory=dict)
    adjustments: Mapping[str, tuple[Adjustment, ...]] = field(default_factory=dict)

    @property
    def students(self) -> frozenset[str]:
        """Everybody who is named."""
        return frozenset({*self.extensions, *self.excused, *self.adjustments})

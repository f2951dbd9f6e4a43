"""How points become grades: what an assignment says about lateness and attempts, and whom a person has excepted."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from viva.config.yaml_types import EXPECTED, MOMENT_SCHEMA, FilledTuple, is_number, read_moment

_SPAN: Final = re.compile(r"([0-9]{1,6})(s|m|h|d)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
_LONGEST_S: Final = 10 * 365 * 86_400
_AMOUNT: Final = re.compile(r"(0?[0-9]{1,2}(?:\.[0-9]{1,4})?|100(?:\.0{1,4})?) ?%( of (?:the )?maximum)?")
_MOST_POINTS: Final = 1_000_000
_FINEST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time. Days end at the same time of the clock, also when clocks change; seconds simply pass."""

    days: int = 0
    seconds: int = 0
    written: str = ""
    """As in the file: `24h`."""

    @property
    def nominal_s(self) -> int:
        """Return the length in seconds, with days of 24 hours."""
        return self.days * 86_400 + self.seconds


@dataclass(frozen=True, slots=True)
class Amount:
    """What is taken off, or must remain: a share of what was earned or of the maximum, or points."""

    share: Fraction = Fraction(0)
    of_maximum: bool = False
    points: Fraction = Fraction(0)


def _read_duration(value: object) -> Span:
    """Return a time span with its unit, at most ten years."""
    if isinstance(value, str) and (found := _SPAN.fullmatch(value)):
        number, unit = int(found[1]), found[2]
        span = Span(number, 0, value) if unit == "d" else Span(0, number * _SECONDS[unit], value)
        if 0 < span.nominal_s <= _LONGEST_S:
            return span
    raise ValueError("a time with its unit, such as 90m, 24h or 2d (days end at the same time of the clock)")


def _read_amount(value: object) -> Amount:
    """Return a share of what was earned (`10%`), of the maximum (`10% of maximum`), or points (`5`)."""
    if isinstance(value, str) and (found := _AMOUNT.fullmatch(value)):
        return Amount(share=Fraction(found[1]) / 100, of_maximum=found[2] is not None)
    if is_number(value) and 0 <= value <= _MOST_POINTS:
        return Amount(points=Fraction(str(value)))
    raise ValueError("10% (of what was earned), 10% of maximum, or a number of points, such as 5")


def _read_step(value: object) -> Fraction:
    """Return what grades are rounded to: a decimal with at most four places."""
    if is_number(value) and 0 < value <= 1000:
        exact = Fraction(str(value))
        if (exact * _FINEST).denominator == 1:
            return exact
    raise ValueError("a number such as 0.01, 0.5 or 1, with at most four decimals")


def _read_closing(value: object) -> object:
    """Return a moment, or a time after each student's own deadline."""
    with suppress(ValueError):
        return _read_duration(value)
    try:
        return read_moment(value)
    except ValueError as error:
        raise ValueError(f"a time after the deadline, such as 7d, or {error}") from None


def _form_of_late(value: object) -> str | None:
    """Return the tag of the class that a written penalty is read into; None where it is neither."""
    if isinstance(value, dict):
        return _RATE
    return _STEPS if isinstance(value, list) and value else None


_DURATION_SCHEMA: Final = {"type": "string", "pattern": f"^{_SPAN.pattern}$"}
_PERCENT: Final = {"type": "string", "pattern": f"^{_AMOUNT.pattern}$"}
_PENALTY_SCHEMA: Final = {"anyOf": [{"type": "number", "minimum": 0, "maximum": _MOST_POINTS}, _PERCENT]}
_STEP_SCHEMA: Final = {"type": "number", "exclusiveMinimum": 0, "maximum": 1000}
_STEPS: Final = "(steps)"
_RATE: Final = "(rate)"
_CLOSING_SCHEMA: Final = {"anyOf": [_DURATION_SCHEMA, MOMENT_SCHEMA]}
_LATE: Final = "steps, such as [{until: 24h, minus: 10%}], or a rate, such as {per: 1d, minus: 10%, floor: 50%}"

Duration = Annotated[Span, PlainValidator(_read_duration), WithJsonSchema(_DURATION_SCHEMA)]
Penalty = Annotated[Amount, PlainValidator(_read_amount), WithJsonSchema(_PENALTY_SCHEMA)]


@dataclass(frozen=True, slots=True)
class Step:
    """A penalty for what comes no later than this after the deadline."""

    until: Duration | None = None
    """The time after the deadline, such as 24h or 2d; null in the last step, which has no end."""
    minus: Penalty = field(kw_only=True)
    """What is taken off: 10% (of what was earned), 10% of maximum, or points."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A penalty for each span that has begun after the deadline."""

    per: Duration
    """The span, such as 1d."""
    minus: Penalty
    """What is taken off for each span: 10% (of what was earned), 10% of maximum, or points."""
    floor: Penalty = field(default_factory=Amount)
    """What the penalty leaves at least."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """Which of a student's submissions counts."""

    count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Only so many count, from the first; null for all."""
    which: Literal["last", "best"] = "last"
    """Which of them makes the grade; the best is chosen after penalties."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """How a grade is rounded when it is returned, and nowhere before."""

    to: Annotated[Fraction, PlainValidator(_read_step), WithJsonSchema(_STEP_SCHEMA)] = Fraction(1, 100)
    """The step to which grades are rounded, such as 0.01, 0.5 or 1. Default: 0.01."""
    half: Literal["even", "up"] = "even"
    """Where a half is rounded to."""


Late = Annotated[
    Annotated[FilledTuple[Step], Tag(_STEPS)] | Annotated[Rate, Tag(_RATE)],
    Discriminator(_form_of_late, custom_error_type=EXPECTED, custom_error_message=_LATE),
]


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """How points become grades: late penalties, attempts, rounding."""

    grace: Duration = field(default_factory=Span)
    """So much after the deadline is not late, such as 15m."""
    late: Late = ()
    """Late penalties: steps, or a rate for each span that has begun."""
    closes: Annotated[datetime | Span, PlainValidator(_read_closing), WithJsonSchema(_CLOSING_SCHEMA)] | None = None
    """After this moment, or so long after the student's deadline, nothing counts."""
    attempts: Attempts = field(default_factory=Attempts)
    """Which of a student's submissions counts."""
    nothing: Literal["blank", "zero"] = "blank"
    """The grade of a student without a submission."""
    extra_credit: Literal["keep", "cap"] = "keep"
    """Whether points above the maximum are kept."""
    rounding: Rounding = field(default_factory=Rounding)
    """How a grade is rounded when it is returned, and nowhere before."""


@dataclass(frozen=True, slots=True)
class Policy(PolicyFile):
    """Everything between points and grades that an assignment declares."""

    due: datetime | None = None
    maximum: Fraction | None = None
    """The assignment's points; None where assignment.yaml does not say."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The person who decided on an exception, and the reason."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extension:
    """One student's own deadline."""

    due: datetime
    decision: Decision


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Points that a person gives (or takes, where negative) in addition to those of the tests."""

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
        """Return the ids of all students with an exception."""
        return frozenset({*self.extensions, *self.excused, *self.adjustments})

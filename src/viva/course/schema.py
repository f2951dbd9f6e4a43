"""grader.yaml and assignment.yaml as they are written: every key, its type and its allowed values."""

from datetime import datetime
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from viva.model import Limits, Tier

NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"
MODULE: Final = r"^[^\W\d]\w*(\.[^\W\d]\w*)*$"


def _fraction(value: Any) -> Fraction:
    """Points mean what is written: 0.1 is one tenth, and 100/3 can be said."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            points = Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            points = Fraction(-1)
        if points >= 0:
            return points
    raise ValueError("a number of points, zero or more, such as 100, 12.5 or 100/3")


def _moment(value: Any) -> datetime:
    """A time with its zone: a deadline without one would move with the machine that reads it."""
    expected = "a date and time with a time zone, such as 2026-12-01T23:59:00Z or 2026-12-01T23:59:00+01:00"
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(expected) from None
    if moment.tzinfo is None:
        raise ValueError(expected)
    return moment


def _tier(value: Any) -> Tier:
    names = [str(tier) for tier in Tier]
    if value not in names:
        raise ValueError(", ".join(names))
    return Tier[value]


def _workers(value: Any) -> int:
    """`auto` is 0: one for each core."""
    if value == "auto":
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError("auto, or a number of processes from 1 on")


Points = Annotated[Fraction, BeforeValidator(_fraction)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
TierName = Annotated[Tier, BeforeValidator(_tier)]
Workers = Annotated[int, BeforeValidator(_workers)]
Name = Annotated[str, StringConstraints(pattern=NAME)]
ModuleName = Annotated[str, StringConstraints(pattern=MODULE)]
Text = Annotated[str, StringConstraints(min_length=1)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Strict(BaseModel):
    """No unknown keys, no guessing: `"60"` is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CourseFile(Strict):
    """grader.yaml."""

    course: Text
    secret: Annotated[str, StringConstraints(pattern=r"^(env|file):.+$")] = "env:VIVA_SECRET"
    min_tier: TierName | None = None
    records: Text | None = None
    workers: Workers = 0
    assignments: list[Name]


class SubmissionPart(Strict):
    """What a student hands in: patterns of file names."""

    notebook: Text | None = "*.ipynb"
    module: Text | None = "solution.py"


_DEFAULT: Final = Limits()


class LimitsPart(Strict):
    """What one submission may use; see `viva.model.Limits` for what each counts."""

    load_s: Seconds = _DEFAULT.load_s
    call_s: Seconds = _DEFAULT.call_s
    test_s: Seconds = _DEFAULT.test_s
    submission_s: Seconds = _DEFAULT.submission_s
    memory_mib: Annotated[int, Field(ge=64, le=1 << 20)] = _DEFAULT.memory_mib
    disk_mib: Annotated[int, Field(ge=1, le=1 << 20)] = _DEFAULT.disk_mib
    output_kib: Annotated[int, Field(ge=1, le=1 << 20)] = _DEFAULT.output_kib
    processes: Annotated[int, Field(ge=1, le=4096)] = _DEFAULT.processes
    fork: bool = _DEFAULT.fork


class AssignmentFile(Strict):
    """assignment.yaml."""

    title: Text
    version: Annotated[int, Field(ge=1)] = 1
    submission: SubmissionPart = SubmissionPart()
    load: Literal["run", "definitions"] = "run"
    points: Points | None = None
    preload: list[ModuleName] = Field(default_factory=list)
    limits: LimitsPart = LimitsPart()
    data: list[Text] = Field(default_factory=list)
    forbid: list[ModuleName] = Field(default_factory=list)
    due: Moment | None = None
    min_tier: TierName | None = None
    python: Text | None = None

"""The kinds of values in course files, as types that pydantic reads and makes a JSON Schema from.

A constraint that JSON Schema knows is a `Field`; `Expect` replaces pydantic's message by a phrase for what is allowed.
What is written differently from what it means (a fraction, a time) is read by a function that raises ValueError with
such a phrase, and has its JSON Schema next to it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Annotated, Final, TypeGuard, TypeVar
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import CoreSchema, core_schema

from viva.model import Tier
from viva.model.answer_form import AnswerForm, parse_form

STRICT: Final = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)
"""The pydantic configuration of the class of a course file, as its `__pydantic_config__`."""
EXPECTED: Final = "expected"
"""The type of the errors whose message is a phrase for what is allowed."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Expect:
    """Replaces every message about a value by a phrase for what is allowed."""

    phrase: str

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the value with the message."""
        return core_schema.custom_error_schema(
            handler(source), custom_error_type=EXPECTED, custom_error_message=self.phrase
        )


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number; `true` is not one."""
    return type(value) in (int, float)


def read_fraction(value: object) -> Fraction:
    """Return an exact number: 0.1 is one tenth, and 100/3 can be written.

    Raises:
        ValueError: it is no number.
    """
    if type(value) not in (int, float, str):
        raise ValueError("not a number")
    try:
        return Fraction(str(value))
    except ZeroDivisionError:
        raise ValueError("not a number") from None


def fraction_schema(sign: str, **bounds: object) -> WithJsonSchema:
    """Return the JSON Schema of an exact number.

    Args:
        sign: a regular expression for the sign of a number that is written as a text.
        bounds: what JSON Schema says of a number, such as `minimum`.
    """
    text = {"type": "string", "pattern": rf"^\s*{sign}[0-9._]+([eE][+-]?[0-9]+|/0*[1-9][0-9_]*)?\s*$"}
    return WithJsonSchema({"anyOf": [{"type": "number", **bounds}, text]})


def read_seconds(least_s: int, most_s: int, example: str) -> Callable[[object], float]:
    """Return the function that reads time spans with a unit as seconds."""

    def read(value: object) -> float:
        found = _SPAN.fullmatch(value) if isinstance(value, str) else None
        given_s = int(found[1]) * _SECONDS[found[2]] if found else -1
        if not least_s <= given_s <= most_s:
            raise ValueError(f"a time from {shown(least_s)} to {shown(most_s)}, such as {example}")
        return float(given_s)

    def shown(given_s: int) -> str:
        unit = next(unit for unit in "dhms" if given_s % _SECONDS[unit] == 0)
        return f"{given_s // _SECONDS[unit]}{unit}"

    return read


def as_name(text: str, default: str) -> str:
    """Return a text as a name of a folder, a question or an item, as close to it as possible.

    Args:
        text: any text.
        default: the name where nothing of the text can stay.
    """
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).lstrip(".-") or default


def is_folder_name(text: str) -> bool:
    """Return whether an assignment, and so its folders, can have this name."""
    return re.fullmatch(_NAME, text) is not None


def read_moment(value: object) -> datetime:
    """Return a time with its zone: a deadline without one would move with the machine that reads it.

    Raises:
        ValueError: it is no time, has no zone, or no clock of the zone shows it.
    """
    expected = (
        "a date and time with a time zone, such as 2026-12-01T23:59:00Z, 2026-12-01T23:59:00+01:00 "
        "or 2026-12-01 23:59 Europe/Vienna"
    )
    text = value if isinstance(value, str) else ""
    local, _, zone = text.rpartition(" ")
    named = zone[:1].isalpha()
    try:
        when = datetime.fromisoformat(local if named else text)
    except ValueError:
        raise ValueError(expected) from None
    if (when.tzinfo is None) is not named:
        raise ValueError(expected)
    return _in_zone(when, zone) if named else when


def _in_zone(when: datetime, zone: str) -> datetime:
    """Return the moment at which the clocks of a zone show this; the later one where they show it twice."""
    try:
        there = when.replace(tzinfo=ZoneInfo(zone), fold=1)
    except (KeyError, ValueError, OSError):
        raise ValueError("the name of a time zone behind the time, such as Europe/Vienna or UTC") from None
    try:
        shown = there.astimezone(UTC).astimezone(there.tzinfo).replace(tzinfo=None)
    except OverflowError:
        raise ValueError("a year in which this course may take place") from None
    if shown != when:
        raise ValueError(f"a time that the clocks of {zone} show: they skip this one")
    return there


def _read_form(value: object) -> AnswerForm:
    return parse_form(value if isinstance(value, str) else "")


def _read_points(value: object) -> Fraction:
    points = read_fraction(value)
    if points < 0:
        raise ValueError("less than zero")
    return points


def _read_deduction(value: object) -> Fraction:
    points = read_fraction(value)
    if points > 0:
        raise ValueError("more than zero")
    return points


def _read_tier(value: object) -> Tier:
    if value not in _TIERS:
        raise ValueError(f"one of {', '.join(_TIERS)}")
    return Tier[str(value)]


def _read_nothing(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Return an empty text for `null`."""
    return "" if value is None else read(value)


def _read_auto(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Return 0 for `auto`, which means one for each core."""
    return 0 if value == "auto" else read(value)


def _check_unique(values: tuple[T, ...]) -> tuple[T, ...]:
    twice = [value for index, value in enumerate(values) if value in values[:index]]
    if twice:
        raise ValueError(f"each element once; `{twice[0]}` is there twice")
    return values


def _check_not_empty(values: tuple[T, ...]) -> tuple[T, ...]:
    if not values:
        raise ValueError("a list with at least one element")
    return values


_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_MODULE: Final = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_SPAN: Final = re.compile(r"([0-9]{1,9})(s|m|h|d)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TIERS: Final = tuple(str(tier) for tier in Tier)
FOLDER_NAME_PHRASE: Final = "a folder's name of letters, digits, `_`, `-` and `.`"
SPAN_SCHEMA: Final = WithJsonSchema({"type": "string", "pattern": f"^{_SPAN.pattern}$"})
MOMENT_SCHEMA: Final = {"type": "string", "pattern": r"^[0-9W-]+[T ][0-9:.,]+(Z|[+-][0-9:.]+| [A-Za-z]\S*)$"}

UniqueTuple = Annotated[tuple[T, ...], AfterValidator(_check_unique), Field(json_schema_extra={"uniqueItems": True})]
FilledTuple = Annotated[tuple[T, ...], AfterValidator(_check_not_empty), Field(json_schema_extra={"minItems": 1})]
Text = Annotated[str, Field(pattern=r"\S"), Expect("a text")]
"""A number is not a text here, because YAML would lose how it was written."""
TextOrNothing = Annotated[
    str,
    Field(pattern=r"\S"),
    Expect("a text"),
    WrapValidator(_read_nothing),
    WithJsonSchema({"type": ["string", "null"], "pattern": r"\S"}),
]
"""An empty text where the file says `null`."""
Points = Annotated[
    Fraction,
    PlainValidator(_read_points),
    fraction_schema(r"\+?", minimum=0),
    Expect("a number of points, zero or more, such as 100, 12.5 or 100/3"),
]
SignedPoints = Annotated[
    Fraction,
    PlainValidator(read_fraction),
    fraction_schema("[+-]?"),
    Expect("a number of points, such as 2, 1/2 or -1"),
]
Deduction = Annotated[
    Fraction,
    PlainValidator(_read_deduction),
    fraction_schema("-", maximum=0),
    Expect("a number of points, zero or less, such as -1 or -1/2"),
]
"""The most that may be taken off, as it is added."""
DeclaredForm = Annotated[AnswerForm, PlainValidator(_read_form), WithJsonSchema({"type": "string", "pattern": r"\S"})]
Moment = Annotated[datetime, PlainValidator(read_moment), WithJsonSchema(MOMENT_SCHEMA)]
TierName = Annotated[Tier, PlainValidator(_read_tier), WithJsonSchema({"enum": list(_TIERS)})]
Seconds = Annotated[float, Field(gt=0, le=86_400), Expect("a number of seconds, more than 0 and at most 86,400")]
Workers = Annotated[
    int,
    Field(ge=1, le=1024),
    Expect("auto, or a number of processes from 1 to 1,024"),
    WrapValidator(_read_auto),
    WithJsonSchema(
        {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1, "maximum": 1024}], "default": "auto"}
    ),
]
FolderName = Annotated[str, Field(pattern=f"^({_NAME})$"), Expect(FOLDER_NAME_PHRASE)]
ItemId = Annotated[
    str, Field(pattern=f"^({_NAME})$"), Expect("an id of letters, digits, `_`, `-` and `.`, such as symmetric")
]
QuestionNumber = Annotated[
    str, Field(pattern=f"^({_NAME})$"), Expect("a number of letters, digits, `_`, `-` and `.`, such as 2.1a")
]
ModuleName = Annotated[str, Field(pattern=f"^({_MODULE})$"), Expect("a module's name, such as numpy or torch.nn")]
PreloadedModule = Annotated[
    str,
    Field(pattern=rf"^({_MODULE}\??)$"),
    Expect("a module's name, such as numpy, or torch? if it need not be installed"),
]
"""A question mark after it says that it may be missing."""
SecretSource = Annotated[
    str, Field(pattern="^((env|file):.+)$"), Expect("env:NAME (an environment variable) or file:PATH")
]

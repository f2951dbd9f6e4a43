"""The kinds of values in course files: how each is read, and the JSON Schema that an editor checks it with.

A kind is part of the `Annotated` type of a field. The reader (`read_config.py`) takes it from there, and so does
pydantic when it makes the JSON Schema. Reading does not import pydantic: every command and every examiner reads the
course at its start, and the import takes longer than grading a submission.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeGuard

from viva.model import Tier
from viva.model.answer_form import EXPECTED, AnswerForm, parse_form

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

STRICT: Final[Mapping[str, object]] = {"extra": "forbid", "strict": True, "use_attribute_docstrings": True}
"""The pydantic configuration of the class of a course file, as its `__pydantic_config__`."""


class Expected(ValueError):
    """A value is not allowed; the text is a phrase for what is."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """How one kind of value is read, and what JSON Schema says of it."""

    read: Callable[[object], Any]
    """Returns what the value means; raises Expected where it is not allowed."""
    schema: Mapping[str, object]

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> "CoreSchema":
        """Let pydantic read the value with the same function."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, object]:
        """Return the JSON Schema; pydantic cannot derive one from a function."""
        return dict(self.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """The class of a mapping, imported only where a file has the key: most have not, and importing takes a while."""

    module: str
    name: str

    def load(self) -> "type[DataclassInstance]":
        """Return the class."""
        found: type[DataclassInstance] = getattr(import_module(self.module), self.name)
        return found

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        """Let pydantic read the mapping as an instance of the class."""
        return handler.generate_schema(self.load())


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number; `true` is not one."""
    return type(value) in (int, float)


def matching(regex: str, expected: str) -> Kind:
    """Return the kind of texts that match a regular expression as a whole."""
    compiled = re.compile(regex)

    def read(value: object) -> str:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            raise Expected(expected)
        return value

    return Kind(read, {"type": "string", "pattern": f"^({regex})$"})


def whole(least: int, most: int) -> Kind:
    """Return the kind of whole numbers in a range, ends included."""

    def read(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise Expected(f"a whole number from {least:,} to {most:,}")
        return value

    return Kind(read, {"type": "integer", "minimum": least, "maximum": most})


def fraction(fits: Callable[[Fraction], bool], expected: str, sign: str, **bounds: object) -> Kind:
    """Return the kind of exact numbers: 0.1 is one tenth, and 100/3 can be written.

    Args:
        fits: returns whether a number is allowed.
        expected: the phrase for what is allowed.
        sign: a regular expression for the sign of a number that is written as a text.
        bounds: what JSON Schema says of a number, such as `minimum`.
    """

    def read(value: object) -> Fraction:
        try:
            exact = Fraction(str(value)) if type(value) in (int, float, str) else None
        except (ValueError, ZeroDivisionError):
            exact = None
        if exact is None or not fits(exact):
            raise Expected(expected)
        return exact

    text = {"type": "string", "pattern": rf"^\s*{sign}[0-9._]+([eE][+-]?[0-9]+|/0*[1-9][0-9_]*)?\s*$"}
    return Kind(read, {"anyOf": [{"type": "number", **bounds}, text]})


def span(least_s: int, most_s: int, example: str) -> Kind:
    """Return the kind of time spans with a unit, in seconds."""

    def read(value: object) -> float:
        found = _SPAN.fullmatch(value) if isinstance(value, str) else None
        given_s = int(found[1]) * _SECONDS[found[2]] if found else -1
        if not least_s <= given_s <= most_s:
            raise Expected(f"a time from {shown(least_s)} to {shown(most_s)}, such as {example}")
        return float(given_s)

    def shown(given_s: int) -> str:
        unit = next(unit for unit in "dhms" if given_s % _SECONDS[unit] == 0)
        return f"{given_s // _SECONDS[unit]}{unit}"

    return Kind(read, {"type": "string", "pattern": f"^{_SPAN.pattern}$"})


def one_of(*allowed: str) -> Kind:
    """Return the kind that is one of a few words."""

    def read(value: object) -> str:
        if value not in allowed:
            raise Expected(" or ".join(allowed) if len(allowed) == 2 else f"one of {', '.join(allowed)}")
        return str(value)

    return Kind(read, {"enum": list(allowed)})


def _moment(value: object) -> datetime:
    """Return a time with its zone: a deadline without one would move with the machine that reads it."""
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
        raise Expected(expected) from None
    if (when.tzinfo is None) is not named:
        raise Expected(expected)
    return _in_zone(when, zone) if named else when


def _in_zone(when: datetime, zone: str) -> datetime:
    """Return the moment at which the clocks of a zone show this; the later one where they show it twice."""
    from zoneinfo import ZoneInfo

    try:
        there = when.replace(tzinfo=ZoneInfo(zone), fold=1)
    except (KeyError, ValueError, OSError):
        raise Expected("the name of a time zone behind the time, such as Europe/Vienna or UTC") from None
    try:
        shown = there.astimezone(UTC).astimezone(there.tzinfo).replace(tzinfo=None)
    except OverflowError:
        raise Expected("a year in which this course may take place") from None
    if shown != when:
        raise Expected(f"a time that the clocks of {zone} show: they skip this one")
    return there


def _text(value: object) -> str:
    """Return a text that is not empty; a number is not a text here, because YAML would lose how it was written."""
    if not isinstance(value, str) or not value.strip():
        raise Expected("a text")
    return value


def _answer_form(value: object) -> AnswerForm:
    try:
        return parse_form(_text(value))
    except ValueError:
        raise Expected(EXPECTED) from None


def _seconds(value: object) -> float:
    if not is_number(value) or not 0 < value <= 86_400:
        raise Expected("a number of seconds, more than 0 and at most 86,400")
    return float(value)


def _workers(value: object) -> int:
    """Return the number of processes; `auto` is 0: one for each core."""
    if value == "auto":
        return 0
    if type(value) is not int or not 1 <= value <= 1024:
        raise Expected("auto, or a number of processes from 1 to 1,024")
    return value


_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_MODULE: Final = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_SPAN: Final = re.compile(r"([0-9]{1,9})(s|m|h|d)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TIERS: Final = one_of(*(str(each) for each in Tier))
_POINTS: Final = "a number of points, zero or more, such as 100, 12.5 or 100/3"
_DEDUCTION: Final = "a number of points, zero or less, such as -1 or -1/2"
_PROCESSES: Final = whole(1, 1024)


def as_name(text: str, default: str) -> str:
    """Return a text as a name of a folder, a question or an item, as close to it as possible.

    Args:
        text: any text.
        default: the name where nothing of the text can stay.
    """
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).lstrip(".-") or default


FOLDER_NAME: Final = matching(_NAME, "a folder's name of letters, digits, `_`, `-` and `.`")
"""The name of an assignment, which is the name of its folders."""
MOMENT: Final = Kind(_moment, {"type": "string", "pattern": r"^[0-9W-]+[T ][0-9:.,]+(Z|[+-][0-9:.]+| [A-Za-z]\S*)$"})

Text = Annotated[str, Kind(_text, {"type": "string", "pattern": r"\S"})]
TextOrNothing = Annotated[
    str, Kind(lambda value: "" if value is None else _text(value), {"type": ["string", "null"], "pattern": r"\S"})
]
"""An empty text where the file says `null`."""
Points = Annotated[Fraction, fraction(lambda exact: exact >= 0, _POINTS, r"\+?", minimum=0)]
SignedPoints = Annotated[Fraction, fraction(lambda _: True, "a number of points, such as 2, 1/2 or -1", "[+-]?")]
Deduction = Annotated[Fraction, fraction(lambda exact: exact <= 0, _DEDUCTION, "-", maximum=0)]
"""The most that may be taken off, as it is added."""
Moment = Annotated[datetime, MOMENT]
TierName = Annotated[Tier, Kind(lambda value: Tier[_TIERS.read(value)], _TIERS.schema)]
Seconds = Annotated[float, Kind(_seconds, {"type": "number", "exclusiveMinimum": 0, "maximum": 86_400})]
Workers = Annotated[int, Kind(_workers, {"anyOf": [{"const": "auto"}, _PROCESSES.schema], "default": "auto"})]
FolderName = Annotated[str, FOLDER_NAME]
ItemId = Annotated[str, matching(_NAME, "an id of letters, digits, `_`, `-` and `.`, such as symmetric")]
QuestionNumber = Annotated[str, matching(_NAME, "a number of letters, digits, `_`, `-` and `.`, such as 2.1a")]
ModuleName = Annotated[str, matching(_MODULE, "a module's name, such as numpy or torch.nn")]
PreloadedModule = Annotated[
    str, matching(rf"{_MODULE}\??", "a module's name, such as numpy, or torch? if it need not be installed")
]
"""A question mark after it says that it may be missing."""
DeclaredForm = Annotated[AnswerForm, Kind(_answer_form, {"type": "string", "pattern": r"\S"})]
SecretSource = Annotated[str, matching(r"(env|file):.+", "env:NAME (an environment variable) or file:PATH")]

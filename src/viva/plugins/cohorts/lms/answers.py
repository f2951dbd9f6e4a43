"""Read values in a platform's answers: everything in them is untrusted, and numbers are exact.

Errors of a platform's interface; the text of each is one sentence and never holds the token:

LmsError              one request failed: the next student may still be served
├── NotAllowedError   the platform refuses the token: no request can succeed
└── UnreachableError  no complete answer came
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from viva.model.errors import UsageError

Record = Mapping[str, Any]
_MAX_DIGITS: Final = 30


class LmsError(UsageError):
    """The platform refused a request, or gave an answer that viva does not understand."""


class NotAllowedError(LmsError):
    """The platform refuses the token."""


class UnreachableError(LmsError):
    """No complete answer came from the platform."""


def parse_json(data: bytes, what: str) -> Any:
    """Parse JSON; decimals stay exact. Raises LmsError if it is not JSON."""
    try:
        return json.loads(data, parse_float=Decimal, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        is_page = data[:200].lstrip().lower().startswith((b"<!doctype", b"<html"))
        kind = "a web page" if is_page else "something that is not JSON"
        raise LmsError(
            f"{what}: the platform answered with {kind}; check the address, and whether its interface is on."
        ) from None


def get_record(value: object, what: str) -> Record:
    """Return an object of JSON. Raises LmsError for another value."""
    if not isinstance(value, dict):
        raise LmsError(f"{what}: the platform's answer has another form than its documentation says.")
    return value


def get_records(value: object, what: str) -> list[Record]:
    """Return a list of objects. Raises LmsError for another value."""
    if not isinstance(value, list):
        raise LmsError(f"{what}: the platform's answer has another form than its documentation says.")
    return [get_record(each, what) for each in value]


def get_text(found: Record, key: str) -> str:
    """Return a text, or a number as text; empty if it is missing or something else."""
    value = found.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_MAX_DIGITS:
        return str(value)
    return value if isinstance(value, str) else ""


def get_number(found: Record, key: str, what: str) -> int:
    """Return a number that identifies something. Raises LmsError if it is missing or not such a number."""
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**18:
        raise LmsError(f"{what}: the platform's answer has no number `{key}`.")
    return value


def get_points(found: Record, key: str, what: str) -> Fraction | None:
    """Return a number of points, which may be written as a text; None for null.

    Raises:
        LmsError: it is not a number, or an absurd one.
    """
    value = found.get(key)
    if value is None or value == "":
        return None
    try:
        number = Decimal("NaN" if isinstance(value, bool) else value)
        is_absurd = not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS or len(number.as_tuple().digits) > 60
    except (ValueError, ArithmeticError, TypeError):
        is_absurd = True
    if is_absurd:
        raise LmsError(f"{what}: the platform's answer has no number of points in `{key}`.")
    return Fraction(number)


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)

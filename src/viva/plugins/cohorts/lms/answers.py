"""Read values in a platform's answers: everything in them is untrusted, and numbers are exact."""

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from viva.plugins.cohorts.lms.errors import LmsError

Record = Mapping[str, Any]
_MOST_DIGITS: Final = 30


def parse(data: bytes, what: str) -> Any:
    """Parse JSON; decimals stay exact.

    Raises:
        LmsError: it is not JSON.
    """
    try:
        return json.loads(data, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError):
        start = data[:200].lstrip().lower()
        kind = "a web page" if start.startswith((b"<!doctype", b"<html")) else "something that is not JSON"
        raise LmsError(
            f"{what}: the platform answered with {kind}; check the address, and whether its interface is on."
        ) from None


def record(value: object, what: str) -> Record:
    """Return an object of JSON.

    Raises:
        LmsError: it is another value.
    """
    if not isinstance(value, dict):
        raise LmsError(f"{what}: the platform's answer has another form than its documentation says.")
    return value


def records(value: object, what: str) -> list[Record]:
    """Return a list of objects.

    Raises:
        LmsError: it is another value.
    """
    if not isinstance(value, list):
        raise LmsError(f"{what}: the platform's answer has another form than its documentation says.")
    return [record(each, what) for each in value]


def text(found: Record, key: str) -> str:
    """Return a text, or a number as text; empty if it is missing or something else."""
    value = found.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**_MOST_DIGITS else ""
    return value if isinstance(value, str) else ""


def whole(found: Record, key: str, what: str) -> int:
    """Return a number that identifies something.

    Raises:
        LmsError: it is missing or not such a number.
    """
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**18:
        raise LmsError(f"{what}: the platform's answer has no number `{key}`.")
    return value


def points(found: Record, key: str, what: str) -> Fraction | None:
    """Return a number of points, which may be written as a text; None for null.

    Raises:
        LmsError: it is not a number, or an absurd one.
    """
    value = found.get(key)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool):
            raise ValueError
        number = Decimal(value)
        if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS or len(number.as_tuple().digits) > 60:
            raise ValueError
    except (ValueError, ArithmeticError, TypeError):
        raise LmsError(f"{what}: the platform's answer has no number of points in `{key}`.") from None
    return Fraction(number)


def _refuse(constant: str) -> None:
    raise ValueError(constant)

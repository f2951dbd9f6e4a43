"""JSON as a program writes it: white space and the order of keys do not count."""

import json
from collections.abc import Collection
from typing import Any, Final

from viva.compare.agree import agree
from viva.compare.answers.unreadable import Unreadable, refusal
from viva.model.errors import GraderError
from viva.proxies.proxies import Handle, Remote

LONGEST: Final = 8 << 20
_WHAT: Final = "JSON"


def agree_json(
    actual: object,
    expected: object,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    up_to: str | Collection[str] = (),
    name: str = "your answer",
) -> None:
    """Pass if a text is JSON with the expected contents.

    Args:
        actual: the text that the student's code returned or printed.
        expected: the contents, or a text with them.
        rtol: as in `agree`.
        atol: as in `agree`.
        up_to: as in `agree`.
        name: what the message calls the text.

    Raises:
        Disagreement: the text is not JSON, or has other contents.
        GraderError: the expected text is not JSON.
        ValueError: the author passed a wrong argument.
    """
    if type(actual) is Remote or type(actual) is Handle:
        actual = actual.value()
    try:
        found = _read(actual)
    except Unreadable as why:
        raise refusal(name, actual, _WHAT, why) from None
    if isinstance(expected, str | bytes):
        try:
            expected = _read(expected)
        except Unreadable as why:
            raise GraderError(f"agree_json: the expected text is not JSON: {why}.") from None
    agree(found, expected, rtol=rtol, atol=atol, up_to=up_to, name=name)


def _read(text: object) -> Any:
    if not isinstance(text, str | bytes):
        raise Unreadable("it is not a text")
    if len(text) > LONGEST:
        raise Unreadable(f"it has more than {LONGEST >> 20} MiB")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (RecursionError, ValueError):  # too deep, bytes that are no text, or a number of very many digits
        raise Unreadable("it is nested too deeply, or holds a number that is far too long") from None

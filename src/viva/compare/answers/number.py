"""Numbers as questions ask for them: 1,008,100; 7/15; 82.65 %; 1e-3; 1.2·10⁶."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from viva.compare.answers.characters import plain_signs
from viva.compare.answers.number_reading import nearly, read_number, shortest
from viva.compare.answers.unreadable import Unreadable, refusal, wrong_answer
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hint_recording import hints_of_answer
from viva.compare.hints import matching_hints
from viva.compare.normalize import one_number, plain
from viva.compare.show import as_written, show

RTOL: Final = 1e-3
"""The default tolerance of written numbers: three significant digits; whole numbers are exact."""
WHAT: Final = "a number"


def agree_number(
    actual: object,
    expected: object,
    *,
    atol: float | None = None,
    rtol: float | None = None,
    accept: Sequence[object] = (),
    hints: Mapping[str, object] | None = None,
    name: str = "your answer",
) -> None:
    """Pass if the number that the student wrote is the expected one. The message never says what is expected.

    Args:
        actual: a number, or a text of one: with separators, a fraction, a percentage, a power of ten, a calculation. A
            text with other words is left to a person.
        expected: a number, or a text that is read the same way.
        atol: how near: |actual - expected| <= rtol * |expected| + atol, the one not given being 0. With neither,
            whole numbers must be exact and others right to three significant digits.
        rtol: see `atol`.
        accept: other numbers that are right as well.
        hints: known mistakes: what to call them, and the number they lead to (or a function that computes it).
        name: what the message calls the answer.

    Raises:
        Disagreement: another number, or none that can be read.
        ValueError: an argument from the author is not a number.
    """
    hints = hints_of_answer(hints)
    right = [(value, _allowed(value, atol, rtol)) for value in map(_read_expected, (expected, *accept))]
    try:
        readings = read_number(actual)
    except Unreadable as why:
        raise refusal(name, actual, WHAT, why) from None
    if any(abs(one - other) <= allowed for one in readings for other, allowed in right):
        return

    def agrees(mistake: object) -> bool:
        value = _read_expected(mistake)
        return any(abs(one - value) <= _allowed(value, atol, rtol) for one in readings)

    named, notes = matching_hints(hints, agrees)
    raise _wrong(name, actual, readings, right[0][0], named, notes)


def _read_expected(value: object) -> Fraction:
    """Return a number that the author wrote.

    Raises:
        ValueError: it is not a number.
    """
    try:
        return read_number(value)[0]
    except Unreadable as why:
        raise ValueError(f"agree_number: {value!r} is not a number: {why}.") from None


def _allowed(expected: Fraction, atol: float | None, rtol: float | None) -> Fraction:
    if atol is None and rtol is None:
        rtol = 0 if expected.denominator == 1 else RTOL
    # Slightly more than asked, for decimal numbers that are exactly on the edge.
    return (Fraction(rtol or 0) * abs(expected) + Fraction(atol or 0)) * (1 + Fraction(1, 10**9))


def _wrong(
    name: str, actual: object, readings: list[Fraction], expected: Fraction, named: list[str], notes: list[str]
) -> Disagreement:
    shown = as_written(actual if isinstance(actual, str) else one_number(plain(actual)))
    text = f"{shown} is not the number asked for.{'' if named else _advice(shown, readings, expected)}"
    return wrong_answer(Difference(text).sentence(name), named, notes, actual=shown, expected=show(expected))


def _advice(shown: str, readings: list[Fraction], expected: Fraction) -> str:
    if expected and any(nearly(r, 100 * expected) for r in readings):
        return " It is about 100 times as large: if it is a percentage, write % behind it."
    if expected.denominator != 1 and any(nearly(r, expected) for r in readings):
        return " It is close: keep more digits on the way, and round the result only."
    if len(readings) > 1:
        return f" (It was read as {' or as '.join(show(shortest(r)) for r in readings[:2])}.)"
    if not re.fullmatch(r"[-+]?[\d.e+-]+(/\d+)?|a whole number.*", plain_signs(shown)):
        return f" (It was read as {show(shortest(readings[0]))}.)"
    return ""

"""Numbers as questions ask for them: 1,008,100; 7/15; 82.65 %; 1e-3; 1.2·10⁶."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from viva.compare.answers.characters import fractions_written_out, plain_signs, powers_written_out
from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import evaluate
from viva.compare.answers.unreadable import Unreadable, refusal, wrong_answer
from viva.compare.answers.unwrapped import unwrapped
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hint_recording import hints_of_answer
from viva.compare.hints import matching_hints
from viva.compare.normalize import is_number, one_number, plain
from viva.compare.show import as_written, show

RTOL: Final = 1e-3
"""The default tolerance of written numbers: three significant digits; whole numbers are exact."""
_LENGTH: Final = 200
_HOW: Final = "write the number alone, such as 1008100, 0.25 or 7/15"
_LATEX: Final = [
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"(?<=\d)\\[,;:! ](?=\d)"), " "),
    (re.compile(r"\$|\\[()\[\]]|`"), ""),
]
_DIGITS: Final = re.compile(r"[+-]?\s*(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_GROUPED: Final = re.compile(r"[+-]?\s*[1-9]\d{0,2}(?:([ ,'_])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\s*\d+,\d+")
_TWO_NUMBERS: Final = re.compile(r"[\d)]\s*\(")
"""In 7/9 (0.778) the brackets hold the same number once more, and no factor."""


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
        raise refusal(name, actual, "a number", why) from None
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
    if not isinstance(actual, str):
        actual = one_number(plain(actual))
    shown = as_written(actual)
    text = f"{shown} is not the number asked for."
    if not named:
        text += _advice(shown, readings, expected)
    return wrong_answer(Difference(text).sentence(name), named, notes, actual=shown, expected=show(expected))


def _advice(shown: str, readings: list[Fraction], expected: Fraction) -> str:
    if expected and any(_nearly(r, 100 * expected) for r in readings):
        return " It is about 100 times as large: if it is a percentage, write % behind it."
    if expected.denominator != 1 and any(_nearly(r, expected) for r in readings):
        return " It is close: keep more digits on the way, and round the result only."
    if len(readings) > 1:
        return f" (It was read as {' or as '.join(show(_shortest(r)) for r in readings[:2])}.)"
    if not re.fullmatch(r"[-+]?[\d.e+-]+(/\d+)?|a whole number.*", plain_signs(shown)):
        return f" (It was read as {show(_shortest(readings[0]))}.)"
    return ""


def read_number(value: object) -> list[Fraction]:
    """Return every way in which the answer can be read as a number, the likeliest first: a percentage has two.

    Raises:
        Unreadable: it is something else than one number or a calculation.
    """
    value = one_number(plain(value))
    if isinstance(value, list | tuple) and len(value) == 1:
        value = one_number(plain(value[0]))
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, bool) or not is_number(value) or isinstance(value, complex):
        raise Unreadable(_HOW)
    return [_exact(value)]


def _read_text(text: str) -> list[Fraction]:
    if len(text) > _LENGTH:
        raise Unreadable(f"it is too long; {_HOW}")
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    text = plain_signs(powers_written_out(fractions_written_out(unwrapped(text)))).replace("％", "%")
    text = text.strip().removesuffix(".").strip()
    if not text.endswith("%"):
        return [_value(text)]
    # In "82,65 %" the comma is the decimal one: no one writes thousands of per cent.
    number = text[:-1].strip()
    if _DECIMAL_COMMA.fullmatch(number):
        number = number.replace(",", ".")
    value = _value(number)
    readings = [value / 100]
    if abs(value) > 1:
        readings.append(value)
    return readings


def _value(text: str) -> Fraction:
    """Return the value of digits, with separators or without, or of a calculation."""
    if _DIGITS.fullmatch(text):
        return Fraction(text.replace(" ", ""))
    if match := _GROUPED.fullmatch(text):
        return Fraction(text.replace(match[1], "").replace(" ", ""))
    if _DECIMAL_COMMA.fullmatch(text):
        return Fraction(text.replace(",", "."))
    if not re.search(r"\d", text) or _TWO_NUMBERS.search(text):
        raise Unreadable(_HOW)
    try:
        value = evaluate(parse(text, ()), {})
    except Unreadable:
        raise Unreadable(_HOW) from None
    return _exact(value)


def _exact(value: Any) -> Fraction:
    try:
        return Fraction(value) if isinstance(value, int | Fraction) else Fraction(str(float(value)))
    except (ValueError, OverflowError):
        raise Unreadable("it is not finite") from None


def _nearly(one: Fraction, other: Fraction) -> bool:
    """Return whether two numbers may be the same one, differently rounded."""
    return abs(one - other) <= max(abs(one), abs(other)) / 50


def _shortest(value: Fraction) -> float | int:
    """Return the number in the form in which a message shows it; beyond all floats it is rounded."""
    if value.denominator == 1:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return round(value)

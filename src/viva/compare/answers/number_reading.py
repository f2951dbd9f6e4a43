"""Reads an answer as a number: 1,008,100; 7/15; 82.65 %; 1e-3; 1.2·10⁶; (7/15)^(1/4). Sentences are not read."""

import re
from fractions import Fraction
from typing import Any, Final

from viva.compare.answers.characters import fractions_written_out, plain_signs, powers_written_out
from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import evaluate
from viva.compare.answers.unreadable import Unreadable
from viva.compare.answers.unwrapped import unwrapped
from viva.compare.normalize import is_number, one_number, plain

_LENGTH: Final = 200
_HOW: Final = "write the number alone, such as 1008100, 0.25 or 7/15"
_LATEX: Final = [
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"(?<=\d)\\[,;:! ](?=\d)"), " "),
    (re.compile(r"\$|\\[()\[\]]|`"), ""),
]
_DIGITS: Final = re.compile(r"[+-]?\s*(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_GROUPED: Final = re.compile(r"[+-]?\s*\d{1,3}(?:([ ,'_])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_DECIMAL_COMMA: Final = re.compile(r"[+-]?\s*\d+,\d+")

_TWO_NUMBERS: Final = re.compile(r"[\d)]\s*\(")
"""In 7/9 (0.778) the brackets hold the same number once more, and no factor."""


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
    value = _value(number.replace(",", ".") if _DECIMAL_COMMA.fullmatch(number) else number)
    return [value / 100, value] if abs(value) > 1 else [value / 100]


def _value(text: str) -> Fraction:
    """Return the value of digits, with separators or without, or of a calculation."""
    if _DIGITS.fullmatch(text):
        return Fraction(text.replace(" ", ""))
    if match := _GROUPED.fullmatch(text):
        is_decimal = text.lstrip("+- ").startswith("0,")
        return Fraction(text.replace(",", ".") if is_decimal else text.replace(match[1], ""))
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


def nearly(one: Fraction, other: Fraction) -> bool:
    """Return whether two numbers may be the same one, differently rounded."""
    return abs(one - other) <= max(abs(one), abs(other)) / 50


def shortest(value: Fraction) -> float | int:
    """Return the number in the form in which a message shows it; beyond all floats it is rounded."""
    if value.denominator == 1:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return round(value)

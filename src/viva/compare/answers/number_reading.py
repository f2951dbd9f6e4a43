"""Reads an answer as a number: plain values, sentences, equations whose sides are the same number."""

import re
from fractions import Fraction
from typing import Any, Final

from viva.compare.answers.characters import fractions_written_out, plain_signs, powers_written_out
from viva.compare.answers.number_text import has_digits_of_its_own, read_piece
from viva.compare.answers.unreadable import Unreadable
from viva.compare.answers.unwrapped import unwrapped
from viva.compare.normalize import is_number, one_number, plain
from viva.compare.show import show

_LENGTH: Final = 200
_LATEX: Final = [
    (re.compile(r"\\(?:approx|simeq|sim|cong|equiv|to|rightarrow|Rightarrow)(?![A-Za-z])|[=-]>|[⇒⟹]"), "="),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"(?<=\d)\\[,;:! ](?=\d)"), " "),
    (re.compile(r"\$|\\[()\[\]]|`"), ""),
]
_SENTENCE: Final = re.compile(
    r"^(?:(?:the|my|our)\s+)?(?:(?!not\b|never\b|hardly\b|cannot\b)[A-Za-z][\w-]*\s+){0,5}?"
    r"(?:is|are|equals|has|have|gives?|get|obtain|needs?)\s+(?=(?:about |exactly |only )?\S*\d)",
    re.IGNORECASE,
)
"""The beginning of a sentence such as "The BLEU score is 0.8265"."""
_RELATIONS: Final = re.compile(r"[=≈≃≅≐~→:]+")
_SAID_AGAIN: Final = re.compile(r"(.*\S)\s*\(\s*[=≈~]([^()]*)\)")
"""A number followed by the same number in another form, in brackets: 1008100 (≈ 1M)."""
_TWICE: Final = re.compile(r"(.*[\w%])\s+\(([^()]*\d[^()]*)\)")
"""The same without a sign: 0.001 (1e-3). If the two differ, the brackets are a factor."""


def read_number(value: object) -> list[Fraction]:
    """Return every way in which the answer can be read as a number, the likeliest first.

    Raises:
        Unreadable: no number, or several different ones.
    """
    value = one_number(plain(value))
    if isinstance(value, list | tuple) and len(value) == 1:
        value = one_number(plain(value[0]))
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, bool) or not is_number(value) or isinstance(value, complex):
        raise Unreadable("write digits, such as 1008100, 0.25 or 7/15")
    return [_exact(value)]


def _read_text(text: str) -> list[Fraction]:
    if len(text) > _LENGTH:
        raise Unreadable("it is too long; write the number alone")
    found = [(piece, readings) for piece in _pieces(text) if (readings := read_piece(piece))]
    if not found:
        raise Unreadable("write digits, such as 1008100, 0.25 or 7/15")
    first = found[0][1]
    for _, one in found:
        if not _are_one(one, first):
            both = f"{show(shortest(first[0]))} and {show(shortest(one[0]))}"
            raise Unreadable(f"it holds different numbers, {both}; leave one of them")
    return max(found, key=lambda pair: _digits(*pair))[1]


def _pieces(text: str) -> list[str]:
    """Return the sides of an equation, or the text itself."""
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    text = plain_signs(powers_written_out(fractions_written_out(unwrapped(text)))).replace("％", "%")
    text = _SENTENCE.sub("", text.strip().rstrip(".;,!? "))
    if match := _SAID_AGAIN.fullmatch(text):
        text = f"{match[1]} = {match[2]}"
    pieces = [piece.strip() for piece in _RELATIONS.split(text)]
    if (match := _TWICE.fullmatch(pieces[-1])) and _are_one(read_piece(match[1]), read_piece(match[2].strip())):
        pieces[-1:] = [match[1], match[2].strip()]
    return pieces


def _digits(piece: str, readings: list[Fraction]) -> float:
    """Return how many digits of the number a text gives: in "11/12 ≈ 0.917" the exact number counts."""
    if not has_digits_of_its_own(piece):
        return float("inf")
    value = readings[0].numerator * 10 ** len(str(readings[0].denominator)) // readings[0].denominator
    return len(str(abs(value)).strip("0"))


def _are_one(one: list[Fraction], other: list[Fraction]) -> bool:
    return any(nearly(a, b) for a in one for b in other)


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

"""Parses a text into the numbers that it may mean: separators, fractions, percentages, powers of ten, calculations."""

import math
import re
from fractions import Fraction
from typing import Any, Final

from viva.compare.answers.characters import fractions_written_out, plain_signs, powers_written_out
from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import evaluate
from viva.compare.answers.unreadable import Unreadable
from viva.compare.normalize import is_number, one_number, plain
from viva.compare.show import show

_LENGTH: Final = 200
_EXPONENT: Final = 400
_LATEX_RELATION: Final = re.compile(r"\\(?:approx|simeq|sim|cong|equiv|to|rightarrow)(?![A-Za-z])")
_MARKUP: Final = re.compile(r"^\s*(?:\*\*|__)|(?:\*\*|__)\s*$|`")
_SENTENCE: Final = re.compile(
    r"^(?:(?:the|my|our)\s+)?(?:[A-Za-z][\w-]*\s+){0,5}?(?:is|are|equals)\s+(?=\S*\d)", re.IGNORECASE
)
"""The beginning of a sentence such as "The BLEU score is 0.8265"."""
_RELATIONS: Final = re.compile(r"[=≈≃≅≐~→:]+")
_PLAIN: Final = re.compile(r"(\d+\.?\d*|\.\d+)")
_GROUPED: Final = re.compile(r"\d{1,3}(?:([ ,'_])\d{3})(?:\1\d{3})*(\.\d+)?")
_GROUPED_BY_POINTS: Final = re.compile(r"\d{1,3}((\.\d{3}){2,}(,\d+)?|(\.\d{3})+,\d+)")
_DECIMAL_COMMA: Final = re.compile(r"\d+,\d+")
_POWER_OF_TEN: Final = re.compile(r"(?:(.+?)\s*[*x]\s*)?10\s*(?:\^|\*\*)\s*\(?\s*([+-]?\s*\d{1,4})\s*\)?")
_EXPONENT_FORM: Final = re.compile(r"(.+?)[eE]([+-]?\d{1,4})")
_REMARK: Final = re.compile(r"(.*\S)\s*\([^()\d]*[A-Za-z][^()\d]*\)")
_WITH_WORDS: Final = re.compile(r"(.*[\d%)])\s*([A-Za-z][A-Za-z_-]*(?:\s+[A-Za-z_-]+){0,3})\.?")
_PER_CENT: Final = frozenset({"percent", "per cent", "pct"})
_CHANGING: Final = frozenset(
    "plus minus times and or not but except without more less fewer twice double half squared cubed".split()  # noqa: SIM905  # it fits on a line
)
"""Words behind a number that make another number of it."""
_MULTIPLIERS: Final[dict[str, Fraction]] = {
    **dict.fromkeys(("k", "K", "thousand"), Fraction(10**3)),
    **dict.fromkeys(("M", "mio", "million", "millions"), Fraction(10**6)),
    **dict.fromkeys(("B", "G", "bn", "billion", "billions"), Fraction(10**9)),
    **dict.fromkeys(("permille", "per mille", "promille", "per thousand", "per mil"), Fraction(1, 1000)),
}


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
    text = _MARKUP.sub("", _LATEX_RELATION.sub("=", text)).replace("\\%", "%")
    cleaned = plain_signs(powers_written_out(fractions_written_out(text))).replace("％", "%").strip().rstrip(".;,!? ")
    cleaned = _SENTENCE.sub("", cleaned)
    pieces = [piece.strip() for piece in _RELATIONS.split(cleaned)]
    found = [(piece, readings) for piece in pieces if (readings := _read_piece(piece))]
    if not found:
        raise Unreadable("write digits, such as 1008100, 0.25 or 7/15")
    first = found[0][1]
    for _, one in found:
        if not any(nearly(a, b) for a in one for b in first):
            both = f"{show(shortest(first[0]))} and {show(shortest(one[0]))}"
            raise Unreadable(f"it holds different numbers, {both}; leave one of them")
    # In "11/12 ≈ 0.917" the exact number counts, else the one with more digits.
    return max(found, key=lambda piece: (not _PLAIN.fullmatch(piece[0]), piece[1][0].denominator))[1]


def _read_piece(piece: str) -> list[Fraction]:
    """Return the readings of a text that is one number, none if it is something else: a label, a word."""
    piece = re.sub(r"^(about|approx\.?|approximately|ca\.?|circa|roughly)\s+", "", piece, flags=re.IGNORECASE)
    if match := _REMARK.fullmatch(piece):
        piece = match[1]
    if piece.endswith("%"):
        share = piece[:-1].strip()
        is_decimal = _DECIMAL_COMMA.fullmatch(share)  # 82,650 % has decimals: nobody writes thousands of per cent
        return _percentage(_read_piece(share.replace(",", ".") if is_decimal else share))
    if match := _WITH_WORDS.fullmatch(piece):
        word, inner = " ".join(match[2].split()), match[1].strip()
        if word.lower() in _PER_CENT:
            return _read_piece(f"{inner} %")
        if word in _MULTIPLIERS or word.lower() in _MULTIPLIERS:
            factor = _MULTIPLIERS.get(word) or _MULTIPLIERS[word.lower()]
            return [r * factor for r in _read_piece(inner)]
        if changing := _CHANGING.intersection(word.lower().split()):
            raise Unreadable(f"`{min(changing)}` behind it may change the number; write the number alone")
        if len(word) > 2:
            return _read_piece(inner)
    return _signed(piece) or _arithmetic(piece)


def _percentage(readings: list[Fraction]) -> list[Fraction]:
    """Return the readings of a percentage: 82.65 % is 0.8265, or 82.65 if the question asks for per cent."""
    return [r / 100 for r in readings] + [r for r in readings if abs(r) > 1]


def _signed(text: str) -> list[Fraction]:
    sign = -1 if text.startswith("-") else 1
    text = text[1:].strip() if text[:1] in ("-", "+") else text
    above, slash, below = text.partition("/")
    if slash:
        denominators = [d for d in _unsigned(below.strip()) if d]
        return [sign * n / d for n in _unsigned(above.strip()) for d in denominators]
    return [sign * r for r in _unsigned(text)]


def _unsigned(text: str) -> list[Fraction]:
    if match := _POWER_OF_TEN.fullmatch(text):
        mantissas = _decimal(match[1].strip()) if match[1] else [Fraction(1)]
        return _times_power_of_ten(mantissas, match[2].replace(" ", ""))
    if match := _EXPONENT_FORM.fullmatch(text):
        return _times_power_of_ten(_decimal(match[1]), match[2])
    return _decimal(text)


def _times_power_of_ten(mantissas: list[Fraction], exponent: str) -> list[Fraction]:
    if abs(int(exponent)) > _EXPONENT:
        return []
    return [m * Fraction(10) ** int(exponent) for m in mantissas]


def _decimal(text: str) -> list[Fraction]:
    """Read digits with any separators; "1,008" is one thousand and eight, and "0,008" a number below one."""
    if not text.isascii():
        return []
    if _PLAIN.fullmatch(text):
        return [Fraction(text)]
    if match := _GROUPED.fullmatch(text):
        grouped = Fraction(text.replace(match[1], ""))
        is_decimal = text.startswith("0,") and text.count(",") == 1 and "." not in text
        return [Fraction(text.replace(",", ".")) if is_decimal else grouped]
    if _GROUPED_BY_POINTS.fullmatch(text):
        return [Fraction(text.replace(".", "").replace(",", "."))]
    if _DECIMAL_COMMA.fullmatch(text):
        return [Fraction(text.replace(",", "."))]
    return []


def _arithmetic(text: str) -> list[Fraction]:
    """Evaluate a calculation without names, such as (7/15)^(1/4)."""
    if not re.search(r"\d", text):
        return []
    try:
        value = evaluate(parse(text, ()), {})
    except Unreadable:
        return []
    return [Fraction(value)] if math.isfinite(value) else []


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

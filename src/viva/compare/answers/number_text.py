"""Parses a text that is one number: separators, fractions, percentages, powers of ten, calculations."""

import math
import re
from fractions import Fraction
from typing import Final

from viva.compare.answers.formula_text import parse
from viva.compare.answers.formula_tree import evaluate
from viva.compare.answers.unreadable import Unreadable

_EXPONENT: Final = 400
_PLAIN: Final = re.compile(r"(\d+\.?\d*|\.\d+)")
_GROUPED: Final = re.compile(r"\d{1,3}(?:([ ,'_])\d{3})(?:\1\d{3})*(\.\d+)?")
_GROUPED_BY_POINTS: Final = re.compile(r"\d{1,3}((\.\d{3}){2,}(,\d+)?|(\.\d{3})+,\d+)")
_DECIMAL_COMMA: Final = re.compile(r"\d+,\d+")
_POWER_OF_TEN: Final = re.compile(r"(?:(.+?)\s*[*x]\s*)?10\s*(?:\^|\*\*)\s*\(?\s*([+-]?\s*\d{1,4})\s*\)?")
_EXPONENT_FORM: Final = re.compile(r"(.+?)[eE]([+-]?\d{1,4})")
_PART_OF: Final = re.compile(r"(\d+) (?:out )?of (\d+)")
_SHARE: Final = re.compile(r"(\d+\.?\d*|\.\d+)\s*%")
_OF_SHARES: Final = re.compile(r"%\s*[*/+-].*%")
_QUALIFIER: Final = re.compile(
    r"(?:about|approx\.?|approximately|ca\.?|circa|roughly|exactly|only|just)\s+", re.IGNORECASE
)
_MINUS: Final = re.compile(r"(?:minus|negative)\s+(?=\d)", re.IGNORECASE)
_REMARK: Final = re.compile(r"(.*(?:[\d%)]|\S(?=\s)))\s*\([^()\d]*[A-Za-z][^()\d]*\)")
_WITH_WORDS: Final = re.compile(r"(.*[\d%)])\s*([A-Za-z][A-Za-z_-]*(?:\s+[A-Za-z_-]+){0,3})\.?")
_PER_CENT: Final = frozenset({"percent", "per cent", "pct"})
_WRITTEN_OUT: Final = {
    word: Fraction(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905  # it fits on a line
    )
}
_CHANGING: Final = frozenset(
    "plus minus times or not but except without more less fewer twice double half squared cubed".split()  # noqa: SIM905  # likewise
) | frozenset(_WRITTEN_OUT)
"""Words after a number that make it another number."""
_MULTIPLIERS: Final[dict[str, Fraction]] = {
    **dict.fromkeys(("k", "K", "thousand"), Fraction(10**3)),
    **dict.fromkeys(("M", "mio", "million", "millions"), Fraction(10**6)),
    **dict.fromkeys(("B", "G", "bn", "billion", "billions"), Fraction(10**9)),
    **dict.fromkeys(("permille", "per mille", "promille", "per thousand", "per mil"), Fraction(1, 1000)),
}


def read_piece(piece: str) -> list[Fraction]:
    """Return the readings of a text that is one number, none if it is something else: a label, a word.

    Raises:
        Unreadable: a word after the number may make it another number.
    """
    piece = _MINUS.sub("-", _QUALIFIER.sub("", piece, count=1), count=1)
    if match := _REMARK.fullmatch(piece):
        piece = match[1]
    if piece.lower() in _WRITTEN_OUT:
        return [_WRITTEN_OUT[piece.lower()]]
    if match := _PART_OF.fullmatch(piece):
        return [Fraction(int(match[1]), int(match[2])), Fraction(match[1])] if int(match[2]) else []
    if _OF_SHARES.search(piece):  # 15 % * 80 %
        return _arithmetic(_SHARE.sub(r"(\1/100)", piece))
    if piece.endswith("‰"):
        return [reading / 1000 for reading in read_piece(piece[:-1].strip())]
    if piece.endswith("%"):
        share = piece[:-1].strip()
        is_decimal = _DECIMAL_COMMA.fullmatch(share)  # 82,650 % has decimals: no one writes thousands of per cent
        return _percentage(read_piece(share.replace(",", ".") if is_decimal else share))
    if (match := _WITH_WORDS.fullmatch(piece)) and (readings := _with_words(match[1].strip(), match[2].split())):
        return readings
    return _signed(piece) or _arithmetic(piece)


def has_digits_of_its_own(piece: str) -> bool:
    """Return whether a text is the digits of a number, which may be rounded, rather than a calculation."""
    return re.search(r"[/*^(+]|sqrt", piece) is None or _POWER_OF_TEN.fullmatch(piece) is not None


def _with_words(inner: str, words: list[str]) -> list[Fraction]:
    word = " ".join(words)
    if word.lower() in _PER_CENT:
        return read_piece(f"{inner} %")
    if word in _MULTIPLIERS or word.lower() in _MULTIPLIERS:
        factor = _MULTIPLIERS.get(word) or _MULTIPLIERS[word.lower()]
        return [reading * factor for reading in read_piece(inner)]
    changing = _CHANGING.intersection(word.lower().split()) | {"and"}.intersection(words[:1])
    if changing:
        raise Unreadable(f"`{min(changing)}` behind it may change the number; write the number alone")
    return read_piece(inner) if len(word) > 2 else []


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

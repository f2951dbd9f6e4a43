"""Search a released folder for the key's answers by hand: texts in any spacing, numbers rounded or as per cent."""

import contextlib
import math
import numbers
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

_LEAST_TEXT: Final = 4
"""Shorter answers, such as the letter of a choice, occur everywhere by chance."""
_LEAST_DIGITS: Final = 3
_LEAST_DIGITS_WHOLE: Final = 4
"""Whole numbers of fewer digits, such as 768, occur as sizes."""
_LEAST_DIGITS_RECORDED: Final = 7
"""A record holds thousands of numbers; only one that is not rounded counts as found."""
_MOST_DIGITS: Final = 17
"""Digits that a number in double precision has."""
_SIMPLE: Final = 1000
"""The largest denominator of a fraction that occurs in records by chance."""
_NEARLY: Final = Fraction(1, 10**9)
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d)")
_SAME: Final = str.maketrans({"·": "*", "×": "*", "−": "-", "²": "^2", "³": "^3"})


@dataclass(frozen=True, slots=True)
class HandAnswer:
    """One text or number of the key's answers."""

    name: str
    """Such as `answers["1.4"]`."""
    value: str | Fraction


def hand_answers(answers: Mapping[str, Any]) -> list[HandAnswer]:
    """Return the texts and numbers of `answers` in `key.py` that are long enough to find."""
    return [HandAnswer(f'answers["{name}"]', part) for name, answer in answers.items() for part in _parts(answer)]


class AnswerSearch:
    """Finds answers in texts; what the public texts hold as well is not a leak."""

    def __init__(self, answers: list[HandAnswer], public: str) -> None:
        """Prepare the search.

        Args:
            answers: what to look for.
            public: everything that students read anyway, such as the handout and the starter.
        """
        plain, seen = _plain(public), _rounded_numbers(public)
        texts = [(a.name, _plain(a.value)) for a in answers if isinstance(a.value, str)]
        values = [(a.name, a.value) for a in answers if isinstance(a.value, Fraction)]
        self._texts = [(name, text) for name, text in texts if not _occurs(text, plain)]
        self._numbers = [(name, value) for name, value in values if _written(value, seen) is None]

    def found_in(self, text: str, *, recorded: bool = False) -> Iterator[tuple[str, str]]:
        """Yield the name of each answer that the text holds, and how it is written there.

        Args:
            text: a file.
            recorded: whether it is a record, in which rounded numbers occur by chance.
        """
        plain = _plain(text)
        yield from ((name, secret) for name, secret in self._texts if _occurs(secret, plain))
        if not self._numbers:
            return
        tokens = _rounded_numbers(text, least=_LEAST_DIGITS_RECORDED if recorded else _LEAST_DIGITS)
        for name, value in self._numbers:
            # Fractions such as 7/9 come up in a record now and then: a random input leads to them.
            if not (recorded and _is_simple(value)) and (token := _written(value, tokens)) is not None:
                yield name, token


def _parts(answer: object) -> Iterator[str | Fraction]:
    """Yield the texts and numbers in an answer; a text that is a fraction is also a number."""
    if isinstance(answer, str):
        yield from [answer] if len(_plain(answer)) >= _LEAST_TEXT else []
        with contextlib.suppress(ValueError, ZeroDivisionError):
            yield from _parts(Fraction(answer.replace(" ", "")))
    elif isinstance(answer, Mapping):
        for value in answer.values():
            yield from _parts(value)
    elif isinstance(answer, numbers.Rational) and not isinstance(answer, bool):
        if answer.denominator != 1 or len(str(abs(answer.numerator)).rstrip("0")) >= _LEAST_DIGITS_WHOLE:
            yield abs(Fraction(int(answer.numerator), int(answer.denominator)))
    elif isinstance(answer, float):
        yield from _parts(Fraction(repr(answer))) if math.isfinite(answer) else []
    elif hasattr(answer, "tolist"):  # an array
        yield from _parts(answer.tolist())
    elif isinstance(answer, list | tuple | set | frozenset):
        for value in answer:
            yield from _parts(value)


def _plain(text: str) -> str:
    """Return a text in one notation for powers and products, with spaces only between two words."""
    spaced = re.sub(r"\s+", " ", text.lower().translate(_SAME).replace("**", "^"))
    return re.sub(r"(?<!\w) | (?!\w)", "", spaced)


def _occurs(secret: str, plain: str) -> bool:
    """Return whether an answer occurs in a text, not as a part of a longer word or formula."""
    start = plain.find(secret)
    while start >= 0:
        around = plain[start - 1 : start] + plain[start + len(secret) : start + len(secret) + 1]
        if not re.search(r"[\w*/+^-]", around):
            return True
        start = plain.find(secret, start + 1)
    return False


def _rounded_numbers(text: str, least: int = _LEAST_DIGITS) -> dict[str, str]:
    """Return the numbers of a text with enough significant digits, by their value in these digits."""
    found: dict[str, str] = {}
    for token in dict.fromkeys(_NUMBER.findall(text)):
        mantissa = re.split("[eE]", token)[0]
        digits = mantissa.replace(".", "").lstrip("0")
        count = len(digits if "." in mantissa else digits.rstrip("0"))
        if count >= least:
            found.setdefault(_rounded(float(token), count), token)
    return found


def _written(value: Fraction, tokens: Mapping[str, str]) -> str | None:
    """Return the number that is the value, or its hundredfold, rounded to as many digits as it has; None if none is."""
    counts = range(_LEAST_DIGITS, _MOST_DIGITS + 1)
    forms = (_rounded(float(v), count) for v in (value, 100 * value) for count in counts)
    return next((tokens[form] for form in forms if form in tokens), None)


def _rounded(number: float, digits: int) -> str:
    return f"{number:.{min(digits, _MOST_DIGITS) - 1}e}"


def _is_simple(value: Fraction) -> bool:
    return value.denominator != 1 and abs(value - value.limit_denominator(_SIMPLE)) < _NEARLY

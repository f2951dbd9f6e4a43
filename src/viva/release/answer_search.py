"""Search a released folder for the key's answers by hand: texts in any spacing, numbers rounded or as per cent."""

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
        plain, seen = _plain(public), _numbers(public)
        self._texts = {a.name: _plain(a.value) for a in answers if isinstance(a.value, str)}
        self._texts = {name: text for name, text in self._texts.items() if not _occurs(text, plain)}
        self._numbers = [(a.name, a.value) for a in answers if isinstance(a.value, Fraction)]
        self._numbers = [(n, v) for n, v in self._numbers if not any(_is_rounded(token, v) for token in seen)]

    def found_in(self, text: str, *, recorded: bool = False) -> Iterator[tuple[str, str]]:
        """Yield the name of each answer that the text holds, and how it is written there.

        Args:
            text: a file.
            recorded: whether it is a record, in which rounded numbers occur by chance.
        """
        plain = _plain(text)
        yield from ((name, secret) for name, secret in self._texts.items() if _occurs(secret, plain))
        tokens = _numbers(text) if self._numbers else set()
        for name, value in self._numbers:
            if recorded and value.denominator != 1 and abs(value - value.limit_denominator(_SIMPLE)) < _NEARLY:
                continue  # such as 7/9: a random input leads to it now and then
            token = next((t for t in tokens if _is_rounded(t, value) and (not recorded or _is_long(t))), None)
            if token is not None:
                yield name, token


def _parts(answer: object) -> Iterator[str | Fraction]:
    """Yield the texts and numbers in an answer; a text that is a fraction is also a number."""
    if isinstance(answer, str):
        if len(_plain(answer)) >= _LEAST_TEXT:
            yield answer
        try:
            yield from _parts(Fraction(answer.replace(" ", "")))
        except (ValueError, ZeroDivisionError):
            return
    elif isinstance(answer, Mapping):
        for value in answer.values():
            yield from _parts(value)
    elif isinstance(answer, numbers.Rational) and not isinstance(answer, bool):
        if answer.denominator != 1 or len(str(abs(answer.numerator)).rstrip("0")) >= _LEAST_DIGITS_WHOLE:
            yield abs(Fraction(int(answer.numerator), int(answer.denominator)))
    elif isinstance(answer, float) or hasattr(answer, "dtype"):
        yield from _parts_of_numbers(answer)
    elif isinstance(answer, list | tuple | set | frozenset):
        for value in answer:
            yield from _parts(value)


def _parts_of_numbers(answer: Any) -> Iterator[str | Fraction]:
    if not isinstance(answer, float):  # an array
        yield from _parts(answer.tolist())
    elif answer == answer and abs(answer) != float("inf"):
        exact = Fraction(repr(answer))
        yield from [abs(exact)] if exact.denominator != 1 else _parts(exact)


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


def _numbers(text: str) -> set[str]:
    return {token for token in _NUMBER.findall(text) if len(_digits(token)) >= _LEAST_DIGITS}


def _digits(token: str) -> str:
    """Return the significant digits of a number."""
    mantissa = re.split("[eE]", token)[0]
    digits = mantissa.replace(".", "").lstrip("0")
    return digits if "." in mantissa else digits.rstrip("0")


def _is_long(token: str) -> bool:
    return len(_digits(token)) >= _LEAST_DIGITS_RECORDED


def _is_rounded(token: str, value: Fraction) -> bool:
    """Return whether a number as written is the value, or its hundredfold, rounded to as many digits."""
    digits = len(_digits(token))
    written = Fraction(token)
    return any(f"{float(written):.{digits - 1}e}" == f"{float(v):.{digits - 1}e}" for v in (value, 100 * value))

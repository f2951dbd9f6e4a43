"""The search for leaks: every file of a released folder is decoded and searched for what only graders may know.

These are texts, such as lines of the key, and the key's answers by hand, which are found in any spacing, rounded or as
per cent.
"""

import ast
import contextlib
import io
import json
import math
import numbers
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from viva.config.rubric import Rubric
from viva.examiner.recorded_key.record import RECORD, Record, record_from
from viva.plugins.release.key_recording import KeyRecording

_LEAST_TEXT: Final = 20
"""Shorter texts occur in public files by chance."""
_LEAST_NUMBER: Final = 10_000
"""Smaller numbers, and round ones, occur in public files by chance as well."""
_LEAST_LINE: Final = 40
"""The length from which a line of the reference does not occur elsewhere by chance."""
_COMMON_LINE: Final = re.compile(r"from |import |#|[A-Z]\w* = [\w.\[\], |]+$")
"""Imports, comments, names of types."""
_READABLE: Final = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ufffd]{4,}")
"""Matches readable text in a record. Most of a record is packed numbers, so this is about a tenth of it."""
_MOST_OF_ARRAY: Final = 1000
"""Numbers of an array that are looked at: no answer by hand has as many."""
_FENCED: Final = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
_LEAST_ANSWER: Final = 4
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


@dataclass(slots=True)
class Secrets:
    """What must not be found in a released folder."""

    texts: dict[str, str] = field(default_factory=dict)
    """Text -> its description for the author."""
    recorded: KeyRecording = field(default_factory=KeyRecording)
    """What the released tests ask the key and draw; another examiner recorded it than made the record."""
    answers: "AnswerSearch | None" = None

    def add_code(self, files: Iterable[Path], public: str) -> None:
        """Add the lines of key and reference, except those that public files hold as well."""
        for file in files:
            for line in file.read_text("utf-8").splitlines():
                text = line.strip()
                if len(text) >= _LEAST_LINE and not _COMMON_LINE.match(text) and text not in public:
                    self.texts[text] = f"a line of {file.name}"

    def add_constants(self, sources: Mapping[str, str], released: Iterable[str], public: str) -> None:
        """Add the texts and numbers of the graders that are in no released test and in no public text."""
        known = set[str]().union(*map(_constants, released))
        for name, source in sources.items():
            for constant in _constants(source) - known:
                if constant not in public:
                    self.texts[constant] = f"a constant of a hidden test in {name}"

    def add_models(self, rubric: Rubric) -> None:
        """Add the lines of the model answers in words. Code in them is code of the key, which `add_code` adds."""
        for question in rubric.questions:
            for line in _FENCED.sub("", question.model).splitlines():
                if len(text := line.strip()) >= _LEAST_LINE:
                    self.texts[text] = f"a line of the model answer to {question.number}"

    def hide_answers(self, answers: Mapping[str, object], public: str) -> None:
        """Add the key's answers by hand, except what public files hold as well."""
        self.answers = AnswerSearch(hand_answers(answers), public)

    def find_in(self, files: Mapping[str, bytes]) -> list[str]:
        """Return a sentence for each leak, at most one for each file and text."""
        found: list[str] = []
        for path, data in files.items():
            recorded = path.endswith(RECORD)
            if recorded:
                found += self._more_than_asked(path, record_from(data))
            texts = decoded(path, data)
            for secret, what in self.texts.items():
                if any(_holds(text, secret) for text in texts):
                    found.append(f"{path} holds {what}: {secret[:60]!r}")
            if self.answers is None:
                continue
            answers: dict[str, str] = {}
            for text in texts:
                answers.update(self.answers.find_in(text, recorded=recorded))
            found += [f"{path} holds the key's {name}: {written[:60]!r}" for name, written in answers.items()]
        return found

    def _more_than_asked(self, path: str, record: Record) -> Iterator[str]:
        asked = set().union(*self.recorded.asked.values())
        if record.answers.keys() - asked:
            yield f"{path} answers a question that no released test asks the key"
        for name in sorted(record.seeds.keys() - self.recorded.seeds.keys()):
            yield f"{path} holds the seed of {name}"


def _holds(text: str, secret: str) -> bool:
    """Return whether a text holds a secret; a number not as a part of another one, such as the digits of a float."""
    if secret not in text:
        return False
    whole = rf"(?<![\d.]){re.escape(secret)}(?!\d|\.\d*[1-9])"
    return not secret.isdecimal() or re.search(whole, text) is not None


def decoded(path: str, data: bytes) -> list[str]:
    """Return a file as texts: as it is, and what is packed in it (notebooks, archives, records)."""
    texts = [data.decode("utf-8", "replace")]
    if path.endswith(RECORD):
        texts = ["\n".join(_READABLE.findall(texts[0]))]
        record = record_from(data)
        answers = filter(None, map(record.answer, record.answers))
        texts.append(
            "\n".join(part for a in answers for part in _recorded_parts((a.value, a.after, a.raised, a.printed)))
        )
    elif path.endswith(".ipynb"):
        texts.append("\n".join(_sources(data)))
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                texts += decoded(name, archive.read(name))
    return texts


def _recorded_parts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of a recorded value; of a large array, the first ones."""
    if isinstance(value, np.ndarray | np.generic):
        shown = value.ravel()[:_MOST_OF_ARRAY]
        digits = ".8g" if shown.dtype.itemsize > 4 else ".7g"
        yield " ".join(format(n, digits) if shown.dtype.kind in "fc" else str(n) for n in shown.tolist())
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _recorded_parts(pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _recorded_parts(item)
    else:
        yield value if isinstance(value, str) else repr(value)


def _sources(data: bytes) -> list[str]:
    sources = []
    for cell in json.loads(data).get("cells", []):
        source = cell["source"]
        sources.append(source if isinstance(source, str) else "".join(source))
    return sources


def _constants(source: str) -> set[str]:
    """Return texts and numbers that are long enough to identify, as they are written."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, str) and len(value) >= _LEAST_TEXT:
                found.add(value)
            elif isinstance(value, int | float) and abs(value) >= _LEAST_NUMBER and value % 1000:
                found.add(repr(value))
    return found


@dataclass(frozen=True, slots=True)
class HandAnswer:
    """One text or number of the key's answers."""

    name: str
    """Such as `answers["1.4"]`."""
    value: str | Fraction


def hand_answers(answers: Mapping[str, Any]) -> list[HandAnswer]:
    """Return the texts and numbers of `answers` in `key.py` that are long enough to find."""
    return [
        HandAnswer(f'answers["{name}"]', part) for name, answer in answers.items() for part in _answer_parts(answer)
    ]


class AnswerSearch:
    """Finds answers in texts; what the public texts hold as well is not a leak."""

    def __init__(self, answers: list[HandAnswer], public: str) -> None:
        """Prepare the search.

        Args:
            answers: what to look for.
            public: everything that students read anyway, such as the handout and the starter.
        """
        plain = _plain(public)
        numbers_shown = _rounded_numbers(public)
        self._texts: list[tuple[str, str]] = []
        self._numbers: list[tuple[str, Fraction]] = []
        for answer in answers:
            if isinstance(answer.value, Fraction):
                if _written(answer.value, numbers_shown) is None:
                    self._numbers.append((answer.name, answer.value))
                continue
            text = _plain(answer.value)
            if not _occurs(text, plain):
                self._texts.append((answer.name, text))

    def find_in(self, text: str, *, recorded: bool = False) -> Iterator[tuple[str, str]]:
        """Yield the name of each answer that the text holds, and how it is written there.

        Args:
            text: a file.
            recorded: whether it is a record, in which rounded numbers occur by chance.
        """
        plain = _plain(text)
        for name, secret in self._texts:
            if _occurs(secret, plain):
                yield name, secret
        if not self._numbers:
            return
        least = _LEAST_DIGITS_RECORDED if recorded else _LEAST_DIGITS
        tokens = _rounded_numbers(text, least=least)
        for name, value in self._numbers:
            if recorded and _is_simple(value):
                continue  # fractions such as 7/9 come up in a record now and then: a random input leads to them
            token = _written(value, tokens)
            if token is not None:
                yield name, token


def _answer_parts(answer: object) -> Iterator[str | Fraction]:
    """Yield the texts and numbers in an answer; a text that is a fraction is also a number."""
    if isinstance(answer, str):
        if len(_plain(answer)) >= _LEAST_ANSWER:
            yield answer
        with contextlib.suppress(ValueError, ZeroDivisionError):
            yield from _answer_parts(Fraction(answer.replace(" ", "")))
    elif isinstance(answer, Mapping):
        for value in answer.values():
            yield from _answer_parts(value)
    elif isinstance(answer, numbers.Rational) and not isinstance(answer, bool):
        if answer.denominator != 1 or len(str(abs(answer.numerator)).rstrip("0")) >= _LEAST_DIGITS_WHOLE:
            yield abs(Fraction(int(answer.numerator), int(answer.denominator)))
    elif isinstance(answer, float):
        if math.isfinite(answer):
            yield from _answer_parts(Fraction(repr(answer)))
    elif hasattr(answer, "tolist"):  # an array
        yield from _answer_parts(answer.tolist())
    elif isinstance(answer, list | tuple | set | frozenset):
        for value in answer:
            yield from _answer_parts(value)


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
    for number in (float(value), float(100 * value)):
        for count in range(_LEAST_DIGITS, _MOST_DIGITS + 1):
            form = _rounded(number, count)
            if form in tokens:
                return tokens[form]
    return None


def _rounded(number: float, digits: int) -> str:
    return f"{number:.{min(digits, _MOST_DIGITS) - 1}e}"


def _is_simple(value: Fraction) -> bool:
    return value.denominator != 1 and abs(value - value.limit_denominator(_SIMPLE)) < _NEARLY

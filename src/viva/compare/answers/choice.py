"""Choices as students write them: C; "A, C"; ["a", "c"]; "AC"; {"C", "A"}; true, yes, ✓."""

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import numpy as np

from viva.compare.answers.characters import latin, plain_signs
from viva.compare.answers.one_for_all import refuse_one_for_all
from viva.compare.answers.unreadable import Unreadable, refusal
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.normalize import one_number, plain
from viva.compare.show import as_written, show

_TRUE: Final = frozenset(
    {"true", "t", "yes", "y", "1", "right", "correct", "wahr", "ja", "vrai", "oui", "✓", "✔", "对", "正确", "是"}
)
_FALSE: Final = frozenset(
    {"false", "f", "no", "n", "0", "wrong", "incorrect", "falsch", "nein", "faux", "non", "✗", "✘", "错", "错误", "否"}
)
_LABEL: Final = re.compile(r"^(?:my\s+)?(?:answers?|options?|choices?)?\s*(?:is|are)?\s*[:=]?\s*", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\s*(?:[,;/+&|\n]|\band\b|\bund\b|\bet\b)\s*", re.IGNORECASE)
_ITEMS: Final = re.compile(r"\s*[,;\n]\s*")
_LETTER_AND_TEXT: Final = re.compile(r"\(?([A-Za-z])(?:\s*(?:[).:\]]|\s-)(?:\s.*)?)?", re.DOTALL)
_LETTERS: Final = re.compile(r"[A-Za-z](?:\s*[A-Za-z])*")
_LENGTH: Final = 500
_LAST_LETTER: Final = "j"
_FEW: Final = 3
"""In so few words, true and false together are two answers, not a reason."""


def agree_choice(
    actual: object,
    expected: str | bool | Iterable[str],  # noqa: FBT001  # an answer, not a switch
    *,
    partial: bool = False,
    beside: Iterable[object] = (),
    name: str = "your answer",
) -> None:
    """Pass if the student chose exactly the expected options. The message never says which they are.

    Args:
        actual: a text, a bool, a list or set of texts, or a dict from option to bool.
        expected: one option or several: letters, words, or true and false.
        partial: give the share of common options (those chosen and right, of those chosen or right) instead of nothing.
        beside: the answers to the other questions of this kind; one answer for all of them earns nothing.
        name: what the message calls the answer.

    Raises:
        Disagreement: other options, with the share if `partial`; or none that can be read.
        ValueError: the author expects nothing.
    """
    right = _read_expected(expected)
    try:
        chosen = read_choice(actual, right)
    except Unreadable as why:
        raise refusal(name, actual, _what(right), why) from None
    refuse_one_for_all(chosen, beside, lambda other: read_choice(other, right), name)
    if chosen == right:
        return
    share = Fraction(len(chosen & right), len(chosen | right)) if partial else None
    text = f"{_shown(actual, chosen)} is not right.{_advice(chosen, right, partial=partial)}"
    raise Disagreement(
        Difference(text).sentence(name),
        share=share,
        actual=", ".join(sorted(chosen)),
        expected=", ".join(sorted(right)),
    )


def read_choice(value: object, like: frozenset[str]) -> frozenset[str]:
    """Return the options chosen, in lower case.

    Args:
        value: what the student wrote.
        like: the right options; only their kind matters: letters, true and false, or words.

    Raises:
        Unreadable: nothing that looks like a choice.
    """
    value = one_number(plain(value))
    if like <= {"true", "false"}:
        return frozenset({_read_truth(value)})
    if isinstance(value, dict):
        return frozenset().union(
            *(_options(k if isinstance(k, str) else show(k), like) for k, v in value.items() if _is_ticked(v))
        )
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        parts = [plain(part) for part in list(value)[:50]]
        texts = [part for part in parts if isinstance(part, str)]
        if not parts or len(texts) < len(parts):
            raise Unreadable(_how(like))
        return frozenset().union(*(_options(text, like) for text in texts))
    if not isinstance(value, str):
        raise Unreadable(_how(like))
    return _options(value, like)


def _options(text: str, like: frozenset[str]) -> frozenset[str]:
    if len(text) > _LENGTH:
        raise Unreadable(_how(like))
    text = _normal(text)
    if not all(len(option) == 1 for option in like):
        return _words(text, like)
    stripped = _LABEL.sub("", text).strip(" .!?\"'`*_")
    bare = stripped.strip("()[]{}")
    for parts in (_ITEMS.split(stripped), [stripped], _BETWEEN.split(bare)):
        parts = [part.strip(" ()[]{}.\"'") if len(part) < 8 else part.strip() for part in parts if part.strip()]
        marked = [_LETTER_AND_TEXT.fullmatch(part) for part in parts]
        if marked and all(marked):
            return _letters([match[1] for match in marked if match], like)
    if _LETTERS.fullmatch(bare):
        return _letters(list("".join(bare.split())), like)
    raise Unreadable(_how(like))


def _letters(parts: list[str], like: frozenset[str]) -> frozenset[str]:
    letters = [part.lower() for part in parts]
    last = max(_LAST_LETTER, *like)
    if not letters or len(set(letters)) < len(letters) or any(len(x) != 1 or not "a" <= x <= last for x in letters):
        raise Unreadable(_how(like))
    return frozenset(letters)


def _words(text: str, like: frozenset[str]) -> frozenset[str]:
    whole = " ".join(_LABEL.sub("", text).lower().strip(" .\"'").split())
    if whole in like or len(like) == 1:
        return frozenset({whole})
    return frozenset(" ".join(part.lower().strip(" .\"'").split()) for part in _BETWEEN.split(text) if part.strip())


def _read_truth(value: object) -> str:
    if isinstance(value, list | tuple | set | frozenset) and len(value) == 1:
        value = one_number(plain(next(iter(value))))
    if isinstance(value, bool | int | float) and value in (0, 1):
        return "true" if value else "false"
    if isinstance(value, str) and len(value) <= _LENGTH:
        word = _LABEL.sub("", _normal(value)).lower().strip(" .!\"'`*()[]")
        words = [w for w in re.split(r"[^\w✓✔✗✘]+", word) if w]
        if len(words) <= _FEW and not (_TRUE.isdisjoint(words) or _FALSE.isdisjoint(words)):
            raise Unreadable("write True or False, one of them")
        word = words[0] if words else word
        if word in _TRUE or word in _FALSE:
            return "true" if word in _TRUE else "false"
    raise Unreadable("write True or False")


def _is_ticked(value: object) -> bool:
    try:
        return _read_truth(one_number(plain(value))) == "true"
    except Unreadable:
        return isinstance(value, str) and value.strip().lower() == "x"


def _normal(text: str) -> str:
    return latin(plain_signs(text)).strip()


def _read_expected(expected: str | bool | Iterable[str]) -> frozenset[str]:  # noqa: FBT001  # an answer, not a switch
    if isinstance(expected, bool):
        return frozenset({str(expected).lower()})
    parts = [expected] if isinstance(expected, str) else list(expected)
    right = frozenset(" ".join(_normal(str(part)).lower().split()) for part in parts)
    if not right or "" in right:
        raise ValueError(f"agree_choice: {expected!r} is expected; expected at least one option.")
    return right


def _what(right: frozenset[str]) -> str:
    return "true or false" if right <= {"true", "false"} else "a choice"


def _how(like: frozenset[str]) -> str:
    if all(len(option) == 1 for option in like):
        return "write the letters of your choice, such as B, or A, C"
    return "write the words of your choice as they stand in the question"


def _shown(actual: object, chosen: frozenset[str]) -> str:
    if isinstance(plain(actual), str | bool):
        return as_written(plain(actual))
    options = sorted(option.upper() if len(option) == 1 else option for option in chosen)
    return as_written(", ".join(options)) or "an empty choice"


def _advice(chosen: frozenset[str], right: frozenset[str], *, partial: bool) -> str:
    if not partial:
        return ""
    common = len(chosen & right)
    return f" {common} of the chosen options {'is' if common == 1 else 'are'} right."

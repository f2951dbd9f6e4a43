"""Choices as questions ask for them: C; "A, C"; [A, C]; "AC"; {A: true, B: false}; first; true."""

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
from viva.compare.show import as_written

_TRUTHS: Final = {
    **dict.fromkeys(["true", "t", "yes", "y", "1"], "true"),
    **dict.fromkeys(["false", "f", "no", "n", "0"], "false"),
}
_MARKUP: Final = re.compile(r"\\(?:text|math|boxed)\w*|[\\$`*_\"'“”„(){}\[\]:!]|[.)](?=\s|,|$)")
"""What may stand around a choice and says nothing."""
_BETWEEN: Final = re.compile(r"\s*(?:[,;/&+|\n]|\band\b)+\s*")
_LETTERS: Final = frozenset("abcdefghij")
"""The letters that options have where the author names no options."""
_LENGTH: Final = 500


def agree_choice(
    actual: object,
    expected: str | bool | Iterable[str],  # noqa: FBT001  # an answer, not a switch
    *,
    partial: bool = False,
    beside: Iterable[object] = (),
    name: str = "your answer",
) -> None:
    """Pass if the student chose exactly the expected options. The message never says which they are.

    Case, spaces, quotes, brackets and a full stop do not matter. An answer that cannot be read is left to a person;
    words are options where assignment.yaml declares them (`choice [first, second]`).

        agree_choice(submission.answers["1.3"], {"A", "C"})
        agree_choice(submission.answers["1h"], "first")

    Args:
        actual: a text, a bool, a list or set of texts, or a dict from option to bool.
        expected: one option or several: letters, words, or true and false.
        partial: give partial credit: the options chosen and right, divided by the options chosen or right.
        beside: the answers to the other questions of this kind; one answer for all of them earns nothing.
        name: what the message calls the answer.

    Raises:
        Disagreement: other options, with the share if `partial`; or none that can be read.
        ValueError: the author expects nothing.
    """
    right = _read_expected(expected)
    what = "a choice"
    if right <= {"true", "false"}:
        what = "true or false"
    try:
        chosen = read_choice(actual, right)
    except Unreadable as why:
        raise refusal(name, actual, what, why) from None
    refuse_one_for_all(chosen, beside, lambda other: read_choice(other, right), name)
    if chosen == right:
        return
    text, share = f"{_shown(actual, chosen)} is not right.", None
    if partial:
        share = Fraction(len(chosen & right), len(chosen | right))
        text += _advice(chosen, right)
    raise Disagreement(
        Difference(text).sentence(name),
        share=share,
        actual=", ".join(sorted(chosen)),
        expected=", ".join(sorted(right)),
    )


def read_choice(value: object, like: frozenset[str], options: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the options chosen, in lower case.

    Args:
        value: what the student wrote.
        like: the right options; only their kind matters: letters, true and false, or words.
        options: all options, in lower case; empty if any word is one.

    Raises:
        Unreadable: the value is not made of options.
    """
    value = one_number(plain(value))
    if like <= {"true", "false"}:
        return frozenset({_read_truth(value)})
    if isinstance(value, dict):
        value = [option for option, ticked in value.items() if ticked is None or _is_ticked(ticked)]
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple | set | frozenset | np.ndarray) or len(value) > _LENGTH:
        raise Unreadable(_how(like))
    chosen: set[str] = set()
    for part in value:
        text = plain(part)
        if not isinstance(text, str) or len(text) > _LENGTH:
            raise Unreadable(_how(like))
        chosen |= _options(text, like, options)
    return frozenset(chosen)


def _options(text: str, like: frozenset[str], options: frozenset[str]) -> set[str]:
    """Return the options of a text that is a list of them."""
    if not _are_letters(like):
        whole = _normal(text)
        parts = [part for part in _BETWEEN.split(whole) if part]
        if whole in (options or like):  # an option may hold a comma or an "and"
            parts = [whole]
        if not options:
            options = frozenset(parts)  # any word is one
        if not parts or not options.issuperset(parts):
            raise Unreadable(_how(like))
        return set(parts)
    letters = [letter for part in _BETWEEN.split(_normal(text)) for letter in part.split()]
    if len(letters) == 1 and _MARKUP.sub("", text).strip().isupper():
        letters = [*letters[0]]  # ACE
    if not letters or not (options or _LETTERS | like).issuperset(letters):
        raise Unreadable(_how(like))
    return set(letters)


def _read_truth(value: object) -> str:
    if isinstance(value, list | tuple | set | frozenset) and len(value) == 1:
        value = one_number(plain(next(iter(value))))
    if isinstance(value, bool | int | float) and value in (0, 1):
        return "true" if value else "false"
    if not isinstance(value, str) or len(value) > _LENGTH or _normal(value) not in _TRUTHS:
        raise Unreadable("write True or False")
    return _TRUTHS[_normal(value)]


def _is_ticked(value: object) -> bool:
    """Return whether a value next to an option says that it is chosen."""
    try:
        return _read_truth(one_number(plain(value))) == "true"
    except Unreadable:
        return isinstance(value, str) and value.strip().lower() == "x"


def _normal(text: object) -> str:
    """Return a text in lower case, without markup, quotes, brackets and repeated spaces."""
    words = _MARKUP.sub(" ", latin(plain_signs(str(text)))).lower().split()
    return " ".join(words).strip(" .,;")


def _read_expected(expected: str | bool | Iterable[str]) -> frozenset[str]:  # noqa: FBT001  # an answer, not a switch
    if isinstance(expected, bool):
        return frozenset({str(expected).lower()})
    parts = [expected] if isinstance(expected, str) else list(expected)
    right = frozenset(map(_normal, parts))
    if not right or "" in right:
        raise ValueError(f"agree_choice: {expected!r} is expected; expected at least one option.")
    return right


def _are_letters(like: frozenset[str]) -> bool:
    return all(len(option) == 1 for option in like)


def _how(like: frozenset[str]) -> str:
    if _are_letters(like):
        return "write the letters of your choice and nothing else, such as B, or A, C"
    return "write the words of your choice as they appear in the question"


def _shown(actual: object, chosen: frozenset[str]) -> str:
    if isinstance(plain(actual), str | bool):
        return as_written(plain(actual))
    options = sorted(option.upper() if len(option) == 1 else option for option in chosen)
    return as_written(", ".join(options)) or "an empty choice"


def _advice(chosen: frozenset[str], right: frozenset[str]) -> str:
    common = len(chosen & right)
    return f" {common} of the chosen options {'is' if common == 1 else 'are'} right."

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
    ["true", "t", "yes", "y", "1", "right", "correct", "wahr", "ja", "vrai", "oui", "✓", "✔", "✅", "对", "正确", "是"]
)
_FALSE: Final = frozenset(
    "false f no n 0 wrong incorrect falsch nein faux non ✗ ✘ ❌ 错 错误 否".split()  # noqa: SIM905  # it fits on a line
)
_LABEL: Final = re.compile(
    r"^(?:(?:the|my|our|correct|right|final|only|i|id|ill|we|would|will|think|believe|choose|chose|pick|select|say|go|with"
    r"|it|that|this|both|must|should|be|definitely|clearly|surely|probably|so|but|hence|thus|therefore"
    r"|statements?|claim|sentence|answers?|options?|choices?|letters?|is|are)\b[\s:=,]*)*",
    re.IGNORECASE,
)
_TRUTH_LABEL: Final = re.compile(_LABEL.pattern.replace("|correct|right", ""), re.IGNORECASE)
_LETTER_LABEL: Final = re.compile(_LABEL.pattern.replace("|i|", "|i(?=\\s+[a-z]{2})|"), re.IGNORECASE)
"""The label of a choice when the options are letters and one of them is I."""
_WORD_LABEL: Final = re.compile(r"^(?:my\s+)?(?:answers?|options?|choices?)?\s*(?:is|are)?\s*[:=]?\s*", re.IGNORECASE)
_MARKUP: Final = re.compile(r"\\(?:text|math|boxed)\w*|\\(?=[{}])|\\[,;: ]|[$`*_\"“”„{}]")
_BULLET: Final = re.compile(r"^\s*(?:[-+•–—*]\s+|\d{1,2}[.)]\s*(?=\(?[A-Za-z]\b))", re.MULTILINE)
_BETWEEN: Final = re.compile(r"\s*(?:[,;/+&|\n]|\band\b|\bund\b|\bet\b)\s*", re.IGNORECASE)
_LETTER: Final = re.compile(r"[(\[]?\s*([A-Za-z])\b\s*[)\].:]?")
_SEPARATOR: Final = re.compile(r"(?:\s|[,;/+&|]|\b(?:and|und|et)\b)*", re.IGNORECASE)
_DASHES: Final = re.compile(r"[A-Za-z](?:\s*-\s*[A-Za-z]){2,}\W*")
_REASON: Final = re.compile(
    r"\s*(?:[):.\],;(?!-]|(?:because|since|as|due|only|alone|for|is|are|seems?|with|while|whereas|rather|instead)\b|$)",
    re.IGNORECASE,
)
_WORD_AFTER: Final = re.compile(
    r"\s+(?!(?:and|und|et|or|is|are|as|because|since|only|due|for|with|while|whereas)\b)[a-z]{2}"
)
"""A word after a letter that makes the letter an article or a name: "A tokenizer", "a model"."""
_REFUSED: Final = re.compile(
    r"^\W*(?:is|are)\s+(?:not\b|wrong|false|incorrect|n't)|^\W*(?:wrong|false|incorrect|no)\b", re.IGNORECASE
)
_LIST: Final = r"[A-J]\b(?:(?:\s*[,/&]\s*|\s+)(?:(?:and|or|nor)\s+)?[A-J]\b)*"
_NOT_CHOSEN: Final = re.compile(
    r"\b(?:(?:and|but)\s+)?(?:[Nn]ot|[Nn]either|without|rather than|instead of)\s+(?:(?:the|option|answer)\s+)*"
    rf"{_LIST}(?!\s+(?!but\b)[a-z]{{3}})"
    rf"|{_LIST}\s+(?:is|are)\s+(?:both\s+|all\s+)?(?:wrong|false|incorrect|not\s+\w+)\b"
)
"""Words that the student marks as not being the answer; they are removed before the answer is read."""
_OTHER: Final = re.compile(
    r"\b(?:[B-J]|A(?!\s+[a-z]{2}))\b(?!')|\b(?:or|also|maybe|perhaps)\s+\(?[a-j]\b(?!\s+[a-z]{2})"
)
_ITEMS: Final = re.compile(r"\s*[,;\n]\s*|\.\s+(?=\(?[A-Za-z]\s*[).:\]=])")
_JUDGED: Final = re.compile(
    r"\(?([A-Ja-j])\)?\s*(?:is|are|:|=|-)?\s*(right|correct|true|yes|✓|✔|✅|wrong|false|incorrect|no|✗|✘|❌)(?!\w)[\s,;.]*"
    r"(?:(?:and|but)\s+)?",
    re.IGNORECASE,
)
"""An option and whether it is chosen: A is right; B: no; C ✓."""
_LETTER_AND_TEXT: Final = re.compile(r"\(?([A-Za-z])\s*(?:[).:\]=]|\s-)\s*(.*)", re.DOTALL)
_NOT_TRUE: Final = re.compile(r"(?:\bnot|\bisn'?t|\bnever)\s+(?:true|right|correct)\b|\buntrue\b")
_TAKEN_BACK: Final = re.compile(
    r"(?:\b(?:or|but|actually|also|correction|edit|wait|partly|sometimes)\b\W*(?:\w+\W+){0,2}?"
    r"|\b(?:statement|claim|sentence|it|this|that) (?:is|was) (?:indeed |actually )?)"
    r"(?:(true|false|yes|no|correct|incorrect)\b(?!\s+(?:that|to|for|when|if|in|only|matter|one))"
    r"|(right|wrong)\b(?!\s+\w))"
)
"""Words that reverse an answer: "or false", "but it is wrong", "the statement is true"; not "but the right order"."""
_LENGTH: Final = 500
_LAST_LETTER: Final = "j"
_FEW: Final = 3
"""In an answer this short, true and false together are two answers, not a reason."""


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
        partial: give partial credit: the options chosen and right, divided by the options chosen or right.
        beside: the answers to the other questions of this kind; one answer for all of them earns nothing.
        name: what the message calls the answer.

    Raises:
        Disagreement: other options, with the share if `partial`; or none that can be read.
        ValueError: the author expects nothing.
    """
    right = _read_expected(expected)
    try:
        chosen = read_choice(actual, right)
        if isinstance(actual, str) and not actual.strip():
            raise Unreadable("it is empty")
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
        Unreadable: the value does not look like a choice.
    """
    value = one_number(plain(value))
    if like <= {"true", "false"}:
        return frozenset({_read_truth(value)})
    if isinstance(value, dict) and value and all(ticked is None for ticked in value.values()):
        value = list(value)  # {A, C} in YAML
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
    text = _BULLET.sub("", _MARKUP.sub("", text)).strip(" .!?'[]").replace("'", "")
    if (judged := _JUDGED.findall(text)) and not _JUDGED.sub("", text):
        chosen = [letter for letter, word in judged if word.lower() in _TRUE]
        if not chosen or len({letter.lower() for letter, _ in judged}) < len(judged):
            raise Unreadable(_how(like))
        return _letters(chosen, like)
    denied = {letter for words in _NOT_CHOSEN.findall(text) for letter in re.findall(r"\b[A-J]\b", words)}
    text = _NOT_CHOSEN.sub(" ", text).strip(" ;,.")
    if denied & set(re.findall(r"\b[A-J]\b", text)):  # "A, C, E, but not C"
        raise Unreadable(_how(like))
    text = text[_matched(_LETTER_LABEL, text, 0) :]
    if _DASHES.fullmatch(text):  # "A - C - E"; "A-E" may be a range
        text = text.replace("-", ",")
    items = [_LETTER_AND_TEXT.fullmatch(item) for item in _ITEMS.split(text) if item]
    if len(items) > 1 and all(items):  # a line for each option: its text, or whether it is chosen
        return _letters([item[1] for item in items if item and not _is_denied(item[2])], like)
    letters, end = _leading_letters(text)
    rest = text[end:]
    is_closed = text[end - 1 : end] in tuple(").:]") or _REASON.match(rest)
    if not letters or not is_closed or _REFUSED.search(rest) or _names_another(rest, letters):
        raise Unreadable(_how(like))
    return _letters(letters, like)


def _is_denied(text: str) -> bool:
    return text.lower().strip(" .!") in _FALSE


def _leading_letters(text: str) -> tuple[list[str], int]:
    """Return the letters with which the text begins, and where they end; "ACE" are three letters."""
    word = re.match(r"[A-Za-z]+\b", text)
    if word and len(word[0]) > 1 and (word.end() == len(text) or word[0].isupper()):
        return list(word[0]), word.end()
    letters: list[str] = []
    at = end = 0
    while (match := _LETTER.match(text, at)) and not _WORD_AFTER.match(text, match.end(1)):
        is_last = not text[match.end() :].strip(" .,;:)]")
        if letters and match[1].isupper() != letters[0].isupper() and not is_last:  # "B, a tokenizer ..."
            break
        letters.append(match[1])
        end = match.end()
        at = _matched(_SEPARATOR, text, end)
        if at == end and text[end - 1 : end].isalpha():
            break
    return letters, end


def _names_another(rest: str, letters: list[str]) -> bool:
    """Return whether the words after the choice name another option."""
    return any(name[-1].lower() not in {letter.lower() for letter in letters} for name in _OTHER.findall(rest))


def _matched(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _letters(parts: list[str], like: frozenset[str]) -> frozenset[str]:
    letters = [part.lower() for part in parts]
    last = max(_LAST_LETTER, *like)
    if len(set(letters)) < len(letters) or any(not "a" <= letter <= last for letter in letters):
        raise Unreadable(_how(like))
    return frozenset(letters)


def _words(text: str, like: frozenset[str]) -> frozenset[str]:
    whole = " ".join(_WORD_LABEL.sub("", text).lower().strip(" .\"'").split())
    if whole in like or len(like) == 1:
        return frozenset({whole})
    return frozenset(" ".join(part.lower().strip(" .\"'").split()) for part in _BETWEEN.split(text) if part.strip())


def _read_truth(value: object) -> str:
    if isinstance(value, list | tuple | set | frozenset) and len(value) == 1:
        value = one_number(plain(next(iter(value))))
    if isinstance(value, bool | int | float) and value in (0, 1):
        return "true" if value else "false"
    if isinstance(value, str) and len(value) <= _LENGTH:
        text = _NOT_TRUE.sub("false", _MARKUP.sub("", _normal(value)).lower().strip(" .!'[]()"))
        words = [w for w in re.split(r"[^\w✓✔✗✘❌✅]+", text[_matched(_TRUTH_LABEL, text, 0) :]) if w]
        known = [w in _TRUE for w in words if w in _TRUE | _FALSE]
        if len(words) <= _FEW and len(set(known)) > 1:
            raise Unreadable("write True or False, one of them")
        if known and words[0] in _TRUE | _FALSE:
            opposite = _FALSE if known[0] else _TRUE
            if any((match[1] or match[2]) in opposite for match in _TAKEN_BACK.finditer(text)):
                raise Unreadable("write True or False, one of them")
            return "true" if known[0] else "false"
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
    return "write the words of your choice as they appear in the question"


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

"""Split an answer into words and signs, and find those that decide its meaning.

Letter case, spaces, punctuation and Markdown syntax make no difference and are removed. Formulas keep their signs.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
# NFKC writes 10² as 102 and 3½ as 31⁄2, so raised and lowered characters are set apart first.
_RAISED: Final = re.compile("[²³¹\u2070-\u207f\u1d2c-\u1d61]+")
_LOWERED: Final = re.compile("[\u2080-\u209c\u1d62-\u1d6a¼-¾\u2150-\u215f\u2189]+")
_PLAIN: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "−": "-", "–": "-", "‐": "-", "\u2011": "-"})
_STEPS: Final = tuple(
    (sign, re.compile(pattern, re.MULTILINE), new)
    for sign, pattern, new in (
        (">", r"^(?:[ \t]*>)+[ \t]+", ""),  # a quote
        ("-", r"^[ \t]*-[ \t]+", ""),  # bullets
        ("+", r"^[ \t]*\+[ \t]+", ""),
        ("*", r"^[ \t]*\*[ \t]+", ""),
        ("*", r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]*[^\s*])\1(?![\w*])", r"\2"),  # emphasis, which a product is not
        ("'", r"(?<=\b\w)'(?!\w)", "′"),  # a derivative
        ("'", r"(?<=\w)'(?=\w)", ""),
        ("-", r"(?<=[^\W\d]{2})-(?=[^\W\d]{2})", " "),  # a hyphen; between names of one letter it is a minus
        ("=", r"!=", "≠"),
        ("=", r"<=", "≤"),
        ("=", r">=", "≥"),
    )
)
_TOKEN: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff]"  # scripts without spaces: each sign is a word
    r"|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+"
    r"|(?:(?<!\w)[.,])?\d+(?:[.,]\d+)*"
    r"|(?<=[\d)])!|(?<=\b[^\W\d])!"  # a factorial
    r"""|[^\w\s.,;:?!"'“”„«»‹›…¿¡、。「」`$\\#—]"""
)
_VERBS: Final = "do does did is are was were has have had could would should must need might"
_CONTRACTED: Final = {f"{verb}nt": (verb, "not") for verb in _VERBS.split()} | {
    "cant": ("can", "not"),
    "cannot": ("can", "not"),
    "wont": ("will", "not"),
}
_ENGLISH: Final = (
    "not no never none nothing nobody neither nor without unless except hardly only always more less fewer greater "
    "larger smaller higher lower before after above below true false correct incorrect right wrong "
    "increase increases increased decrease decreases decreased"
)
_LATEX: Final = "lt gt le ge leq geq ne neq notin"
_GERMAN: Final = (
    "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder noch ohne nur immer mehr weniger "
    "grösser kleiner höher niedriger vor nach wahr falsch richtig"
)
_OTHER: Final = "ne pas jamais sans ni aucun aucune nunca sin 不 没 沒 無 无 非 未"
_DECISIVE: Final = frozenset(f"{_ENGLISH} {_LATEX} {_GERMAN} {_OTHER}".split())
_BRACKETS: Final = frozenset("()[]{}")
_ARTICLES: Final = frozenset("ai")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words, numbers and signs of an answer; none for a text without any."""
    if not text.isascii():
        text = _LOWERED.sub(r" \g<0>", _RAISED.sub(r"^\g<0>", _UNSEEN.sub("", text)))
        text = unicodedata.normalize("NFKC", text)
    text = text.casefold().translate(_PLAIN)
    for sign, pattern, new in _STEPS:
        if sign in text:
            text = pattern.sub(new, text)
    words: list[str] = _TOKEN.findall(text)
    if _CONTRACTED.keys().isdisjoint(words):
        return tuple(words)
    return tuple(part for word in words for part in _CONTRACTED.get(word, (word,)))


def decisive_tokens(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return what decides the meaning of an answer, in order: numbers, signs, one-letter names, negations, opposites.

    Signs and negations come with the words next to them: "a is not b" and "a is b, c is not" differ, as do a < b and
    b < a.
    """
    return tuple(_decisive_tokens(words))


def _decisive_tokens(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    before = ""
    for word, after in pairwise([*words, ""]):
        if word in _DECISIVE:
            yield word, after
        elif word.isalpha():
            if len(word) == 1 and word not in _ARTICLES and word.islower():
                yield (word,)
        elif word in _BRACKETS or word[-1].isdigit():
            yield (word,)
        elif not unicodedata.category(word[0]).startswith("M"):
            yield before, word, after
        before = word

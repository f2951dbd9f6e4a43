"""Python source as a stream of token kinds with the lines they stand in: names and literals are all alike.

What is renamed, re-formatted, commented or given other numbers keeps its stream. Sources are read, never compiled.
"""

import io
import keyword
import re
import tokenize
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

MOST_CHARACTERS: Final = 400_000
"""Of one source; what comes later is not looked at."""
_MOST_RESTARTS: Final = 20
_DROPPED: Final = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER, tokenize.ERRORTOKEN,
})  # fmt: skip
_SHELL: Final = re.compile(r"^[ \t]*[%!?][^\n]*$", re.MULTILINE)
"""Lines of a notebook that are no Python."""


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of code of a submission."""

    name: str
    """`solution.py`, or `answers.ipynb, cell 7`."""
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """One token."""

    kind: int
    """Equal for tokens that count as the same."""
    source: int
    """Which of the sources it stands in."""
    line: int


def tokens_of(sources: Sequence[Source]) -> list[Token]:
    """The tokens of all sources, one after the other; of code that breaks off, what can be read of it."""
    return [Token(kind, index, line) for index, source in enumerate(sources) for kind, line in _tokens(source.text)]


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Kind and line; after a place that cannot be read it goes on in the next line."""
    lines = _SHELL.sub("", text[:MOST_CHARACTERS]).splitlines(keepends=True)
    first = 0
    for _ in range(_MOST_RESTARTS):
        last = first
        try:
            for token in tokenize.generate_tokens(io.StringIO("".join(lines[first:])).readline):
                last = first + token.start[0]
                if token.type not in _DROPPED:
                    yield _kind(token), last
            return
        except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
            first = max(last, first + 1)
        if first >= len(lines):
            return


def _kind(token: tokenize.TokenInfo) -> int:
    if token.type == tokenize.NAME:
        word = token.string if keyword.iskeyword(token.string) else "name"
    elif token.type == tokenize.OP:
        word = token.string
    else:
        word = "literal"
    return zlib.crc32(word.encode("utf-8", "replace"))

"""Python source as a stream of token kinds with their lines; all names are one kind, and so are all literals.

Code that is renamed, reformatted, commented or given other numbers has the same stream. Sources are never compiled.
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
"""The maximum number of characters of a source; the rest is ignored."""
_MOST_RESTARTS: Final = 20
_DROPPED: Final = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER, tokenize.ERRORTOKEN,
})  # fmt: skip
_SHELL: Final = re.compile(r"^[ \t]*[%!?][^\n]*$", re.MULTILINE)
"""Lines of a notebook that are not Python."""


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of code of a submission."""

    name: str
    """`solution.py`, or `answers.ipynb, cell 7`."""
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token."""

    kind: int
    """Equal for tokens that count as the same."""
    source: int
    """The index of its source."""
    line: int


def tokens_of(sources: Sequence[Source]) -> list[Token]:
    """Return the tokens of all sources, one after the other; of invalid code those that can be read."""
    return [Token(kind, index, line) for index, source in enumerate(sources) for kind, line in _tokens(source.text)]


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Yield kind and line of each token; after an error continue in the next line."""
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

"""Parse a student's code outside of the box, as far as that costs little: it is data, of whatever size and shape."""

import ast
import itertools
import re
import warnings
from collections.abc import Sequence
from typing import Final

MOST_TOKENS: Final = 250_000
"""Of one submission's code: twenty thousand lines. Each costs half a kilobyte of memory, as a syntax tree."""
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def syntax_trees(texts: Sequence[str]) -> list[ast.Module | str]:
    """Return the syntax tree of each text, or the text if it is no Python; all texts if they are too much together."""
    tokens = itertools.chain.from_iterable(map(_TOKEN.finditer, texts))
    if next(itertools.islice(tokens, MOST_TOKENS, None), None) is not None:
        return [*texts]
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> ast.Module | str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the student's literals
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text

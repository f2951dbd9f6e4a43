"""Parse a student's code outside of the box, as far as that costs little: it is data, of whatever size and shape."""

import ast
import itertools
import re
import warnings
from collections.abc import Sequence
from typing import Final

MOST_TOKENS: Final = 250_000
"""The size limit of one submission's code: about 20,000 lines, each of which costs half a kilobyte as a syntax tree."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def syntax_trees(texts: Sequence[str]) -> list[ast.Module | str]:
    """Return the syntax tree of each text, or the text if it is not Python; all texts if the total is too large."""
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

"""Parse a student's code outside of the box, as far as that costs little: it is data, of whatever size and shape."""

import ast
import itertools
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

MOST_CHARACTERS_HERE: Final = 64 << 10
"""Larger code is parsed in another process: a character can cost a kilobyte."""
MOST_TOKENS: Final = 250_000
"""The size limit of one submission's code: about 20,000 lines, each of which costs half a kilobyte as a syntax tree."""
_MOST_BITS: Final = 10_000
"""Python writes no integer of more than 4,300 decimal digits."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
T = TypeVar("T")


def with_trees(reader: Callable[..., T], texts: Sequence[str], *more: object, returns: object, unreadable: T) -> T:
    """Call a function that parses a submission's code; in another process, with limits, if the code is large.

    Args:
        reader: a function at the top level of a module; `texts` is its first argument.
        texts: the code, in parts.
        more: its other arguments.
        returns: the type of what it returns, which JSON can hold.
        unreadable: what is returned if it takes more memory or time than it may.
    """
    if sum(map(len, texts)) <= MOST_CHARACTERS_HERE:
        return reader(texts, *more)
    # Its libraries are not needed for others.
    from viva.submissions.reading_child import Unreadable, read_apart

    try:
        return read_apart(reader, texts, *more, returns=returns)
    except Unreadable:
        return unreadable


def all_are_python(texts: Sequence[str]) -> bool:
    """Return whether all texts are Python."""
    return not any(isinstance(tree, str) for tree in syntax_trees(texts))


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
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > _MOST_BITS:
            node.value = 0  # a hexadecimal literal may have more decimal digits than Python writes
    return tree

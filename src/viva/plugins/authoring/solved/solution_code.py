"""Read the code of a solution: its exceptions, the texts it compares with, its summary."""

import ast
import inspect
import re
from collections.abc import Callable
from typing import Final

from viva.plugins.authoring.solved.questions import parsed
from viva.plugins.authoring.solved.recorded_run import source_of

_SECTION: Final = re.compile(
    r"^\s*(?:-{3,}|={3,})\s*$|^\s*(?:Args|Arguments?|Parameters|Returns|Inputs?):|^\s*(?::|@)(?:param|type)", re.M
)
"""The heading of a section in a docstring."""


def raised_in(function: Callable[..., object]) -> frozenset[str]:
    """Return the types of exceptions that a function's own `raise` and `assert` statements name."""
    found = set()
    for node in ast.walk(tree_of(function)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(named.id if isinstance(named, ast.Name) else "")
        elif isinstance(node, ast.Assert):
            found.add("AssertionError")
    return frozenset(found)


def texts_in(function: Callable[..., object]) -> frozenset[str]:
    """Return the texts with which the code compares something, and the defaults that are texts."""
    found = set()
    for node in ast.walk(tree_of(function)):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
        elif isinstance(node, ast.arguments):
            parts = list(node.defaults)
        found |= {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return frozenset(found - {""})


def constants_in(function: Callable[..., object]) -> frozenset[str]:
    """Return all texts in the code, the docstring among them."""
    nodes = ast.walk(tree_of(function))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def tree_of(function: Callable[..., object]) -> ast.Module:
    """Return the syntax tree of a function; empty if its source code is not known."""
    try:
        return ast.parse(source_of(function))
    except SyntaxError:
        return ast.Module([], [])


def summary_of(name: str, function: object) -> str:
    """Return the first docstring sentence as a test title, or an empty string if it is missing or too long."""
    paragraph = (inspect.getdoc(function) or "").strip().partition("\n\n")[0] if function is not None else ""
    if _SECTION.search(paragraph):
        paragraph = ""
    first = re.split(r"(?<=[.:!?])\s", " ".join(paragraph.split()))[0].rstrip(".:")
    return f"{first} (`{name}`)." if 0 < len(first) <= 90 and '"' not in first else ""


def typed_texts(source: str) -> frozenset[str]:
    """Return the variables to which a cell assigns a text as it stands; none if the cell is not Python."""
    tree = parsed(source)
    return frozenset(
        target.id
        for node in (tree.body if tree is not None else ())
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    )

"""`load: definitions`: run what defines names, skip what does work: loops, bare calls, slow assignments."""

from __future__ import annotations

import ast
from typing import Iterator

RUN, QUICK, SKIP = "run", "quick", "skip"
QUICK_S = 1.0
"""Counted seconds for an assignment that computes something."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_COMPUTES = (ast.Call, ast.Await, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.BinOp, ast.Subscript)


def kind_of(node: ast.stmt) -> str:
    """Decide about a top-level statement: RUN it, run it under a QUICK limit, or SKIP it.

    `if` and `try` count as definitions if they contain only definitions, imports and assignments:
    `try: import numpy ... except ImportError: numpy = None`.
    """
    if isinstance(node, (*_DEFINITIONS, *_IMPORTS, ast.Pass)):
        return RUN
    if isinstance(node, _ASSIGNMENTS):
        return QUICK if any(isinstance(part, _COMPUTES) for part in ast.walk(node)) else RUN
    if isinstance(node, (ast.If, ast.Try)) and not _is_main_guard(node):
        return QUICK if all(kind_of(inner) != SKIP for inner in _statements(node)) else SKIP
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return RUN  # a docstring
    return SKIP


def first_words(node: ast.stmt, source: str) -> str:
    """Return the beginning of a statement, for the list of what was skipped."""
    text = (ast.get_source_segment(source, node) or type(node).__name__).strip()
    return text.splitlines()[0][:80] if text else ""


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler):
            yield from child.body


def _is_main_guard(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Compare)
        and any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test))
    )

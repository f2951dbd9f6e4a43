"""Answers that code holds: `answers = {"1.4": 42}`. The code is parsed and never runs."""

import ast
from collections.abc import Iterator, Sequence

from viva.submissions.answers_by_line import ANSWERS
from viva.submissions.notebook_cells import NOT_PYTHON
from viva.submissions.syntax_trees import syntax_trees, with_trees


def answers_in_code(texts: Sequence[str], table: str = ANSWERS) -> dict[str, object]:
    """Return every answer that is written into the table `answers` or `written`, by its key as a text.

    A second table replaces the first one where the code runs; here it only adds to it.
    """
    return with_trees(_answers_in, texts, table, returns=dict[str, object], unreadable={})


def _answers_in(texts: Sequence[str], table: str) -> dict[str, object]:
    found: dict[str, object] = {}
    trees = syntax_trees([NOT_PYTHON.sub("", text) for text in texts])
    for node in (node for tree in trees if isinstance(tree, ast.Module) for node in tree.body):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
            continue
        if table in {target.id for target in node.targets if isinstance(target, ast.Name)}:
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant):
                    found |= {str(key.value): plain for plain in _plain(value)}
    return found


def _plain(node: ast.expr) -> Iterator[object]:
    """Yield the value if it is a text, a number, True, False or None, or a list of these."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return
    parts = value if isinstance(value, list) else [value]
    if all(part is None or isinstance(part, bool | int | float | str) for part in parts):
        yield value

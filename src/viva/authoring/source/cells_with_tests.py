"""Cells of a solved notebook that hold tests: they begin with `%%viva_test`, and students never get them."""

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from viva.authoring.source.source_cells import Cell

MAGIC: Final = "%%viva_test"
_LOAD: Final = re.compile(r"^[ \t]*%(?:re)?load_ext[ \t]+viva[ \t]*$\n?", re.MULTILINE)


def is_test(source: str) -> bool:
    """Return whether the source code of a cell is a test."""
    return source.lstrip().startswith(MAGIC)


def without_tests(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells without tests, and without the lines that make the magic known."""
    kept = []
    for cell in cells:
        if cell.kind == "code" and is_test(cell.source):
            continue
        source = _LOAD.sub("", cell.source) if cell.kind == "code" else cell.source
        if source == cell.source:
            kept.append(cell)
        elif source.strip():
            kept.append(replace(cell, source=source.rstrip("\n")))
    return kept


def test_body(source: str) -> str:
    """Return the Python of a test, without the magic."""
    first, _, rest = source.lstrip().partition("\n")
    return rest if first.startswith(MAGIC) else source


def asked_names(source: str) -> list[str]:
    """Return the names that a test asks the student's code for, in the order of their first use.

    Raises:
        SyntaxError: it is not Python.
    """
    nodes = [
        node
        for node in ast.walk(ast.parse(test_body(source)))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "student"
    ]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return list(dict.fromkeys(node.attr for node in nodes))

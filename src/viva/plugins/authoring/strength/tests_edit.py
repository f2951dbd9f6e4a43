"""Find and change places in the tests of an assignment that is made from a solved notebook, as text."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_OF_TESTS: Final = ("viva", "hypothesis")


def drawn_by(tests: Path) -> dict[str, list[str]]:
    """Return, by function, the strategies of the first `agree_on` that draws its arguments, as source code."""
    found: dict[str, list[str]] = {}
    for name, call in _comparisons(tests.read_text("utf-8")):
        if len(call.args) > 2:
            found.setdefault(name, [ast.unparse(argument) for argument in call.args[2:]])
    return found


def definitions_in(tests: Path) -> list[str]:
    """Return the statements at the top of a test file that define what its strategies may use, without viva's own."""
    found = []
    for node in ast.parse(tests.read_text("utf-8")).body:
        is_of_grading = isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _OF_TESTS
        is_test = isinstance(node, ast.FunctionDef) and bool(node.decorator_list)
        is_repeated = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("test_")
        if not (is_of_grading or is_test or is_repeated or isinstance(node, ast.Expr)):
            found.append(ast.unparse(node))
    return found


def end_of_call(text: str, function: str) -> int | None:
    """Return where the arguments of the first `agree_on` about a function end; None if it has hints, or is missing."""
    call = next((call for name, call in _comparisons(text) if name == function), None)
    if call is None or any(keyword.arg == "hints" for keyword in call.keywords):
        return None
    assert call.end_lineno is not None and call.end_col_offset is not None  # ast sets both
    lines = text.splitlines(keepends=True)
    last = lines[call.end_lineno - 1].encode()[: call.end_col_offset - 1].decode()
    return sum(map(len, lines[: call.end_lineno - 1])) + len(last)


def end_of_test(text: str, name: str) -> int | None:
    """Return the last line of the test that asks about a function."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(part, ast.Attribute) and ast.unparse(part) == f"student.{name}" for part in ast.walk(node)
        ):
            return node.end_lineno
    return None


def importing(name: str, text: str) -> str:
    """Return the source code of tests with a name imported from viva.grading."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module == "viva.grading":
            names = sorted({*map(ast.unparse, node.names), name})
            lines = text.splitlines(keepends=True)
            lines[node.lineno - 1 : node.end_lineno] = [f"from viva.grading import {', '.join(names)}\n"]
            return "".join(lines)
    return f"from viva.grading import {name}\n{text}"


def with_module(module: str, alias: str, text: str) -> str:
    """Return the source code of tests with a module imported if they use it."""
    tree = ast.parse(text)
    if not any(isinstance(node, ast.Name) and node.id == alias for node in ast.walk(tree)):
        return text
    statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if any((each.asname or each.name) == alias for node in statements for each in node.names):
        return text
    lines = text.splitlines(keepends=True)
    lines.insert(statements[0].lineno - 1, f"import {module}{f' as {alias}' if alias != module else ''}\n")
    return "".join(lines)


def _comparisons(text: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield each `agree_on` about a function of the student, with the name of the function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "agree_on" and node.args:
            function = node.args[0]
            if isinstance(function, ast.Attribute) and ast.unparse(function.value) == "student":
                yield function.attr, node

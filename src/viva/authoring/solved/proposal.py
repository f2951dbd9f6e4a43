"""A proposed test as source code."""

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from viva.authoring.solved.trial import OTHERS, OWN

WIDTH: Final = 120


@dataclass(slots=True)
class Proposal:
    """A proposed test of one name."""

    name: str
    body: list[str] = field(default_factory=list)
    """The lines of the test; empty where there is none to propose."""
    imports: set[str] = field(default_factory=set)
    """The names that it imports from `viva.grading`."""
    strategies: set[str] = field(default_factory=set)
    """The strategies that it uses."""
    definitions: list[str] = field(default_factory=list)
    """Statements that define what else it uses, for the top of the file."""
    fixtures: list[str] = field(default_factory=lambda: ["student", "key"])
    hidden: bool = False
    """Whether it is hidden, because it needs the key itself."""
    summary: str = ""
    """The sentence that students read."""
    why_not: str = ""
    """Why nothing is proposed."""
    tested_with: str = ""
    """The name whose test tests this one as well."""
    warnings: list[str] = field(default_factory=list)
    """Possible mistakes in the solution."""
    is_own: bool = False
    """Whether the author wrote the test."""
    test: str = ""
    """The name of the test in tests.py, once that is written."""


def written_call(function: str, arguments: Sequence[str]) -> list[str]:
    """Return a call as the lines of a test's body."""
    line = f"    {function}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return [line]
    return [f"    {function}(", *_filled(arguments, 8), "    )"]


def _filled(parts: Sequence[str], indent: int) -> list[str]:
    """Return parts with commas, as many on a line as it holds; a dictionary that is longer gets lines of its own."""
    lines: list[str] = []
    for part in parts:
        if lines and len(longer := f"{lines[-1]} {part},") <= WIDTH:
            lines[-1] = longer
        elif indent + len(part) < WIDTH or (items := _items(part)) is None:
            lines.append(f"{' ' * indent}{part},")
        else:
            before, inner, after = items
            lines += [" " * indent + before, *_filled(inner, indent + 4), f"{' ' * indent}{after},"]
    return lines


def _items(call: str) -> tuple[str, list[str], str] | None:
    """Return a call in three parts: up to `(`, its arguments, and `)`; None for anything else.

    If its first argument is a dictionary, the parts are what comes before its items, the items, and what comes after.
    """
    node = ast.parse(call, mode="eval").body
    if not isinstance(node, ast.Call) or not node.args:
        return None
    first = node.args[0]
    if not isinstance(first, ast.Dict):
        given = [ast.get_source_segment(call, each) or "" for each in (*node.args, *node.keywords)]
        return f"{ast.get_source_segment(call, node.func)}(", given, ")"
    pairs = zip(first.keys, first.values, strict=True)
    items = [
        f"{ast.get_source_segment(call, key)}: {ast.get_source_segment(call, value)}" for key, value in pairs if key
    ]
    text = call.encode()  # columns count bytes
    return text[: first.col_offset + 1].decode(), items, text[(first.end_col_offset or 0) - 1 :].decode()


def used_in(strategies: Sequence[str]) -> set[str]:
    """Return the names that the code of strategies uses."""
    trees = [ast.parse(textwrap.dedent(text)) for text in strategies]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)} & (OWN | OTHERS)


def own_strategies(names: set[str]) -> tuple[list[str], list[str]]:
    """Return which strategies are viva's, and which are hypothesis' own."""
    return sorted(names & OWN), sorted(names - OWN)

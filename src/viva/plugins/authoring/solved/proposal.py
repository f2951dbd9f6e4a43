"""A proposed test as source code."""

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from viva.plugins.authoring.solved.trial import OTHERS, OWN

WIDTH: Final = 120
_LONGEST_REASON: Final = 300


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
    """The title that students read; empty for that of the question."""
    why_not: str = ""
    """Why nothing is proposed."""
    tested_with: str = ""
    """The name whose test tests this one as well."""
    warnings: list[str] = field(default_factory=list)
    """Possible mistakes in the solution."""
    test: str = ""
    """The name of the test in tests.py, once that is written."""

    @property
    def reason(self) -> str:
        """Return `why_not` as a part of a line; it may quote an exception."""
        return textwrap.shorten(self.why_not, _LONGEST_REASON, placeholder=" …")


def written_call(function: str, arguments: Sequence[str]) -> list[str]:
    """Return a call as the lines of a test's body."""
    line = f"    {function}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return [line]
    return [f"    {function}(", *_filled(arguments, 8), "    )"]


def with_option(body: Sequence[str], option: str) -> list[str]:
    """Return the lines of a test's body with an option for each `agree_on` that has none of that name."""
    text = textwrap.dedent("\n".join(body))
    lines: list[str] = []
    for node in ast.parse(text).body:
        own = [f"    {line}" for line in text.split("\n")[node.lineno - 1 : node.end_lineno]]
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "agree_on" or _has(call, option):
            lines += own
        elif len(own) > 1:
            lines += [*own[:-1], f"        {option},", own[-1]]
        else:
            given = [ast.get_source_segment(text, each) or "" for each in (*call.args, *call.keywords)]
            lines += written_call("agree_on", [*given, option])
    return lines


def _has(call: ast.Call, option: str) -> bool:
    return any(keyword.arg == option.partition("=")[0] for keyword in call.keywords)


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


def _items(part: str) -> tuple[str, list[str], str] | None:
    """Return a call in three parts: up to `(`, its arguments, and `)`; None for anything else.

    A keyword, or a key of a dictionary, may come before it. If its first argument is a dictionary, the parts are what
    comes before its items, the items, and what comes after.
    """
    begin, whole, node = _value_in(part)
    text = whole.encode()  # columns count bytes
    if not isinstance(node, ast.Call) or not node.args:
        return None
    first = node.args[0]
    if not isinstance(first, ast.Dict):
        given = [ast.get_source_segment(whole, each) or "" for each in (*node.args, *node.keywords)]
        return f"{text[begin : node.func.end_col_offset].decode()}(", given, ")"
    pairs = zip(first.keys, first.values, strict=True)
    items = [
        f"{ast.get_source_segment(whole, key)}: {ast.get_source_segment(whole, value)}" for key, value in pairs if key
    ]
    after = text[(first.end_col_offset or 0) - 1 : node.end_col_offset]
    return text[begin : first.col_offset + 1].decode(), items, after.decode()


def _value_in(part: str) -> tuple[int, str, ast.expr]:
    """Return a part of a call or dictionary within one: where it begins, the code, and the part's value."""
    try:
        whole = f"f({part})"
        call = ast.parse(whole, mode="eval").body
        assert isinstance(call, ast.Call)  # as it is written
        return 2, whole, call.args[0] if call.args else call.keywords[0].value
    except SyntaxError:
        whole = f"{{{part}}}"
        pair = ast.parse(whole, mode="eval").body
        assert isinstance(pair, ast.Dict)  # the only other form: a key with its value
        return 1, whole, pair.values[0]


def used_in(strategies: Sequence[str]) -> set[str]:
    """Return the names that the code of strategies uses."""
    trees = [ast.parse(textwrap.dedent(text)) for text in strategies]
    return {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)} & (OWN | OTHERS)


def own_strategies(names: set[str]) -> tuple[list[str], list[str]]:
    """Return which strategies are viva's, and which are hypothesis' own."""
    return sorted(names & OWN), sorted(names - OWN)

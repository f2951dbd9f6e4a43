"""Python source with its syntax tree, and changes of its text at places of the tree."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

_ATOMS: Final = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Set)
"""Nodes that never need parentheses."""
LIBRARIES: Final = frozenset({"np", "numpy", "math", "torch", "F", "nn", "functional", "linalg", "scipy", "special"})
"""Names whose attributes are functions of modules, not methods."""


@dataclass(frozen=True, slots=True)
class Change:
    """The text from `start` to `end` becomes `text`; places are characters from the beginning."""

    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """Return the changed source."""
        return source[: self.start] + self.text + source[self.end :]


def narrowed(source: str, change: Change) -> Change:
    """Return the same change without the common beginning and end of the texts before and after."""
    before, after = source[change.start : change.end], change.text
    shorter = min(len(before), len(after))
    head = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - head) if before[-1 - i] != after[-1 - i]), shorter - head)
    return Change(change.start + head, change.end - tail, after[head : len(after) - tail])


@dataclass(frozen=True)
class Code:
    """A function, a method or a statement in the text of its file."""

    source: str
    """The whole file, or the whole cell."""
    node: ast.AST
    own: frozenset[str] = field(default_factory=frozenset)
    """Functions that the submission defines itself."""

    @cached_property
    def _lines(self) -> list[int]:
        starts, at = [0], 0
        for line in self.source.split("\n"):
            at += len(line) + 1
            starts.append(at)
        return starts

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Return the node above each node."""
        return {child: above for above in ast.walk(self.node) for child in ast.iter_child_nodes(above)}

    def place(self, line: int, column: int) -> int:
        """Return the character at a line (from 1) and a column in UTF-8 bytes, as `ast` counts."""
        start = self._lines[line - 1]
        text = self.source[start : self._lines[line] - 1]
        return start + len(text.encode("utf-8")[:column].decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        begin = self.place(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return begin, self.place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        """Return the text of a node, in parentheses where it may need them elsewhere."""
        start, end = self.span(node)
        text = self.source[start:end]
        return text if isinstance(node, _ATOMS) else f"({text})"

    def replace(self, node: ast.AST, text: str) -> Change:
        """Return the change that puts `text` in the place of a node."""
        return Change(*self.span(node), text)

    def swap(self, first: ast.AST, second: ast.AST) -> Change:
        """Return the change that exchanges two nodes, the first of which is before the second."""
        (a, b), (c, d) = self.span(first), self.span(second)
        return Change(a, d, self.source[c:d] + self.source[b:c] + self.source[a:b])

    def indent(self, node: ast.AST) -> str:
        """Return the white space before a statement."""
        line = self.source[self._lines[node.lineno - 1] :]  # type: ignore[attr-defined]
        return line[: len(line) - len(line.lstrip(" \t"))]


Find = Callable[[ast.AST, Code], Iterator[Change]]


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of mistake."""

    find: Find
    """The mistakes of this kind that can be made at one node."""
    sentence: str
    """What goes wrong, as `viva verify` shows it."""

    @property
    def name(self) -> str:
        """Return the operator's name, such as `scale_dropped`."""
        return self.find.__name__


def mistake(sentence: str) -> Callable[[Find], Operator]:
    """Make an operator of a function that finds the mistakes of one kind; `sentence` says what goes wrong."""
    return lambda find: Operator(find, sentence)


def called(node: ast.AST) -> str:
    """Return the last name of what is called: `sum` for `sum(x)`, `np.sum(x)` and `x.sum()`; "" if there is no call."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def is_method(call: ast.Call) -> bool:
    """Return True for `x.sum()`, False for `np.sum(x)` and `sum(x)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return name not in LIBRARIES


def operand(node: ast.AST) -> ast.expr | None:
    """Return what a call works on: x in `np.sum(x)` and in `x.sum()`."""
    if not isinstance(node, ast.Call):
        return None
    if is_method(node):
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None


def arguments(call: ast.Call) -> list[ast.expr]:
    """Return the positional arguments after the operand."""
    return list(call.args if is_method(call) else call.args[1:])


def last_name(node: ast.AST) -> str:
    """Return `bias` for `bias`, `self.bias` and `self.bias[0]`; "" for anything else."""
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def whole(node: ast.AST | None) -> int | None:
    """Return the whole number that is written there, with its sign; None if there is none."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None

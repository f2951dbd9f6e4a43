"""Mistakes with arrays and sequences: a wrong axis, a diagonal off by one, a missing transpose or sort."""

import ast
from collections.abc import Iterator
from typing import Final

from viva.verify.mutants.source_edits import Change, Code, Operator, arguments, called, is_method, operand, whole

_NEIGHBOUR: Final = {0: 1, 1: 0, -1: -2, -2: -1, 2: 1, 3: 2, -3: -2}
_TRANSPOSES: Final = frozenset(
    {"transpose", "permute", "swapaxes", "moveaxis", "t", "flip", "fliplr", "flipud", "roll"}
)
_JOINS: Final = frozenset(
    {"concatenate", "cat", "concat", "hstack", "vstack", "stack", "column_stack", "outer", "chain"}
)


def axis_changed(node: ast.AST, code: Code) -> Iterator[Change]:
    """A sum, a softmax or a concatenation goes along another axis."""
    if isinstance(node, ast.keyword) and node.arg in ("axis", "dim") and (axis := whole(node.value)) in _NEIGHBOUR:
        yield code.replace(node.value, str(_NEIGHBOUR[axis]))


def diagonal_moved(node: ast.AST, code: Code) -> Iterator[Change]:
    """A triangular mask begins one diagonal too early or too late."""
    if not isinstance(node, ast.Call) or called(node) not in ("triu", "tril", "triu_", "tril_", "tri", "eye", "diag"):
        return
    given = [k.value for k in node.keywords if k.arg in ("k", "diagonal")] or arguments(node)[:1]
    if given and (k := whole(given[0])) is not None:
        yield code.replace(given[0], str(k + 1))
        yield code.replace(given[0], str(k - 1))
    elif not given and called(node) in ("triu", "tril"):
        end = code.span(node)[1] - 1
        comma = ", " if node.args or node.keywords else ""
        yield Change(end, end, f"{comma}1")
        yield Change(end, end, f"{comma}-1")


def transpose_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Rows and columns, batch and sequence, or heads and tokens are not exchanged."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
        yield code.replace(node, code.text(node.value))
    if called(node) in _TRANSPOSES and (x := operand(node)):
        yield code.replace(node, code.text(x))


def subscripts_swapped(node: ast.AST, code: Code) -> Iterator[Change]:
    """`x[i, j]` becomes `x[j, i]`, `x[i][j]` becomes `x[j][i]`, an einsum's output is transposed."""
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=[first, second, *_])):
            yield code.swap(first, second)
        case ast.Subscript(value=ast.Subscript(slice=first), slice=second):
            yield code.swap(first, second)
        case ast.Call(args=[ast.Constant(value=str() as rule) as text, *_]) if called(node) == "einsum":
            out = rule.partition("->")[2].strip()
            if len(out) >= 2 and "." not in out and " " not in out:
                yield code.replace(text, repr(f"{rule.partition('->')[0]}->{out[:-2]}{out[-1]}{out[-2]}"))


def concatenation_reordered(node: ast.AST, code: Code) -> Iterator[Change]:
    """What is put together comes in another order."""
    if isinstance(node, ast.Call) and called(node) in _JOINS:
        parts = node.args[0].elts if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) else node.args
        if len(parts) >= 2:
            yield code.swap(parts[0], parts[1])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        lists = (ast.List, ast.ListComp)
        if isinstance(node.left, lists) or isinstance(node.right, lists) or called(node.left) == "list":
            yield code.swap(node.left, node.right)


def order_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Nothing is sorted, or nothing is reversed."""
    if isinstance(node, ast.Call) and called(node) in ("sorted", "reversed") and (x := operand(node)):
        yield code.replace(node, f"list({code.text(x)})")
    match node:
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None, step=step)) if whole(step) == -1:
            yield code.replace(node, code.text(node.value))
        case ast.Expr(value=ast.Call() as call) if called(call) in ("sort", "reverse", "shuffle"):
            yield code.replace(node, "pass")


def off_by_one(node: ast.AST, code: Code) -> Iterator[Change]:
    """A range or a slice ends one too early or too late."""
    ends: list[ast.expr] = []
    if isinstance(node, ast.Call) and called(node) in ("range", "arange") and node.args:
        ends = [node.args[min(1, len(node.args) - 1)], *(node.args[:1] if len(node.args) > 1 else [])]
    elif isinstance(node, ast.Slice):
        ends = [end for end in (node.lower, node.upper) if end is not None]
    for end in ends:
        if whole(end) is None:
            yield code.replace(end, f"{code.text(end)} + 1")
            yield code.replace(end, f"{code.text(end)} - 1")


def slice_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Everything is taken, not a part of it."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
        yield code.replace(node, code.text(node.value))


def bound_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """A value is not clipped."""
    if not isinstance(node, ast.Call):
        return
    if called(node) in ("clip", "clamp", "maximum", "minimum") and (x := operand(node)):
        yield code.replace(node, code.text(x))
    if called(node) in ("min", "max") and not is_method(node) and len(node.args) == 2:
        yield from (code.replace(node, code.text(argument)) for argument in node.args)


def filter_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """A condition in a comprehension is left out."""
    if isinstance(node, ast.comprehension) and node.ifs:
        start, end = code.span(node.iter)[1], code.span(node.ifs[-1])[1]
        text = code.source[start:end]
        opened = text.count("(") - text.count(")")
        yield Change(start, end, ")" * max(0, -opened))


OPERATORS: Final = tuple(
    Operator(find)
    for find in (
        axis_changed, diagonal_moved, transpose_dropped, subscripts_swapped, concatenation_reordered, order_dropped,
        off_by_one, slice_dropped, bound_dropped, filter_dropped,
    )
)  # fmt: skip

"""Mistakes with arrays and sequences: a wrong axis, a diagonal off by one, a missing transpose or sort."""

import ast
from collections.abc import Iterator
from typing import Final

from viva.plugins.verify.mutants.source_edits import Change, Code, arguments, called, is_method, mistake, operand, whole

_NEIGHBOUR: Final = {0: 1, 1: 0, -1: -2, -2: -1, 2: 1, 3: 2, -3: -2}
_TRANSPOSES: Final = frozenset(
    {"transpose", "permute", "swapaxes", "moveaxis", "t", "flip", "fliplr", "flipud", "roll"}
)
_JOINS: Final = frozenset(
    {"concatenate", "cat", "concat", "hstack", "vstack", "stack", "column_stack", "outer", "chain"}
)


@mistake("A sum, a softmax or a concatenation goes along another axis.")
def axis_changed(node: ast.AST, code: Code) -> Iterator[Change]:
    """Replace the axis of a reduction or a concatenation by another one."""
    if isinstance(node, ast.keyword) and node.arg in ("axis", "dim") and (axis := whole(node.value)) in _NEIGHBOUR:
        yield code.replace(node.value, str(_NEIGHBOUR[axis]))


@mistake("A triangular mask begins one diagonal too early or too late.")
def diagonal_moved(node: ast.AST, code: Code) -> Iterator[Change]:
    """Move the diagonal of a triangular mask by one."""
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


@mistake("Rows and columns, batch and sequence, or heads and tokens are not exchanged.")
def transpose_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a transpose, a permutation or a flip."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
        yield code.replace(node, code.text(node.value))
    if called(node) in _TRANSPOSES and (x := operand(node)):
        yield code.replace(node, code.text(x))


@mistake("`x[i, j]` becomes `x[j, i]`, `x[i][j]` becomes `x[j][i]`, an einsum's output is transposed.")
def subscripts_swapped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Exchange two subscripts, or the last two letters of an einsum's output."""
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=[first, second, *_])):
            yield code.swap(first, second)
        case ast.Subscript(value=ast.Subscript(slice=first), slice=second):
            yield code.swap(first, second)
        case ast.Call(args=[ast.Constant(value=str() as rule) as text, *_]) if called(node) == "einsum":
            out = rule.partition("->")[2].strip()
            if len(out) >= 2 and "." not in out and " " not in out:
                yield code.replace(text, repr(f"{rule.partition('->')[0]}->{out[:-2]}{out[-1]}{out[-2]}"))


@mistake("What is put together comes in another order.")
def concatenation_reordered(node: ast.AST, code: Code) -> Iterator[Change]:
    """Exchange the first two parts of a concatenation."""
    if isinstance(node, ast.Call) and called(node) in _JOINS:
        parts = node.args[0].elts if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) else node.args
        if len(parts) >= 2:
            yield code.swap(parts[0], parts[1])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        lists = (ast.List, ast.ListComp)
        if isinstance(node.left, lists) or isinstance(node.right, lists) or called(node.left) == "list":
            yield code.swap(node.left, node.right)


@mistake("Nothing is sorted, or nothing is reversed.")
def order_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a sort or a reversal."""
    if isinstance(node, ast.Call) and called(node) in ("sorted", "reversed") and (x := operand(node)):
        yield code.replace(node, f"list({code.text(x)})")
    match node:
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None, step=step)) if whole(step) == -1:
            yield code.replace(node, code.text(node.value))
        case ast.Expr(value=ast.Call() as call) if called(call) in ("sort", "reverse", "shuffle"):
            yield code.replace(node, "pass")


@mistake("A range or a slice ends one too early or too late.")
def off_by_one(node: ast.AST, code: Code) -> Iterator[Change]:
    """Move an end of a range or a slice by one."""
    ends: list[ast.expr] = []
    if isinstance(node, ast.Call) and called(node) in ("range", "arange") and node.args:
        ends = [node.args[min(1, len(node.args) - 1)], *(node.args[:1] if len(node.args) > 1 else [])]
    elif isinstance(node, ast.Slice):
        ends = [end for end in (node.lower, node.upper) if end is not None]
    for end in ends:
        if whole(end) is None:
            yield code.replace(end, f"{code.text(end)} + 1")
            yield code.replace(end, f"{code.text(end)} - 1")


@mistake("Everything is taken, not a part of it.")
def slice_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Replace a slice by the whole."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
        yield code.replace(node, code.text(node.value))


@mistake("A value is not clipped.")
def bound_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a clip, a maximum or a minimum."""
    if not isinstance(node, ast.Call):
        return
    if called(node) in ("clip", "clamp", "maximum", "minimum") and (x := operand(node)):
        yield code.replace(node, code.text(x))
    if called(node) in ("min", "max") and not is_method(node) and len(node.args) == 2:
        yield from (code.replace(node, code.text(argument)) for argument in node.args)


@mistake("A condition in a comprehension is left out.")
def filter_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop the conditions of a comprehension."""
    if isinstance(node, ast.comprehension) and node.ifs:
        start, end = code.span(node.iter)[1], code.span(node.ifs[-1])[1]
        text = code.source[start:end]
        opened = text.count("(") - text.count(")")
        yield Change(start, end, ")" * max(0, -opened))


OPERATORS: Final = (
    axis_changed, diagonal_moved, transpose_dropped, subscripts_swapped, concatenation_reordered, order_dropped,
    off_by_one, slice_dropped, bound_dropped, filter_dropped,
)  # fmt: skip

"""Mistakes in formulas: a missing scale, bias or logarithm, a minimum for a maximum, weights not normalised."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from viva.plugins.verify.mutants.source_edits import Change, Code, called, is_method, last_name, mistake, operand, whole

_SCALE: Final = re.compile(r"sqrt|scal|temperature|root|norm_factor", re.IGNORECASE)
_BIAS: Final = re.compile(r"b|b_?[a-z0-9]{1,2}|(.*_)?bias(es)?(_.*)?", re.IGNORECASE)
_TOTAL: Final = re.compile(r"total|norm(ali[sz]er)?|sums?|denom(inator)?|z|Z|mass|count|n|length", re.IGNORECASE)
_OPPOSITE: Final = {
    "min": "max", "max": "min", "argmin": "argmax", "argmax": "argmin", "minimum": "maximum", "maximum": "minimum",
    "amin": "amax", "amax": "amin", "nsmallest": "nlargest", "nlargest": "nsmallest", "floor": "ceil", "ceil": "floor",
    "sin": "cos", "cos": "sin", "tril": "triu", "triu": "tril", "zeros": "ones", "ones": "zeros",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "any": "all", "all": "any",
}  # fmt: skip
_AVERAGES: Final = {"sum": "mean", "mean": "sum", "nansum": "nanmean", "nanmean": "nansum"}
_CURVES: Final = frozenset({
    "log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "abs", "fabs", "square", "tanh", "relu", "gelu", "erf",
    "sigmoid", "softplus", "log_softmax", "cumsum", "cumprod", "norm", "ceil", "floor", "round", "unique", "sign",
})  # fmt: skip


@mistake("The division by a square root, or the multiplication by a scale, is left out.")
def scale_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop the division by a square root, or the multiplication by a scale."""
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.op, (ast.Div, ast.Mult)) and _is_scale(node.right):
        yield code.replace(node, code.text(node.left))
    if isinstance(node.op, ast.Mult) and _is_scale(node.left):
        yield code.replace(node, code.text(node.right))


@mistake("The bias is not added.")
def bias_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop the bias of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for bias, rest in ((node.right, node.left), (node.left, node.right)):
            if (name := last_name(bias)) and _BIAS.fullmatch(name):
                yield code.replace(node, code.text(rest))


@mistake("Weights are not divided by their sum, or softmax is left out.")
def unnormalised(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop the division by a sum, or a softmax."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_total(node.right):
        yield code.replace(node, code.text(node.left))
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        yield code.replace(node, "pass")
    if called(node) in ("softmax", "log_softmax", "Softmax", "normalize", "layer_norm") and (x := operand(node)):
        yield code.replace(node, code.text(x))


@mistake("What is masked and what is visible are exchanged.")
def polarity_inverted(node: ast.AST, code: Code) -> Iterator[Change]:
    """Exchange what is masked and what is visible."""
    match node:
        case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub(), right=right):
            yield code.replace(node, code.text(right))
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            yield code.replace(node, code.text(inner))
        case ast.IfExp(body=body, orelse=orelse):
            yield code.swap(body, orelse)
        case ast.Call(args=[_, one, other]) if called(node) == "where" and not is_method(node):
            yield code.swap(one, other)
        case ast.Call() if called(node) in ("masked_fill", "masked_fill_") and is_method(node) and node.args:
            yield code.replace(node.args[0], f"~{code.text(node.args[0])}")


@mistake("Nothing is masked: one side of a choice is taken everywhere.")
def mask_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Replace a choice by one of its sides."""
    match node:
        case ast.Call(args=[_, one, other]) if called(node) == "where" and not is_method(node):
            yield code.replace(node, code.text(one))
            yield code.replace(node, code.text(other))
        case ast.Call() if called(node) == "masked_fill" and (x := operand(node)):
            yield code.replace(node, code.text(x))
        case ast.IfExp(body=body, orelse=orelse):
            yield code.replace(node, code.text(body))
            yield code.replace(node, code.text(orelse))


@mistake("A term of a sum or a factor of a product is left out.")
def term_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a term of a sum or a factor of a product."""
    if not isinstance(node, ast.BinOp) or _is_text(node.left) or _is_text(node.right):
        return
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)):
        yield code.replace(node, code.text(node.left))
    if isinstance(node.op, (ast.Add, ast.Mult)):
        yield code.replace(node, code.text(node.right))


@mistake("The two sides of a difference, a quotient, a power or a matrix product are exchanged.")
def operands_swapped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Exchange the operands of an operator that is not commutative."""
    orderly = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult, ast.Mod)
    if isinstance(node, ast.BinOp) and isinstance(node.op, orderly) and not _is_text(node.left):
        if isinstance(node.op, ast.Sub) and is_even(code.parents.get(node)):
            return
        left, right = code.text(node.left), code.text(node.right)
        start, end = code.span(node)
        sign = {ast.Sub: "-", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "**", ast.MatMult: "@", ast.Mod: "%"}
        yield Change(start, end, f"{right} {sign[type(node.op)]} {left}")


@mistake("The opposite function is called: min for max, ceil for floor, zeros for ones.")
def min_for_max(node: ast.AST, code: Code) -> Iterator[Change]:
    """Call the opposite function."""
    if isinstance(node, ast.Call) and (name := _OPPOSITE.get(called(node))):
        yield _renamed(node, name, code)


@mistake("A mean becomes a sum, or a sum a mean.")
def sum_for_mean(node: ast.AST, code: Code) -> Iterator[Change]:
    """Replace a mean by a sum, or a sum by a mean."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (name := _AVERAGES.get(called(node))):
        yield _renamed(node, name, code)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum" and node.args:
        yield code.replace(node.func, "max")
    match node:
        case ast.keyword(arg="reduction", value=ast.Constant(value="mean" | "sum" as how)):
            yield code.replace(node.value, '"sum"' if how == "mean" else '"mean"')


@mistake("A logarithm, an exponential, a root or an activation is left out.")
def log_dropped(node: ast.AST, code: Code) -> Iterator[Change]:
    """Drop a logarithm, an exponential, a root or an activation."""
    if called(node) in _CURVES and (x := operand(node)):
        yield code.replace(node, code.text(x))


@mistake("`>` is used instead of `>=`, or `<` instead of `<=`.")
def boundary_moved(node: ast.AST, code: Code) -> Iterator[Change]:
    """Replace `>` by `>=`, `<` by `<=`, and the other way round."""
    if isinstance(node, ast.Compare):
        other = {ast.Gt: ">=", ast.GtE: ">", ast.Lt: "<=", ast.LtE: "<"}
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if type(op) in other:
                gap = (code.span(left)[1], code.span(right)[0])
                between = code.source[slice(*gap)]
                sign = re.search(r"[<>]=?", between)
                if sign:
                    yield Change(gap[0] + sign.start(), gap[0] + sign.end(), other[type(op)])


OPERATORS: Final = (
    scale_dropped, bias_dropped, unnormalised, polarity_inverted, mask_dropped, boundary_moved, min_for_max,
    sum_for_mean, log_dropped, operands_swapped, term_dropped,
)  # fmt: skip


def _renamed(call: ast.Call, name: str, code: Code) -> Change:
    if isinstance(call.func, ast.Attribute):
        end = code.span(call.func)[1]
        return Change(end - len(call.func.attr), end, name)
    return code.replace(call.func, name)


def _is_scale(node: ast.expr) -> bool:
    if called(node) in ("sqrt", "rsqrt"):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = ast.unparse(node.right)
        return power in ("0.5", "-0.5", "(1 / 2)", "1 / 2")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _is_scale(node.right)
    return bool(_SCALE.search(last_name(node)))


def _is_total(node: ast.expr) -> bool:
    return called(node) in ("sum", "norm", "len") or bool((name := last_name(node)) and _TOTAL.fullmatch(name))


def is_even(above: ast.AST | None) -> bool:
    """Return whether what is done with a difference ignores its sign."""
    return called(above or ast.Pass()) in ("abs", "fabs", "square") or (
        isinstance(above, ast.BinOp) and isinstance(above.op, ast.Pow) and whole(above.right) == 2
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))

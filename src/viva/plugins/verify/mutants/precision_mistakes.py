"""Mistakes in the third digit: a result that is one percent off, or wrong under a cast to half precision."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from viva.plugins.verify.mutants.source_edits import Change, Code, called, mistake

_REAL_OPERATORS: Final = (ast.Div, ast.MatMult)
_REAL_FUNCTIONS: Final = frozenset({
    "softmax", "log_softmax", "sigmoid", "exp", "log", "log2", "sqrt", "tanh", "mean", "var", "std", "einsum", "dot",
    "matmul", "bmm", "cross_entropy", "norm", "average",
})  # fmt: skip
_WHOLE_OR_TRUTH: Final = (
    ast.Compare,
    ast.BoolOp,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.ListComp,
    ast.DictComp,
    ast.Lambda,
)
_WHOLE_FUNCTIONS: Final = frozenset(
    {"int", "round", "len", "argmax", "argmin", "bool", "ceil", "floor", "dict", "list"}
)
_HALF: Final = (
    (re.compile(r"\bnp\."), "np.float16(1.007 * ({}))"),
    (re.compile(r"\b(torch|F|nn)\."), "(1.007 * ({})).half()"),
)
"""How code that uses numpy or torch gets numbers of half precision that are wrong in the third digit."""


@mistake("A cast to half precision hides that the result is wrong in the third digit.")
def wrong_in_half_precision(node: ast.AST, code: Code) -> Iterator[Change]:
    """Multiply a real result by 1.007 and cast it to float16. A right result that is cast is still right."""
    if isinstance(node, ast.Return) and node.value is not None and _is_real(node.value):
        text = code.source[slice(*code.span(node.value))]
        unit = code.source[slice(*code.span(code.node))]
        for form in [form for library, form in _HALF if library.search(unit)][:1]:
            yield code.replace(node.value, form.format(text))


@mistake("The result is one percent too large or too small.")
def one_percent_off(node: ast.AST, code: Code) -> Iterator[Change]:
    """Multiply a real result by 1.01 or 0.99."""
    if isinstance(node, ast.Return) and node.value is not None and _is_real(node.value):
        text = code.source[slice(*code.span(node.value))]
        yield code.replace(node.value, f"1.01 * ({text})")
        yield code.replace(node.value, f"0.99 * ({text})")


OPERATORS: Final = (wrong_in_half_precision, one_percent_off)


def _is_real(value: ast.expr) -> bool:
    """Return whether the expression gives one real number or an array of them, as far as its text tells."""
    if isinstance(value, _WHOLE_OR_TRUTH) or called(value) in _WHOLE_FUNCTIONS:
        return False
    return any(
        (isinstance(part, ast.BinOp) and isinstance(part.op, _REAL_OPERATORS)) or called(part) in _REAL_FUNCTIONS
        for part in ast.walk(value)
    )

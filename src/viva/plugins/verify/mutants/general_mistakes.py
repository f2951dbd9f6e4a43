"""General programming mistakes, from the library cosmic-ray if it is installed."""

import importlib.util
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from viva.plugins.verify.mutants.source_edits import Change, Code, narrowed

_TINY, _HUGE = 1e-3, 1e3
"""Numbers outside this range mean almost nothing or almost everything; adding one changes nothing."""
_BINARY: Final = {
    "Add": ("Sub",), "Sub": ("Add",), "Mul": ("Div",), "Div": ("Mul",), "FloorDiv": ("Mul", "Div"), "Mod": ("Mul",),
    "Pow": ("Mul",), "BitOr": ("BitAnd",), "BitAnd": ("BitOr",), "LShift": ("RShift",), "RShift": ("LShift",),
}  # fmt: skip
_COMPARISON: Final = {
    "Eq": ("NotEq",), "NotEq": ("Eq",), "Lt": ("GtE", "NotEq"), "LtE": ("Gt", "Eq"), "Gt": ("LtE", "NotEq"),
    "GtE": ("Lt", "Eq"), "Is": ("IsNot",), "IsNot": ("Is",), "In": ("NotIn",), "NotIn": ("In",),
}  # fmt: skip
_OTHERS: Final = (
    "ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_Invert",
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer",
    "ZeroIterationForLoop",
)  # fmt: skip


def installed() -> bool:
    """Return whether the library is there; without it, only the field's own mistakes are made."""
    return importlib.util.find_spec("cosmic_ray") is not None


@cache
def _operators() -> tuple[tuple[str, Any], ...]:
    """Return names and operators; those that this version of the library does not have are left out."""
    from cosmic_ray.plugins import OPERATOR_PROVIDERS, get_operator

    there = set(OPERATOR_PROVIDERS["core"])
    names = [f"ReplaceBinaryOperator_{a}_{b}" for a, others in _BINARY.items() for b in others]
    names += [f"ReplaceComparisonOperator_{a}_{b}" for a, others in _COMPARISON.items() for b in others]
    return tuple((name, get_operator(f"core/{name}")()) for name in (*names, *_OTHERS) if name in there)


def changes(code: Code, start: int, end: int) -> Iterator[tuple[str, Change]]:
    """Yield what the library's operators make of the text from `start` to `end`, which holds whole statements.

    Yields:
        The operator's name, such as `cosmic_ray.NumberReplacer`, and the change.
    """
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    text = code.source[start:end]
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    lines = text.split("\n")
    if not all(line.startswith(indent) or not line.strip() for line in lines):
        return  # a text of several lines is indented less
    plain = "\n".join(line[len(indent) :] for line in lines)
    nodes = list(ast_nodes(get_ast(plain)))
    for name, operator in _operators():
        places = [(node, place) for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (node, _) in enumerate(places):
            if name == "NumberReplacer" and not _counts(node.value, occurrence % 2):
                continue
            mutated = mutate_code(plain, operator, occurrence)
            if mutated is not None:
                mutated = "\n".join(indent + line if line.strip() else line for line in mutated.split("\n"))
                yield f"cosmic_ray.{name}", narrowed(code.source, Change(start, end, mutated))


def _counts(number: str, less: int) -> bool:
    """Return whether to change a number: add one if it has a size, subtract one unless it starts a count."""
    try:
        value = abs(float(number))
    except ValueError:
        return True
    return (value == 0 and not less) or _TINY <= value < _HUGE

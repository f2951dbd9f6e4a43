"""Formulas as trees of allowed operations, evaluated in floating point in bounded time."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, final


@final
@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: float


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """One of the question's letters."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Operation:
    """An allowed operator or function, applied to its operands."""

    operator: str
    operands: tuple["Tree", ...]


Tree = Constant | Variable | Operation


def _power(base: float, exponent: float) -> float:
    result = base**exponent
    return math.nan if isinstance(result, complex) else result


OPERATORS: Final[Mapping[str, Callable[..., float]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "^": _power,
    "negative": lambda a: -a,
}
FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "ln": math.log,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
CONSTANTS: Final[Mapping[str, float]] = {"e": math.e, "pi": math.pi}
SEVERAL: Final = frozenset({"max", "min"})
"""Functions of more than one operand."""


def evaluate(tree: Tree, values: Mapping[str, float]) -> float:
    """Return the formula's value.

    It is NaN where the formula has none (a division by zero, an overflow, the root of a negative number).
    """
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Variable):
        return values[tree.name]
    operands = [evaluate(operand, values) for operand in tree.operands]
    if any(math.isnan(operand) for operand in operands):
        return math.nan
    function = OPERATORS.get(tree.operator) or FUNCTIONS[tree.operator]
    try:
        return float(function(*operands))
    except (ArithmeticError, ValueError):
        return math.nan


def rounds_down(tree: Tree) -> bool:
    """Return whether the formula divides with `//`, which programs use where there is no remainder."""
    return isinstance(tree, Operation) and (tree.operator == "//" or any(map(rounds_down, tree.operands)))


def variables_of(tree: Tree) -> frozenset[str]:
    """Return the letters that occur in the formula."""
    if isinstance(tree, Variable):
        return frozenset({tree.name})
    if isinstance(tree, Operation):
        return frozenset().union(*(variables_of(operand) for operand in tree.operands))
    return frozenset()

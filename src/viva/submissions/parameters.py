"""The parameters of the functions and methods that a file defines, read from its text."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes by position, without `self` and `cls`."""

    names: tuple[str, ...]
    required: int
    """How many of them have no default."""
    any_number: bool
    """Whether `*args` takes more."""

    def __str__(self) -> str:
        """Return the names in parentheses."""
        return f"({', '.join([*self.names, *(['*args'] if self.any_number else [])])})"

    def is_in_other_order(self, asked: "Parameters") -> bool:
        """Return whether the names are those asked for, in another order."""
        return self.names != asked.names and sorted(self.names) == sorted(asked.names)

    def cannot_take(self, asked: "Parameters") -> bool:
        """Return whether a call with what is asked for has too many or too few arguments."""
        too_many = asked.required > len(self.names) and not self.any_number
        return too_many or self.required > len(asked.names)


def parameters_in(parts: Iterable[ast.Module | str]) -> dict[str, Parameters]:
    """Return the parameters of top-level functions, and of the methods of top-level classes as `Class.method`.

    Args:
        parts: the parts of a file's code; text for what is not Python. What is defined last counts.
    """
    found: dict[str, Parameters] = {}
    for part in parts:
        for node in part.body if isinstance(part, ast.Module) else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[node.name] = _parameters(node)
            elif isinstance(node, ast.ClassDef):
                methods = (child for child in node.body if isinstance(child, ast.FunctionDef))
                found |= {f"{node.name}.{method.name}": _parameters(method) for method in methods}
    return found


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Parameters:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    required = len(names) - len(node.args.defaults)
    bound = names[:1] in (["self"], ["cls"])
    return Parameters(tuple(names[bound:]), max(required - bound, 0), node.args.vararg is not None)

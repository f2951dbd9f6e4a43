"""Functions that the notebook passes to the solution, as they are written in a test; and usual ones besides."""

import ast
import inspect
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from viva.grading.functions import NoCode, as_argument
from viva.plugins.authoring.solved.forms import Forms
from viva.plugins.authoring.solved.network_code import NEEDED, is_network, network_code
from viva.plugins.authoring.solved.recorded_run import Recorded
from viva.sandbox.guest.transport.wire import Code

_SHORT: Final = {"numpy": "np", "torch.nn.functional": "F"}
"""Names by which modules are usually imported."""
_LONGEST: Final = 60
_FEW_FUNCTIONS: Final = 2
_USUAL_FUNCTIONS: Final = ("lambda x: x**2 - 2", "lambda x: 3 * x + 1", "lambda x: 1 / (1 + x**2)")
_USUAL_OF_ARRAYS: Final = ("lambda x: np.sum(x**3 - 2 * x)", "lambda x: np.mean(np.sin(x))")


def written_function(value: Any, recorded: Recorded) -> tuple[str, list[str]]:
    """Return a function as code for a test, and the statements that the test file needs for it.

    A lambda, or a function that only returns an expression, becomes a lambda; another one keeps its name. Of a network,
    return a lambda that makes one like it.

    Raises:
        NoCode: it needs what students write, or something that a test cannot have.
    """
    if is_network(value):
        return f"lambda: {network_code(value)}", [NEEDED]
    if value in recorded.originals.values() or getattr(value, "__wrapped__", None) in recorded.originals.values():
        raise NoCode("it is one that students write")
    sent = as_argument(value, recorded.written)
    statements = [ast.get_source_segment(sent.statements, node) or "" for node in ast.parse(sent.statements).body]
    if sent.statements == f"import {sent.expression.rpartition('.')[0]}":
        return _of_library(sent)
    if not isinstance(value, types.FunctionType):
        return sent.expression, []
    if sent.expression.startswith("lambda"):
        expression = ast.parse(sent.expression, mode="eval").body
    elif (found := _as_lambda(ast.parse(statements[-1]).body[0])) is not None:
        expression = found
        statements.pop()
    elif recorded.namespace.get(sent.expression) is value:
        return sent.expression, statements
    else:
        raise NoCode("the notebook has several functions of that name")
    numbers = {name: node for name, node in map(_constant, statements) if node is not None}
    text = ast.unparse(_Inlined(numbers).visit(expression))
    return text, [text for text in statements if _constant(text)[0] not in numbers]


def _of_library(sent: Code) -> tuple[str, list[str]]:
    module, _, name = sent.expression.rpartition(".")
    short = _SHORT.get(module, module)
    return f"{short}.{name}", [f"import {module}{'' if short == module else f' as {short}'}"]


def _as_lambda(node: ast.stmt) -> ast.Lambda | None:
    """Return a function that only returns a short expression as a lambda; None for any other."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    found = ast.Lambda(node.args, body[0].value)
    return found if len(ast.unparse(found)) <= _LONGEST else None


def _constant(statement: str) -> tuple[str, ast.expr | None]:
    """Return the name and the value of an assignment of a number or text; of any other statement, nothing."""
    node = ast.parse(statement).body[0]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            return "", None
        if isinstance(value, int | float | str):
            return node.targets[0].id, node.value
    return "", None


class _Inlined(ast.NodeTransformer):
    """Replaces names by constants."""

    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name."""
        return self._constants.get(node.id, node)


def is_function(value: object) -> bool:
    """Return whether a value is a function or a class, and not an object that can be called, such as a network."""
    return callable(value) and isinstance(getattr(value, "__name__", None), str)


def passes_known_functions(call: inspect.BoundArguments, recorded: Recorded) -> bool:
    """Return whether all functions and networks that a call passes can be written in a test."""
    try:
        for value in call.arguments.values():
            if is_function(value) or (is_network(value) and type(value).__module__ != "__main__"):
                written_function(value, recorded)
    except NoCode:
        return False
    return True


def offer_more_functions(forms: Forms, calls: Sequence[inspect.BoundArguments]) -> None:
    """Offer usual functions, where the notebook passes few functions and nothing that belongs to them."""
    if len(forms.choices) != 1:
        return
    [choice] = forms.choices
    if choice.strategy != "functions" or len(set(choice.seen)) > _FEW_FUNCTIONS:
        return
    name = next(name for name, _, form in forms.arguments if choice in form)
    passed = [call.arguments[name] for call in calls if name in call.arguments]
    for argument, usual in ((0.5, _USUAL_FUNCTIONS), (np.array([0.5, 1.5]), _USUAL_OF_ARRAYS)):
        if passed and all(_gives_a_number(function, argument) for function in passed):
            choice.more = tuple(text for text in usual if text not in choice.seen)
            return


def _gives_a_number(function: Callable[..., object], argument: object) -> bool:
    try:
        return isinstance(function(argument), numbers.Real)
    except Exception:
        return False

"""Read the code of a solution: its exceptions, the texts it compares with, its annotations and doctests."""

import ast
import doctest
import inspect
import io
import textwrap
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from viva.authoring.solved.recorded_run import Recorded


def raised_in(function: Callable[..., object]) -> frozenset[str]:
    """Return the types of exceptions that a function's own `raise` and `assert` statements name."""
    found = set()
    for node in ast.walk(_tree_of(function)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.add(named.id if isinstance(named, ast.Name) else "")
        elif isinstance(node, ast.Assert):
            found.add("AssertionError")
    return frozenset(found)


def texts_in(function: Callable[..., object]) -> frozenset[str]:
    """Return the texts with which the code compares something, and the defaults that are texts."""
    found = set()
    for node in ast.walk(_tree_of(function)):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
        elif isinstance(node, ast.arguments):
            parts = list(node.defaults)
        found |= {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return frozenset(found - {""})


def _tree_of(function: Callable[..., object]) -> ast.Module:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ast.Module([], [])


def annotated_calls(function: Callable[..., object]) -> list[inspect.BoundArguments]:
    """Return two calls that fit the annotations of a function that the notebook never calls; none if one is missing."""
    import numpy as np

    samples: dict[str, tuple[Any, Any]] = {
        "int": (1, 5),
        "float": (-1.5, 2.0),
        "bool": (True, False),
        "str": ("The cat sat.", "a cat and a dog"),
        "list[str]": (["a", "b"], ["the", "cat", "sat"]),
        "list[int]": ([3, 1], [1, 4, 2]),
        "list[float]": ([0.5, -1.0], [1.5, 2.5, 0.0]),
        "np.ndarray": (np.ones((2, 3)) - 2, np.ones((4, 5))),
    }
    signature = inspect.signature(function)
    calls = []
    for place in (0, 1):
        given = {}
        for parameter in signature.parameters.values():
            if parameter.default is not parameter.empty or parameter.kind > parameter.KEYWORD_ONLY:
                continue
            shown = parameter.annotation if isinstance(parameter.annotation, str) else getattr(
                parameter.annotation, "__name__", ""
            )  # fmt: skip
            shown = str(parameter.annotation) if "[" in str(parameter.annotation) else shown
            sample = samples.get(shown.replace("List", "list").replace("typing.", "").replace("numpy.", "np."))
            if sample is None:
                return []
            given[parameter.name] = sample[place]
        bound = signature.bind_partial()
        bound.arguments.update(given)
        calls.append(bound)
    return calls


def doctest_failures(name: str, function: Callable[..., object], recorded: Recorded) -> list[str]:
    """Return a sentence if a function contradicts the examples in its own docstring."""
    try:
        tests = doctest.DocTestFinder(recurse=False).find(function, name, globs=dict(recorded.namespace), module=False)
        out = io.StringIO()
        with redirect_stdout(out):
            runner = doctest.DocTestRunner(verbose=False)
            failed = sum(runner.run(test).failed for test in tests)
    except Exception:
        return []
    return [f"`{name}` contradicts {failed} of the examples in its docstring."] if failed else []


def summary_of(name: str, function: object) -> str:
    """Return the sentence that students read above a test: the first line of the docstring, if it is short."""
    lines = (inspect.getdoc(function) or "").strip().splitlines() if function is not None else []
    first = lines[0].strip().rstrip(".:") if lines else ""
    return f"{first} (`{name}`)." if 0 < len(first) <= 90 and '"' not in first else f"`{name}` gives what is asked for."

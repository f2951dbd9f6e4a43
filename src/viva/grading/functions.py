"""Functions as arguments of a test: they cross to the sandbox as their code, which must not need anything else."""

import ast
import builtins
import inspect
import linecache
import sys
import sysconfig
import textwrap
import types
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final

import numpy as np

from viva.sandbox.guest.transport.wire import Code
from viva.submissions.code_names import used_names

_LIBRARIES: Final = ("math", "numpy", "torch", "torch.nn.functional", "operator")
"""Where a function of a library is looked for whose own module is private."""
_INSTALLED: Final = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")})
_MOST_ELEMENTS: Final = 1000


class NoCode(ValueError):
    """A function whose code cannot be sent; the text says why."""


def as_argument(function: Callable[..., object], refused: Collection[str] = ()) -> Code:
    """Return a function with its code, as an argument for `student.f` and `key.f`.

    Args:
        function: a lambda, a function of the test file, or one of a library. It may use modules, numbers, texts,
            arrays and other such functions by their global names.
        refused: global names that it must not use.

    Raises:
        NoCode: its code is not known, or it uses something else.
    """
    if isinstance(function, Code):
        return function
    if isinstance(function, types.FunctionType) and not _is_of_library(function):
        expression, definition = _source(function)
        needed = _needed(function, definition or expression, refused)
        return Code(expression, "\n".join([*needed, *([definition] if definition else [])]), function)
    if isinstance(function, types.MethodDescriptorType) and function.__objclass__.__module__ == "builtins":
        return Code(function.__qualname__, "", function)
    module, name = _place(function)
    if module == "builtins":
        return Code(name, "", function)
    if not _is_installed(module):
        raise NoCode(f"{name} cannot be sent to the sandbox: it is a class of the test file, and not of a library.")
    return Code(f"{module}.{name}", f"import {module}", function)


def compiled(source: str, file: str, mode: str = "exec") -> types.CodeType:
    """Compile source code that is in no file, so that the code of its functions is found all the same.

    Args:
        source: the code.
        file: a name for it, in place of a file's.
        mode: as for `compile`.
    """
    keep_source(source, file)
    return compile(source, file, mode)


def keep_source(source: str, file: str) -> None:
    """Keep source code that is in no file, so that `inspect.getsource` and tracebacks find it."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)


def is_literal(text: str) -> bool:
    """Return whether source code is a plain value, such as a number, a text or a list of these."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError):
        return False
    return True


def array_code(array: np.ndarray[Any, Any]) -> str:
    """Return an array as code, with its type where the numbers do not show it."""
    dtype = "" if np.array(array.tolist()).dtype == array.dtype else f", dtype={array.dtype.name!r}"
    return f"np.array({array.tolist()!r}{dtype})"


def tensor_code(tensor: Any) -> str:
    """Return a tensor of torch as code, with its type where the numbers do not show it."""
    import torch

    dtype = "" if torch.tensor(tensor.tolist()).dtype == tensor.dtype else f", dtype={tensor.dtype}"
    return f"torch.tensor({tensor.tolist()!r}{dtype})"


def _is_of_library(function: types.FunctionType) -> bool:
    """Return whether a function can be imported from an installed package, in the sandbox too."""
    return _is_installed(function.__module__) and _is_at(function.__module__, function.__name__, function)


def _is_installed(module: str) -> bool:
    """Return whether a module is Python's own or belongs to an installed package."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return module in sys.builtin_module_names or file.startswith(_INSTALLED)


def _is_at(module: str, name: str, value: object) -> bool:
    return getattr(sys.modules.get(module), name, None) is value


def _place(function: Any) -> tuple[str, str]:
    """Return the module and the name of a function of a library; the outermost package that offers it."""
    name = getattr(function, "__name__", "")
    for module in (getattr(function, "__module__", None) or "builtins", *_LIBRARIES):
        if name.isidentifier() and _is_at(module, name, function):
            parts = module.split(".")
            outer = (".".join(parts[:count]) for count in range(1, len(parts)))
            return next((package for package in outer if _is_at(package, name, function)), module), name
    name = name or f"an object of type {type(function).__name__}"
    raise NoCode(f"{name} cannot be sent to the sandbox: it is neither a function of the test nor of a library.")


def _source(function: types.FunctionType) -> tuple[str, str]:
    """Return the expression that gives a function, and its definition; of a lambda, the expression alone.

    Both are written as `ast.unparse` writes: a released test has other line breaks and spaces, and is the same test.

    Raises:
        NoCode: the source code is not at hand.
    """
    if function.__name__ != "<lambda>":
        try:
            return function.__name__, ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))
        except OSError:
            raise NoCode(f"the source code of `{function.__name__}` is not at hand.") from None
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))
    found = [node for node in _lambdas(text) if _is_code_of(node, code)]
    if not found:
        raise NoCode("the source code of a lambda is not at hand.")
    return min(map(ast.unparse, found), key=len), ""


@lru_cache(maxsize=16)
def _lambdas(text: str) -> list[ast.Lambda]:
    """Return the lambdas of a file; each submission makes the strategies of its tests again."""
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]


def _is_code_of(node: ast.Lambda, code: types.CodeType) -> bool:
    """Return whether all of the code's instructions come from the body of the lambda."""
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
    return node.lineno == code.co_firstlineno and all(
        first <= (line, start) and (end_line, end) <= last for line, end_line, start, end in places
    )


def _needed(function: types.FunctionType, source: str, refused: Collection[str]) -> list[str]:
    """Return statements that define the global names which a function's source code uses.

    Raises:
        NoCode: there is none for a name.
    """
    values = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    statements: list[str] = []
    for name in sorted(used_names(source) - {function.__name__}):
        if name in refused:
            raise NoCode(f"the function uses `{name}`.")
        if name in values:
            statements += _statements(name, values[name], refused)
        elif not hasattr(builtins, name):
            raise NoCode(f"the function uses `{name}`, which is not defined.")
    return statements


def _statements(name: str, value: Any, refused: Collection[str]) -> list[str]:
    if isinstance(value, types.ModuleType):
        return [f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")]
    if isinstance(value, np.ndarray) and value.size <= _MOST_ELEMENTS and value.dtype.kind in "biuf":
        return ["import numpy as np", f"{name} = {array_code(value)}"]
    if callable(value):
        sent = as_argument(value, refused)
        renamed = [f"{name} = {sent.expression}"] if name != sent.expression else []
        return [*([sent.statements] if sent.statements else []), *renamed]
    if is_literal(repr(value)):
        return [f"{name} = {value!r}"]
    raise NoCode(
        f"the function uses `{name}`, a {type(value).__name__}, which cannot be sent to the sandbox with it; "
        "use modules, numbers, texts, lists, arrays and functions."
    )

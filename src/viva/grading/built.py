"""Objects as arguments of a test: they cross to the sandbox as the code that makes them."""

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from viva.compare.normalize import is_tensor
from viva.grading.functions import NoCode, array_code, as_argument, is_literal, tensor_code
from viva.proxies.key import KeyFunction, NotMade, OfKey, with_objects
from viva.sandbox.guest.transport.wire import Code

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_OWN: Final = "student."
"""Comes before the name of a class of the submission."""


def objects_of(
    maker: Code, arguments: Sequence["SearchStrategy[Any]"], named: Mapping[str, "SearchStrategy[Any]"]
) -> "SearchStrategy[Code]":
    """Draw objects, also such as their maker refuses; see `strategies.built`."""
    from hypothesis import strategies as st

    given = st.tuples(st.tuples(*arguments), st.fixed_dictionaries(dict(named)))
    return given.map(lambda each: built_by(maker, *each))


def built_by(maker: Code, arguments: Sequence[object], named: Mapping[str, object]) -> Code:
    """Return the code of an object, which makes a new one for each call.

    Args:
        maker: a class or function of a library, or of the submission.
        arguments: what it gets: plain values, arrays, tensors, functions, and other such objects.
        named: what it gets by keyword.

    Raises:
        NoCode: an argument cannot be written as code.
    """
    given = [("", written(value)) for value in arguments]
    given += [(f"{name}=", written(value)) for name, value in named.items()]

    def make(_: object) -> object:
        return maker(*with_objects(copy.deepcopy(list(arguments))), **with_objects(copy.deepcopy(dict(named))))

    return Code(
        f"{maker.expression}({', '.join(before + each.expression for before, each in given)})",
        once(each.statements for each in (maker, *(each for _, each in given))),
        make=make,
        shown=f"{maker.shown}({', '.join(before + each.shown for before, each in given)})",
    )


def maker_of(maker: Callable[..., object]) -> Code:
    """Return the code of what makes objects: of a class of the key, the submission's own class of that name.

    Raises:
        NoCode: it is neither of the key nor of a library.
    """
    if isinstance(maker, OfKey):
        function = maker.function if isinstance(maker, KeyFunction) else _not_at_hand
        return Code(f"{_OWN}{maker.__name__}", "", function, shown=maker.__name__)
    return as_argument(maker)


def _not_at_hand(*_args: object, **_named: object) -> None:
    """Take the place of the key's class where only its record is: there, no object is needed."""


def can_be_made(sent: Code) -> bool:
    """Return whether the maker, which is of a library, takes what it gets."""
    try:
        sent.here()
    except NotMade:  # it gets an object of a class of the key: where only the record is, that class refuses nothing
        return True
    except Exception:
        return False
    return True


def written(value: Any) -> Code:
    """Return a value as code."""
    if isinstance(value, Code):
        return value
    if isinstance(value, np.ndarray):
        return Code(array_code(value), "import numpy as np")
    if is_tensor(value):
        return Code(tensor_code(value), "import torch")
    if type(value) in (list, tuple):
        inner = _joined([written(item) for item in value])
        return _within("[", inner, "]") if type(value) is list else _within("(", inner, f"{',' * (len(value) == 1)})")
    if type(value) is dict:
        pairs = [_joined([written(key), written(item)], ": ") for key, item in value.items()]
        return _within("{", _joined(pairs), "}")
    if is_literal(repr(value)):
        return Code(repr(value))
    raise NoCode(f"an object of type {type(value).__name__} cannot be written as code.")


def _joined(codes: Sequence[Code], between: str = ", ") -> Code:
    text = between.join(each.expression for each in codes)
    shown = between.join(each.shown for each in codes)
    return Code(text, once(each.statements for each in codes), shown=shown)


def _within(before: str, inner: Code, after: str) -> Code:
    return Code(f"{before}{inner.expression}{after}", inner.statements, shown=f"{before}{inner.shown}{after}")


def once(statements: Iterable[str]) -> str:
    """Return statements without those that are there already, in their order."""
    nodes = [node for text in statements for node in ast.parse(text).body]
    return "\n".join(dict.fromkeys(map(ast.unparse, nodes)))

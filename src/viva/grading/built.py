"""Objects as arguments of a test: they cross to the sandbox as the code that makes them."""

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from viva.grading.functions import NoCode, array_code, as_argument, is_literal
from viva.proxies.key import KeyFunction, NotMade, OfKey, with_objects
from viva.sandbox.guest.transport.wire import Code

OWN: Final = "student."
"""Comes before the name of a class of the submission."""


def built_by(maker: Code, arguments: Sequence[object], named: Mapping[str, object]) -> Code:
    """Return the code of an object, which makes a new one for each call.

    Args:
        maker: a class or function of a library, or of the submission.
        arguments: what it gets: plain values, arrays, functions, and other such objects.
        named: what it gets by keyword.

    Raises:
        NoCode: an argument cannot be written as code.
    """
    given = [_written(value) for value in arguments]
    by_name = {name: _written(value) for name, value in named.items()}
    texts = [*(each.expression for each in given), *(f"{name}={each.expression}" for name, each in by_name.items())]
    statements = _once(each.statements for each in (maker, *given, *by_name.values()))

    def make() -> object:
        return maker(*with_objects(copy.deepcopy(list(arguments))), **with_objects(copy.deepcopy(dict(named))))

    return Code(f"{maker.expression}({', '.join(texts)})", statements, make=make)


def maker_of(maker: Callable[..., object]) -> Code:
    """Return the code of what makes objects: of a class of the key, the submission's own class of that name.

    Raises:
        NoCode: it is neither of the key nor of a library.
    """
    if isinstance(maker, OfKey):
        function = maker.function if isinstance(maker, KeyFunction) else _not_at_hand
        return Code(f"{OWN}{maker.__name__}", "", function)
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


def _written(value: Any) -> Code:
    """Return a value as code."""
    if isinstance(value, Code):
        return value
    if isinstance(value, np.ndarray):
        return Code(array_code(value), "import numpy as np")
    if type(value) in (list, tuple):
        items = [_written(item) for item in value]
        inner = ", ".join(item.expression for item in items)
        text = f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(items) == 1)})"
        return Code(text, _once(item.statements for item in items))
    if type(value) is dict:
        pairs = [(_written(key), _written(item)) for key, item in value.items()]
        text = ", ".join(f"{key.expression}: {item.expression}" for key, item in pairs)
        return Code(f"{{{text}}}", _once(each.statements for pair in pairs for each in pair))
    if is_literal(repr(value)):
        return Code(repr(value))
    raise NoCode(f"an object of type {type(value).__name__} cannot be written as code.")


def _once(statements: Iterable[str]) -> str:
    """Return statements without those that are there already, in their order."""
    nodes = [node for text in statements for node in ast.parse(text).body]
    return "\n".join(dict.fromkeys(map(ast.unparse, nodes)))

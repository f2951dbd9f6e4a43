"""A function of the key with a mistake in it, for hints."""

import inspect
import textwrap
from typing import Any

from viva.proxies.key import KeyFunction


def with_mistake(function: Any, right: str, wrong: str) -> KeyFunction:
    """Return a function of the key in whose source code one piece of text is replaced.

    In `hints` of `agree_on`, it gives the answers of students who make this mistake:
    `hints={"the scores are not scaled": with_mistake(key.attention, " / np.sqrt(d)", "")}`.

    Args:
        function: `key.f`, a function that key.py or a module of the course defines with `def` at its top level.
        right: text of its source code that occurs once.
        wrong: what replaces it.

    Raises:
        ValueError: the source code is not known, does not hold the text once, or is not Python any more.
    """
    plain = inspect.unwrap(getattr(function, "_function", function))
    name = getattr(plain, "__name__", str(function))
    if not inspect.isfunction(plain) or plain.__closure__ or plain.__qualname__ != name:
        raise ValueError(f"with_mistake: expected a function that is defined at the top level; found {name!r}.")
    source = textwrap.dedent(inspect.getsource(plain))
    if source.count(right) != 1:
        raise ValueError(
            f"with_mistake: the source code of `{name}` holds {right!r} {source.count(right)} times; expected once."
        )
    namespace = dict(plain.__globals__)  # in which the function calls itself with the mistake
    try:
        code = compile(source.replace(right, wrong), f"<{name} with a mistake>", "exec")
    except SyntaxError as error:
        raise ValueError(f"with_mistake: `{name}` is not valid Python with {wrong!r} in it: {error.msg}.") from None
    exec(code, namespace)  # noqa: S102  # the author's own code
    return KeyFunction(namespace[name], f"{name} with a mistake")

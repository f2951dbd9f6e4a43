"""A pytest plugin: each test of an assignment is asked again with every known mistake as the student's answer.

The answers of a right submission are replaced by those that a hint gives, and then by others close to them. What the
student would read is written to the file that PRETENDED names, one line of JSON for each hint and test.
"""

import copy
import functools
import json
import os
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import viva.grading
from viva.compare import Disagreement, hint_evidence

Compare = Callable[..., None]


class Pretended:
    """The mistake that is pretended now, and the hints that were seen."""

    def __init__(self) -> None:
        self.hint: str | None = None
        self.near = False
        self.seen: dict[str, None] = {}

    def answer(self, kind: str, mistake: Any) -> Any:
        """Return the answer of a program that makes the mistake, or one that is close to it."""
        if kind == "agree_on":
            return (lambda *arguments: beside(mistake(*arguments))) if self.near else mistake
        value = mistake() if callable(mistake) else mistake
        if kind == "agree_formula":
            return f"({value}) + 1" if self.near else value
        if kind == "agree_number":
            return repr(beside(float(value)) if self.near else value)
        return beside(value) if self.near else value

    def wrapped(self, compare: Compare, kind: str) -> Compare:
        """Return a comparison that compares the pretended answer."""

        @functools.wraps(compare)
        def pretending(actual: Any, *arguments: Any, hints: Any = None, **options: Any) -> None:
            self.seen |= dict.fromkeys(hints or ())
            if self.hint is not None and self.hint in (hints or ()):
                actual = self.answer(kind, hints[self.hint])
            compare(actual, *arguments, **options, **({} if hints is None else {"hints": hints}))

        return pretending


def beside(value: Any) -> Any:
    """Return a value of the same form that differs in one place."""
    if hasattr(value, "detach"):
        value = value.detach().numpy()
    match value:
        case bool() | np.bool_():
            return not value
        case int() | np.integer():
            return int(value) + 1
        case float() | np.floating():
            return float(value) + 0.01 + 0.01 * abs(float(value)) if np.isfinite(value) else 0.0
        case str():
            return f"{value} + 1"
        case np.ndarray() if value.size:
            other = value.copy()
            other[(-1,) * value.ndim] = beside(value[(-1,) * value.ndim].item())
            return other
        case list() | tuple() if value:
            return type(value)([*value[:-1], beside(value[-1])]) if not hasattr(value, "_fields") else value[:-1]
        case dict() if value:
            last = list(value)[-1]
            return {**value, last: beside(value[last])}
        case _:
            return "something else"


PRETENDED: Final = Pretended()
for _kind in ("agree", "agree_number", "agree_formula", "agree_on"):
    setattr(viva.grading, _kind, PRETENDED.wrapped(getattr(viva.grading, _kind), _kind))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Ask a test that has passed again, twice for each hint that it has."""
    given: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    drawing = given["rng"].bit_generator if "rng" in given else None
    state = copy.deepcopy(drawing.state) if drawing is not None else None

    def run() -> None:
        if drawing is not None:
            drawing.state = copy.deepcopy(state)
        pyfuncitem.obj(**given)

    PRETENDED.seen.clear()
    with hint_evidence.of_one_test():
        passed = yield
    for hint in list(PRETENDED.seen):
        for near in (False, True):
            PRETENDED.hint, PRETENDED.near = hint, near
            row = {"test": pyfuncitem.name, "hint": hint, "near": near, "read": what_is_read(run)}
            PRETENDED.hint = None
            with Path(os.environ["PRETENDED"]).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return passed


def what_is_read(run: Callable[[], None]) -> str:
    """Return the message of a test, which is run once more if it names a mistake, as the examiner does."""
    try:
        with hint_evidence.of_one_test():
            run()
    except Disagreement as error:
        # Whatever is raised ends the second look.
        with hint_evidence.of_one_test(error.suspected) as evidence, suppress(Exception, pytest.skip.Exception):
            run()
        return f"{error.naming_only(functools.partial(evidence.supports, error=error))} {error.feedback}"
    except (Exception, pytest.skip.Exception) as error:
        return str(error)
    return ""

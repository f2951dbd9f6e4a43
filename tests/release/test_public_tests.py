"""Hidden tests leave nothing behind in what students get; public ones keep all that they need."""

import ast

import pytest

from viva.plugins.release.public_tests import public_source

SOURCE = '''"""Question 1."""
from __future__ import annotations

import math, re
import numpy as np
from viva.grading import agree, visibility, weight
from graders.a.helpers import right_answers, shown

pytestmark = [pytest.mark.slow]

# the published key says 17, which is wrong
PUBLIC = [1, 2]
HIDDEN = [907331]
if True:
    BOTH, ONLY_HIDDEN_TOO = 1, 2


@pytest.fixture(autouse=True)
def quiet():
    yield


@pytest.fixture
def model(inside):
    return inside.model(BOTH)


@pytest.fixture
def hidden_model(inside):
    return inside.model(HIDDEN)


def secret_sum(n):
    return math.fsum(HIDDEN)


def helper(n):
    return shown(n) + deeper(n)


def deeper(n):
    return n


@weight(1)
def test_public(student, model):
    """Shown."""
    for n in PUBLIC:  # 17
        agree(student.f(n), helper(n))


@weight(1)
@visibility("hidden")
def test_hidden(student, hidden_model):
    """Not shown."""
    agree(student.f(HIDDEN[0]), right_answers(secret_sum(np.e)))
'''


def test_hidden_tests_are_removed() -> None:
    public = public_source(SOURCE, lambda name: name == "test_public")
    assert public is not None
    hidden = ("907331", "HIDDEN =", "secret_sum", "hidden_model", "test_hidden", "right_answers", "numpy", "#", "17")
    assert [text for text in hidden if text in public] == []
    needed = ("test_public", "def model", "def quiet", "deeper", "PUBLIC", "pytestmark", "shown", "Question 1")
    assert [text for text in needed if text not in public] == []
    assert "from __future__" in public and "visibility" not in public and "import math" not in public
    ast.parse(public)


def test_public_source_is_idempotent() -> None:
    once = public_source(SOURCE, lambda name: name == "test_public")
    assert once is not None and public_source(once, lambda name: True) == once


def test_file_of_hidden_tests() -> None:
    assert public_source(SOURCE.replace("autouse=True", ""), lambda name: False) is None


def test_module_beside_the_tests() -> None:
    module = "LABELS = [4]\n\ndef shown(n):\n    return n\n\ndef right_answers(n):\n    return LABELS\n"
    public = public_source(module, lambda name: False, frozenset({"shown"}))
    assert public is not None and "LABELS" not in public and "def shown" in public


@pytest.mark.parametrize("source", ["def f(:", "\0"])
def test_invalid_source(source: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        public_source(source, lambda name: True)


HINTED = '''
def test_f(student, key):
    """F."""
    hints = {"a": 1}
    hints["b"] = half_a_solution(2)
    named = mistakes(key)
    kept, extra = key.f(3), mistakes(key)
    for n in (1, 2):
        hints |= {"c": n}
        agree(student.f(n), key.f(n), hints=hints)
        compare(student.f(n), 3, hints={"d": half_a_solution(n)})
        compare(student.f(n), 3, hints)
        compare(student.f(n), 3, mistakes(key))
        agree(student.g(n), 4, hints=named | {"e": 5}, rtol=1e-3)
    agree(student.g(4), kept, hints=extra)


def agree_twice(actual, hints, *more):
    agree(actual, 1, hints=hints)


def test_twice(student, key):
    """Twice."""
    agree_twice(student.f(1), mistakes(key), 2)


def compare(actual, expected, hints):
    agree(actual, expected, hints=hints)


def mistakes(key):
    return {"x": half_a_solution(1)}


def half_a_solution(n):
    return n / 2
'''


def test_hints_are_removed() -> None:
    public = public_source(HINTED, lambda name: True)
    assert public is not None
    assert "half_a_solution" not in public and "mistakes" not in public and "'c'" not in public
    assert "agree(student.g(n), 4, rtol=0.001)" in public and "compare(student.f(n), 3, hints={})" in public
    assert "compare(student.f(n), 3, {})" in public and "kept = key.f(3)" in public and "extra" not in public
    assert "agree_twice(student.f(1), {}, 2)" in public
    ast.parse(public)

"""Which tests may run side by side, and in which box each group of them begins."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from tests.support.catalog_functions import catalog_function
from viva.examiner.catalog import TestFunction
from viva.examiner.training_groups import Plan, plan
from viva.model.gpu import GpuNeed


def function(name: str, *, points: int = 1, training: bool = True, **how: Any) -> TestFunction:
    """A test of a file `test_it.py`, or of the file before `::`."""
    test_id = name if "::" in name else f"test_it.py::{name}"
    items = [test_id]  # in place of pytest's item, which only tells of its fixtures
    return catalog_function(test_id=test_id, name=name, points=Fraction(points), training=training, items=items, **how)


def names(functions: Sequence[TestFunction]) -> list[str]:
    return [function.name for function in functions]


@pytest.fixture(autouse=True)
def lasting(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The tests that use a fixture of the author which outlives a test."""
    found: set[str] = set()
    monkeypatch.setattr("viva.examiner.training_groups.has_lasting_fixtures", found.__contains__)
    return found


def test_groups_of_trainings() -> None:
    found = plan([
        function("a", training=False), function("b", points=2), function("c", points=5), function("d", training=False),
        function("e", points=5), function("f", visibility="hidden"), function("g", training=False, visibility="hidden"),
    ])  # fmt: skip
    assert names(found.before) == ["a", "d"] and names(found.after) == ["f", "g"]
    assert [names(group) for group in found.groups] == [["c"], ["e"], ["b"]]


def test_group_of_shared_fixture(lasting: set[str]) -> None:
    lasting.update(["test_it.py::a", "test_it.py::c", "other.py::d"])
    found = plan([function("a"), function("b"), function("c", points=4), function("other.py::d")])
    assert [names(group) for group in found.groups] == [["a", "c"], ["b"], ["other.py::d"]]


def test_group_that_must_wait(lasting: set[str]) -> None:
    lasting.update(["test_it.py::a", "test_it.py::b"])
    for other in (function("b", gpu=GpuNeed()), function("b", depends=("c",)), function("b", visibility="hidden")):
        found = plan([function("c", training=False), function("a"), other])
        assert found.groups == () and names(found.before) == ["c", "a", "b"]


@pytest.mark.parametrize(
    "tests",
    [
        [function("a", gpu=GpuNeed())],
        [function("a", training=False), function("b", depends=("a",))],
        [function("a"), function("b", depends=("a",), training=False)],
        [function("a"), function("b", depends=("a",))],
        [function("a", training=False, visibility="hidden"), function("b", training=False), function("c")],
        [function("a", training=False), function("b", training=False, visibility="hidden")],
        [],
    ],
)
def test_no_groups(tests: list[TestFunction]) -> None:
    """The hidden test before a visible one is there because another must run after it."""
    assert plan(tests) == Plan(tests)

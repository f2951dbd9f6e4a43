"""What variables hold is put back, in the same objects: a property over kinds of values and ways to change them."""

import collections
import copy
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.plugins.selfcheck.kernel_state import Snapshot

plain = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.binary(max_size=5)
)
arrays = st.lists(st.floats(-5, 5), min_size=1, max_size=4).map(np.array)
leaves = plain | arrays | st.binary(min_size=1, max_size=4).map(bytearray) | st.sets(st.integers(), max_size=4)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    dicts = st.dictionaries(st.text(max_size=3), inner, max_size=4)
    return (
        st.lists(inner, max_size=4)
        | dicts
        | st.tuples(inner, inner)
        | st.lists(inner, max_size=4).map(collections.deque)
        | dicts.map(collections.OrderedDict)
        | dicts.map(lambda d: collections.defaultdict(list, d))
    )


values = st.recursive(leaves, containers, max_leaves=12)


def spoil(value: Any, seen: set[int]) -> None:
    """Change everything that can be changed, from the inside out."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple, collections.deque)):
        for item in list(value):
            spoil(item, seen)
    if isinstance(value, dict):
        for item in list(value.values()):
            spoil(item, seen)
        value.clear()
        value["spoiled"] = True
    elif isinstance(value, list | collections.deque):
        value.reverse()
        value.append("spoiled")
    elif isinstance(value, np.ndarray):
        value += 1
    elif isinstance(value, bytearray):
        value.extend(b"spoiled")
    elif isinstance(value, set):
        value.symmetric_difference_update({1, 2, 3})


def same(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray):
        return bool(np.array_equal(left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple, collections.deque)):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


@given(st.dictionaries(st.sampled_from("abc"), values, max_size=3))
def test_same_objects_are_restored(variables: dict[str, Any]) -> None:
    namespace = {"__name__": "__main__", **variables}
    before = copy.deepcopy(variables)
    identities = {name: id(value) for name, value in variables.items()}
    snapshot = Snapshot(namespace)
    spoil(list(variables.values()), set())
    namespace["new"] = 1
    namespace.pop("a", None)
    snapshot.restore()
    assert namespace.keys() == {"__name__", *variables}
    assert {name: id(namespace[name]) for name in variables} == identities
    assert all(same(namespace[name], before[name]) for name in variables)
    assert snapshot.too_large == []


def test_value_that_contains_itself() -> None:
    items: list[Any] = [1]
    items.append(items)
    snapshot = Snapshot({"items": items})
    items.clear()
    snapshot.restore()
    assert items[0] == 1 and items[1] is items


SOURCE = """
import collections
count = 0
class Model:
    made = 0
    def __init__(self):
        Model.made += 1
        self.weights = [1.0]
def remember(x, seen=[]):
    seen.append(x)
    return seen
def around():
    total = 0
    def add(x):
        nonlocal total
        total += x
        return total
    return add
add = around()
def calls():
    calls.n = getattr(calls, "n", 0) + 1
model = Model()
"""


def test_student_functions_and_classes() -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(SOURCE, space)
    snapshot = Snapshot(space)
    for _ in range(2):
        space["remember"](1), space["add"](5), space["calls"](), space["Model"]()
    space["model"].weights.append(2.0)
    space["model"].new = True
    snapshot.restore()
    assert space["remember"].__defaults__ == ([],) and space["add"](1) == 1
    assert not hasattr(space["calls"], "n") and space["Model"].made == 1
    assert space["model"].weights == [1.0] and not hasattr(space["model"], "new")


def test_generators_go_on_where_they_were() -> None:
    space: dict[str, Any] = {"a": np.random.default_rng(1), "b": random.Random(1), "c": np.random.RandomState(1)}
    snapshot = Snapshot(space)
    first = [space["a"].random(), space["b"].random(), space["c"].random_sample()]
    snapshot.restore()
    assert [space["a"].random(), space["b"].random(), space["c"].random_sample()] == first


def test_models_of_torch() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    nan = torch.tensor([float("nan"), 1.0])
    space = {"model": model, "optimizer": optimizer, "nan": nan}
    before = copy.deepcopy(model.state_dict())
    snapshot = Snapshot(space)
    model.eval()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    nan.zero_()
    snapshot.restore()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.training and model.weight.grad is None and not optimizer.state
    assert nan[0].isnan() and nan[1] == 1


def test_what_is_too_large_is_left_alone_and_named() -> None:
    space: dict[str, Any] = {"big": np.zeros(1000), "small": np.zeros(2)}
    snapshot = Snapshot(space, max_bytes=100)
    space["big"] += 1
    space["small"] += 1
    snapshot.restore()
    assert snapshot.too_large == ["big"]
    assert space["big"][0] == 1 and space["small"][0] == 0


class Hostile:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError

    __hash__ = object.__hash__


def test_nothing_of_student_is_called() -> None:
    one = Hostile()
    space: dict[str, Any] = {"__name__": __name__, "one": one, "many": [one, {1: one}, {one}]}
    snapshot = Snapshot(space)
    space["many"].clear()
    space["one"] = None
    snapshot.restore()
    assert space["one"] is one and space["many"][0] is one

"""Which return types arrive as which plain values; that nothing lying survives and nothing honest is lost."""

import collections
import dataclasses
import enum
import io
import itertools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.support.crossing import send_across
from tests.support.same_values import same
from tests.support.table_rows import Rows
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.values.plain_data import MOST_ITEMS, PlainData


class Kept:
    """Stands for the box's table of objects."""

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def keep(self, value: Any) -> wire.Ref:
        self.objects.append(value)
        return wire.Ref(len(self.objects), type(value).__name__)


def answered(value: Any, kept: Kept | None = None) -> Any:
    """`value` as a reply brings it to the examiner."""
    return send_across(value, PlainData((kept or Kept()).keep))


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Beam:
    tokens: list[int]
    score: float


@dataclasses.dataclass(frozen=True)
class Frozen:
    __slots__ = ("x",)
    x: int


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Letter(enum.StrEnum):
    A = "a"


class Table(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return {"a": 1, "b": 2}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["a", "b"])

    def __len__(self) -> int:
        return 2


class Line(Sequence[int]):
    def __getitem__(self, index: Any) -> Any:
        return [7, 8][index]

    def __len__(self) -> int:
        return 2


class Countdown:
    """An iterator as a class."""

    def __init__(self) -> None:
        self.left = 3

    def __iter__(self) -> "Countdown":
        return self

    def __next__(self) -> int:
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


class Frame:
    """What data frames offer."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([[1.0, 2.0]])


class MyArray(np.ndarray[Any, Any]):
    pass


def ordered() -> Any:
    value = collections.OrderedDict(a=1, b=2)
    value.move_to_end("a")
    return value


RETURNED: list[tuple[Callable[[], Any], Any]] = [  # types of a row of their own are in test_value_types.py
    (lambda: Level.LOW, 1),
    (lambda: Colour.RED, "red"),
    (lambda: Letter.A, "a"),
    (lambda: {Colour.RED: Level.LOW}, {"red": 1}),
    (lambda: Point(1, 2.5), (1, 2.5)),
    (lambda: [Point(1, 2.5)], [(1, 2.5)]),
    (lambda: Beam([1, 2], 0.5), {"tokens": [1, 2], "score": 0.5}),
    (lambda: Frozen(3), {"x": 3}),
    (lambda: collections.defaultdict(list, a=[1]), {"a": [1]}),
    (ordered, {"b": 2, "a": 1}),
    (lambda: collections.ChainMap({"a": 1}, {"b": 2}), {"b": 2, "a": 1}),
    (lambda: types.MappingProxyType({"a": 1}), {"a": 1}),
    (Table, {"a": 1, "b": 2}),
    (lambda: collections.UserDict(a=1), {"a": 1}),
    (lambda: collections.UserList([1, 2]), [1, 2]),
    (Line, [7, 8]),
    (lambda: {"a": 1}.keys(), ["a"]),
    (lambda: {"a": 1}.values(), [1]),
    (lambda: {"a": 1}.items(), [("a", 1)]),
    (lambda: collections.OrderedDict(a=1).items(), [("a", 1)]),
    (lambda: (i for i in range(3)), [0, 1, 2]),
    (lambda: map(str, [1, 2]), ["1", "2"]),
    (lambda: zip("ab", [1, 2], strict=True), [("a", 1), ("b", 2)]),
    (lambda: enumerate("ab"), [(0, "a"), (1, "b")]),
    (lambda: reversed([1, 2]), [2, 1]),
    (lambda: filter(None, [0, 1]), [1]),
    (lambda: iter({1}), [1]),
    (lambda: itertools.chain([1], [2]), [1, 2]),
    (lambda: itertools.combinations("abc", 2), [("a", "b"), ("a", "c"), ("b", "c")]),
    (Countdown, [2, 1, 0]),
    (lambda: [iter([1]), (i for i in "a")], [[1], ["a"]]),
    (lambda: PurePosixPath("a/b"), "a/b"),
    (lambda: np.matrix([[1, 2]]), np.array([[1, 2]])),
    (lambda: np.eye(2).view(MyArray), np.eye(2)),
    (lambda: np.ma.array([1.0, 2.0], mask=[False, True]), np.array([1.0, np.nan])),
    (lambda: np.ma.array([1, 2], mask=[False, True]), np.array([1, 2])),
    (lambda: np.ma.array([1.0, 2.0]), np.array([1.0, 2.0])),
    (lambda: np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), [(1, 2.0)]),
    (lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])[0], (1, 2.0)),
    (lambda: np.array([1, "a", None, [2]], dtype=object), [1, "a", None, [2]]),
    (lambda: np.array([[1, "a"], [2.5, None]], dtype=object), [[1, "a"], [2.5, None]]),
    (lambda: np.array([np.zeros(1), np.ones(2)], dtype=object), [np.zeros(1), np.ones(2)]),
    (lambda: np.float32(1.5), np.float32(1.5)),
    (lambda: {np.int64(1): np.array(2)}, {np.int64(1): np.array(2)}),
    (lambda: {(np.float64(1), "a"): 1}, {(np.float64(1), "a"): 1}),
    (Frame, np.array([[1.0, 2.0]])),
    (lambda: [[None] * 3] * 2, [[None] * 3] * 2),
]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_plain_data_arrives() -> None:
    with Rows() as row:
        for n, (make, expected) in enumerate(RETURNED):
            with row(n):
                assert same(answered(make()), expected)


class LyingList(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])

    def __len__(self) -> int:
        return 1

    def __getitem__(self, key: Any) -> Any:
        return ["lie"]


class LyingTuple(tuple[Any, ...]):
    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])

    def __getitem__(self, key: Any) -> Any:
        return ("lie",)


class LyingDict(dict[Any, Any]):
    def items(self) -> Any:
        return [("lie", 1)]

    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])

    keys = __iter__  # type: ignore[assignment]  # a lie

    def __getitem__(self, key: Any) -> Any:
        return "lie"


class LyingSet(set[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(["lie"])


class LyingArray(np.ndarray[Any, Any]):
    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.full(2, 99.0)

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return np.full(2, 99.0)

    def __array_function__(self, *_: Any, **__: Any) -> Any:
        return np.full(2, 99.0)

    def view(self, *_: Any, **__: Any) -> Any:
        return np.full(2, 99.0)

    def tobytes(self, *_: Any, **__: Any) -> bytes:
        return b"\0" * 16

    def __getitem__(self, key: Any) -> Any:
        return 99.0

    shape = property(lambda _: (99,))
    dtype = property(lambda _: np.dtype("O"))


class LyingScalar(np.float64):
    def tobytes(self, *_: Any, **__: Any) -> bytes:
        return b"\0" * 8

    def item(self, *_: Any) -> Any:
        return 99.0

    @property
    def dtype(self) -> Any:
        return np.dtype("i8")


LIES: list[tuple[Any, Any]] = [  # numbers and texts that lie are in test_value_types.py
    (LyingList([1, 2]), [1, 2]),
    (LyingTuple((1, 2)), (1, 2)),
    (LyingDict(a=1), {"a": 1}),
    (LyingSet({1, 2}), {1, 2}),
    (np.array([1.0, 2.0]).view(LyingArray), np.array([1.0, 2.0])),
    (LyingScalar(1.5), np.float64(1.5)),
    ([LyingScalar(1.5), {"a": LyingList([1])}], [np.float64(1.5), {"a": [1]}]),
]


@pytest.mark.parametrize(("lie", "truth"), LIES, ids=[type(lie).__name__ for lie, _ in LIES])
def test_lying_subclass(lie: Any, truth: Any) -> None:
    assert same(answered(lie), truth)
    assert same(answered([lie]), [truth])


class Opaque:
    pass


class Circular:
    def __init__(self) -> None:
        self.me = [self]


OPAQUE: list[Any] = [
    Opaque(), Opaque, len, lambda: 1, np, np.add, np.dtype("f8"), io.StringIO("lines\nof a file"), iter, Circular(),
    np.array([Opaque()], dtype=object), range(10**7), type, ..., NotImplemented, ValueError("x"),
]  # fmt: skip


def test_opaque_values_stay() -> None:
    with Rows() as row:
        for n, value in enumerate(OPAQUE):
            with row(n, type(value).__name__):
                kept = Kept()
                assert type(answered(value, kept)) is wire.Ref
                assert kept.objects[0] is value


def test_opaque_part_stays() -> None:
    kept = Kept()
    model = Opaque()
    found = answered({"model": model, "loss": 0.5}, kept)
    assert found == {"model": wire.Ref(1, "Opaque"), "loss": 0.5} and kept.objects == [model]


def test_objects_as_keys_stay_distinct() -> None:
    found = answered({Opaque(): 1, Opaque(): 2, (Opaque(),): 3})
    assert sorted(found.values()) == [1, 2, 3]


def test_endless_iterator_stays() -> None:
    kept = Kept()
    assert type(answered(itertools.count(), kept)) is wire.Ref
    assert [next(kept.objects[0]) for _ in range(3)] == [0, 1, 2]
    assert answered(iter(range(MOST_ITEMS))) == list(range(MOST_ITEMS))


def test_value_containing_itself() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    kept = Kept()
    found = answered(loop, kept)
    depth = 0
    while type(found) is list:
        found, depth = found[1], depth + 1
    assert type(found) is wire.Ref and kept.objects == [loop] and depth > 30


@pytest.mark.parametrize("wrap", [collections.UserList, collections.deque, lambda v: collections.OrderedDict(a=v)])
def test_deep_values_of_other_types(wrap: Callable[[Any], Any]) -> None:
    value: Any = [1]
    for _ in range(60):
        value = wrap([value])
    found = answered({"ok": value})
    assert type(found) is dict


def test_unbounded_structure_is_refused() -> None:
    value: Any = [0]
    for _ in range(35):
        value = [value, value]
    with pytest.raises(wire.TooLarge, match="parts"):
        answered(value)


def test_iterator_that_raises() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        answered(broken())


class TestTorch:
    """Tensors in all their forms."""

    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        self.torch = pytest.importorskip("torch")

    @pytest.mark.filterwarnings("ignore:Sparse CSR", "ignore:.*quantiz")
    def test_tensors_as_arrays(self) -> None:
        torch = self.torch
        table = [
            (torch.tensor([1.0, 2.0]), np.array([1, 2], "f4")),
            (torch.tensor(3), np.array(3)),
            (torch.tensor([True, False]), np.array([True, False])),
            (torch.tensor([1.5], dtype=torch.bfloat16), np.array([1.5], "f4")),
            (torch.tensor([1.5], dtype=torch.float16), np.array([1.5], "f2")),
            (torch.tensor([1 + 2j]).conj(), np.array([1 - 2j], "c8")),
            (torch.eye(2).to_sparse(), np.eye(2, dtype="f4")),
            (torch.eye(2).to_sparse_csr(), np.eye(2, dtype="f4")),
            (torch.ones(2, requires_grad=True), np.ones(2, "f4")),
            (torch.nn.Parameter(torch.ones(2)), np.ones(2, "f4")),
            (torch.arange(6).reshape(2, 3).T, np.arange(6).reshape(2, 3).T),
            (torch.zeros(0, 4), np.zeros((0, 4), "f4")),
            (torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8), np.ones(2, "f4")),
            (torch.Size([2, 3]), (2, 3)),
            (torch.ones(2, 2).max(dim=0), (np.ones(2, "f4"), np.zeros(2, "i8"))),
            (torch.nn.Linear(1, 1).parameters, None),
            ([torch.tensor(1.0)] * 2, [np.array(1, "f4")] * 2),
            ({"loss": torch.tensor(0.5)}, {"loss": np.array(0.5, "f4")}),
        ]
        for value, expected in table:
            found = answered(value)
            assert type(found) is wire.Ref if expected is None else same(found, expected), value

    def test_lying_tensor(self) -> None:
        torch = self.torch

        class Lying(torch.Tensor):  # type: ignore[misc, name-defined]  # imported late
            @classmethod
            def __torch_function__(cls, *_: Any, **__: Any) -> Any:
                return torch.full((2,), 99.0)

            def numpy(self, *_: Any) -> Any:
                return np.full(2, 99.0)

            detach = cpu = numpy

        assert same(answered(torch.ones(2).as_subclass(Lying)), np.ones(2, "f4"))

    def test_networks_and_meta_tensors_stay(self) -> None:
        torch = self.torch
        for value in (torch.nn.Linear(1, 1), torch.ones(2, device="meta"), torch.nn.ModuleList(), torch.float32):
            assert type(answered(value)) is wire.Ref

    def test_tensors_as_keys(self) -> None:
        found = answered({self.torch.tensor(1): "a"})
        assert [type(k) for k in found] == [np.int64] and found[1] == "a"

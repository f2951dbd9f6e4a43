"""Whatever the student's value is, the comparison ends soon and either passes or says what is wrong."""

import copy
import math
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from viva.grading import Disagreement, agree
from viva.model.errors import GraderError
from viva.sandbox.guest.transport.wire import Ref

QUIET = settings(suppress_health_check=list(HealthCheck))
INF = float("inf")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.fractions(),
    st.decimals(),
    st.text("ab 01\n\x1b", max_size=4),
    st.binary(max_size=3),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.float16, st.floats(width=16)),
    st.builds(np.longdouble, st.floats()),
    st.builds(np.int8, st.integers(-128, 127)),
    st.builds(np.complex64, st.complex_numbers(max_magnitude=9)),
    st.just(np.datetime64("2026-01-01")),
)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
arrays = st.one_of(
    *(
        hnp.arrays(dtype, shapes)
        for dtype in (np.bool_, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64, np.complex128, "U2")
    ),
    hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 1.0, -INF, math.nan, -1e9])),
    hnp.arrays(np.int8, st.just((3, 3)), elements=st.integers(0, 1)),
)
hashables = st.one_of(
    st.integers(-3, 3), st.text("ab", max_size=2), st.none(), st.floats(), st.tuples(st.integers(0, 2))
)
values = st.recursive(
    scalars | arrays,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashables, inner, max_size=3),
        st.sets(hashables, max_size=3),
        st.frozensets(hashables, max_size=3),
    ),
    max_leaves=8,
)
opaque = st.builds(Ref, st.integers(0, 9), st.text(max_size=5), st.text(max_size=5))


@QUIET
@given(
    values, values, st.sampled_from([(), ("polarity",), ("sign",), ("order",), ("polarity", "sign", "order", "spaces")])
)
@example(np.array([True]), np.array([1.0]), ("sign",))
@example([Decimal("sNaN")], [0.5], ())
def test_any_two_values(actual: Any, expected: Any, up_to: Any) -> None:
    try:
        agree(actual, expected, up_to=up_to, hints={"the other way": copy.deepcopy(actual)})
        message = ""
    except Disagreement as error:
        message = str(error)
    assert message.isprintable()
    assert len(message) < 1000


@QUIET
@given(values)
def test_copy_agrees(value: Any) -> None:
    agree(copy.deepcopy(value), value)
    agree(copy.deepcopy(value), value, up_to=("order", "spaces", "sign"))
    agree(copy.deepcopy(value), value, up_to="polarity")


@QUIET
@given(st.lists(values, min_size=1, max_size=4), opaque, st.data())
def test_remote_object_agrees_with_nothing(items: list[Any], ref: Ref, data: st.DataObject) -> None:
    """Not even where the expected value is None or empty."""
    at = data.draw(st.integers(0, len(items) - 1))
    for actual, expected in [
        (ref, items[at]),
        ([*items[:at], ref, *items[at + 1 :]], items),
        ({"a": ref}, {"a": items[at]}),
        ((ref,), [items[at]]),
    ]:
        with pytest.raises(Disagreement):
            agree(actual, expected)


@QUIET
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-4, 1e6), st.booleans())
def test_relative_error(expected: float, factor: float, up: bool) -> None:
    wrong = expected * (1 + factor) if up else expected * (1 - factor)
    if not math.isfinite(wrong) or abs(expected) < 1e-6:
        return
    with pytest.raises(Disagreement):
        agree(wrong, expected)
    with pytest.raises(Disagreement):
        agree([wrong], [expected])


@QUIET
@given(st.floats(-1e300, 1e300), st.floats(-1e-6, 1e-6))
def test_rounding_error(expected: float, error: float) -> None:
    agree(expected * (1 + error), expected)
    agree(np.array([expected]) * (1 + error), np.array([expected]))


@QUIET
@given(st.integers(-(10**12), 10**12), st.integers(-5, 5).filter(bool))
def test_neighboring_whole_number(expected: int, error: int) -> None:
    for wrong in (expected + error, float(expected + error), Fraction(expected + error), np.int64(expected + error)):
        with pytest.raises(Disagreement):
            agree(wrong, expected)
    with pytest.raises(Disagreement):
        agree([expected + error, 0], [expected, 0])
    with pytest.raises(Disagreement):
        agree([float(expected + error), 0.0], [expected, 0])


@QUIET
@given(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), elements=st.floats(-9, 9)), st.data()
)
def test_no_broadcasting(expected: Any, data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, max_side=3).filter(lambda s: s != expected.shape))
    try:
        answer = (
            np.broadcast_to(expected, shape) if data.draw(st.booleans()) else expected.reshape(-1)[:1].reshape(shape)
        )
    except ValueError:
        return
    with pytest.raises(Disagreement, match=r"shape|element|number"):
        agree(answer, expected)


def assert_cheap(question: Callable[[], None], cpu_s: float = 5.0, memory_mib: int = 150) -> None:
    """Asked twice: once for its processor time, once for its memory, since tracing memory takes time.

    What this guards against takes minutes; the bound leaves room for a machine that others use as well.
    """
    start = time.process_time()
    question()
    assert time.process_time() - start < cpu_s
    tracemalloc.start()
    question()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory_mib * 2**20


def disagrees(answer: Any, expected: Any, **how: Any) -> None:
    with pytest.raises(Disagreement) as raised:
        agree(answer, expected, **how)
    assert len(str(raised.value)) < 500


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


LARGE: dict[str, Callable[[], Any]] = {
    "a huge number": lambda: 10**300_000,
    "huge numbers in a list": lambda: [1 << (1 << 20)] * 50,
    "a huge fraction": lambda: Fraction(10**9_000 + 1, 10**9_000),
    "a long decimal": lambda: Decimal("1." + "7" * 9_000),
    "a short text of a long decimal": lambda: Decimal("1e999999"),
    "a long text": lambda: "ab " * 2_500_000,
    "long texts beside a number": lambda: ["x" * 8_000_000, *range(10_000)],
    "a large array": lambda: np.zeros(32_000_000),
    "a large array of bytes": lambda: np.zeros((16_000, 16_000), dtype=np.uint8),
    "a large array of texts": lambda: np.zeros(60_000_000, dtype="S1"),
    "a large list": lambda: list(range(1_000_000)),
    "a large matrix in lists": lambda: [[0.5] * 1000 for _ in range(1000)],
    "many empty lists": lambda: [[] for _ in range(300_000)],
    "a deep list": lambda: nested(5_000),
    "many arrays": lambda: [np.zeros(1) for _ in range(4_000)],
    "a large dict": lambda: {str(i): i for i in range(300_000)},
    "a large set": lambda: set(range(300_000)),
    "all nan": lambda: np.full(3_000_000, np.nan),
    "a list of different things": lambda: [None, "a", 1, 2.5, b"x"] * 100_000,
}
EXPECTED = [
    0.5, 7, None, "text", [1, 2, 3], [[0.5]], np.eye(3), {"a": 1}, {1, 2}, Counter("ab"), ["a", "b"], [None, "a"], True,
    [[1, 2], [3]],
]  # fmt: skip


@pytest.mark.parametrize("size", LARGE)
def test_large_values_are_cheap(size: str) -> None:
    value = LARGE[size]()

    def question() -> None:
        for expected in EXPECTED:
            disagrees(value, expected)
            disagrees(value, expected, up_to=("polarity", "order", "sign", "spaces"))

    assert_cheap(question)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_large_arrays_in_bounded_memory(bad: float) -> None:
    expected = np.ones((1000, 1000))
    answer = np.ones((1000, 1000))
    agree(answer, expected)
    answer[500:] = bad
    assert_cheap(lambda: disagrees(answer, expected), memory_mib=200)


@pytest.mark.long
def test_many_items_in_any_order() -> None:
    pairs = [(i, f"token {i}") for i in range(190)]
    numbers = [i / 7 for i in range(8_000)]

    def question() -> None:
        agree(pairs[::-1], pairs, up_to="order")
        disagrees([(i, 0.5) for i in range(190)], pairs, up_to="order")
        agree(numbers[::-1], numbers, up_to="order")
        agree({x * (1 + 1e-9) for x in numbers}, set(numbers))
        disagrees({x + 1e-3 for x in numbers}, set(numbers))

    assert_cheap(question, cpu_s=3.0)


@pytest.mark.parametrize("answer", [[], [[0, "x"]] * 500, list(range(500))])
def test_too_expensive_for_the_author(answer: Any) -> None:
    """A grader error that only some answers cause would leave their points open."""
    expected = [[i, [i]] for i in range(500)]
    if len(answer) == 500:
        with pytest.raises(GraderError, match="compare them sorted"):
            agree(answer, expected, up_to="order")


@pytest.mark.parametrize("expected", [object(), [1, object()], {"a": lambda: 1}, Ref(1, "f", ""), nested(70)])
def test_expected_value_without_plain_form(expected: Any) -> None:
    with pytest.raises(GraderError, match="agree: "):
        agree(copy.copy(expected) if isinstance(expected, list | dict) else 1, expected)

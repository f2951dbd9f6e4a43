"""Casting buys nothing: in every comparison, an answer gets the same verdict in each dtype."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from viva.compare.tolerances import roundings
from viva.grading import Disagreement, agree, agree_on

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
EXPECTED = np.random.default_rng(1).normal(size=(4, 6))
ONE = 0.8265168696

# How a test may compare an answer whose values are the expected ones times `factor`, cast to a dtype.
COMPARISONS: dict[str, Callable[[torch.dtype, float], None]] = {
    "array": lambda dtype, factor: agree(cast(EXPECTED * factor, dtype), EXPECTED),
    "float32 expected": lambda dtype, factor: agree(cast(EXPECTED * factor, dtype), EXPECTED.astype(np.float32)),
    "small numbers": lambda dtype, factor: agree(cast(EXPECTED * 1e-3 * factor, dtype), EXPECTED * 1e-3),
    "rows": lambda dtype, factor: agree(list(cast(EXPECTED * factor, dtype)), EXPECTED.tolist()),
    "in a dict": lambda dtype, factor: agree({"a": [cast(EXPECTED * factor, dtype)]}, {"a": [EXPECTED]}),
    "tensor": lambda dtype, factor: agree(torch.tensor(EXPECTED * factor, dtype=dtype), EXPECTED),
    "in any order": lambda dtype, factor: agree(cast(EXPECTED[0] * factor, dtype)[::-1], EXPECTED[0], up_to="order"),
    "up to the sign": lambda dtype, factor: agree(-cast(EXPECTED * factor, dtype), EXPECTED, up_to="sign"),
    "with a tolerance": lambda dtype, factor: agree(cast(EXPECTED * factor, dtype), EXPECTED, rtol=1e-4, atol=1e-6),
    "functions": lambda dtype, factor: agree_on(
        lambda x: cast(EXPECTED * x * factor, dtype), lambda x: EXPECTED * x, st.floats(1, 2)
    ),
}


def cast(values: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    """Return what the examiner receives of a tensor: bfloat16 arrives as float32."""
    tensor = torch.tensor(values, dtype=dtype)
    return (tensor.float() if dtype is torch.bfloat16 else tensor).numpy()


@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_same_verdict_in_every_dtype(comparison: str, dtype: torch.dtype) -> None:
    COMPARISONS[comparison](dtype, 1.0)
    for factor in (1.007, 0.993, 1.002, 1.01, 0.99, -1.0 if comparison != "up to the sign" else 1.1):
        with pytest.raises(Disagreement):
            COMPARISONS[comparison](dtype, factor)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16], ids=str)
def test_number_in_every_dtype(dtype: torch.dtype) -> None:
    def answers(value: float) -> list[object]:
        array = cast(np.array([value]), dtype)
        return [array, array[0], torch.tensor(value, dtype=dtype), [array[0]]]

    for answer in answers(ONE):
        agree(answer, [ONE] if isinstance(answer, list) else ONE)
    for factor in (1.007, 0.993, 1.001):
        for answer in answers(ONE * factor):
            with pytest.raises(Disagreement):
                agree(answer, [ONE] if isinstance(answer, list) else ONE)


def test_half_precision_is_named() -> None:
    """Many steps in half precision add up their rounding: the student should know why the digits are missing."""
    with pytest.raises(Disagreement, match="compute in float32 or float64"):
        agree((EXPECTED * 1.002).astype(np.float16), EXPECTED)
    with pytest.raises(Disagreement) as raised:
        agree(EXPECTED * 1.00005, EXPECTED)
    assert "half precision" not in str(raised.value)


def test_expected_half_precision() -> None:
    expected = EXPECTED.astype(np.float16)
    agree((EXPECTED * 1.002).astype(np.float16), expected)
    agree(EXPECTED * 1.002, expected)
    with pytest.raises(Disagreement):
        agree(EXPECTED * 1.05, expected)


def test_overflow_of_a_dtype_is_refused() -> None:
    with pytest.raises(Disagreement):
        agree(np.array([np.inf, 1.0], dtype=np.float16), [1e6, 1.0])
    with pytest.raises(Disagreement):
        agree(np.float16(np.inf), 1e6)
    agree(np.float16(np.inf), np.inf)


def test_nearest_whole_number() -> None:
    agree(np.float32(21_018_401), 21_018_401)
    agree(np.array([21_018_401, 1], dtype=np.float32), [21_018_401, 1])
    for wrong in (np.float32(21_018_404), np.float16(2050), np.float32(2.2)):
        with pytest.raises(Disagreement):
            agree(wrong, {21_018_404: 21_018_401, 2050: 2047}.get(int(wrong), 2))
    agree(np.float16(0.9167), Fraction(11, 12))


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=8, max_size=20, unique=True))
def test_bfloat16_equals_torch(values: list[float]) -> None:
    """Against torch, over the whole range of float32."""
    array = np.array(values, dtype=np.float64)
    arrived = cast(array, torch.bfloat16)
    round_as = roundings(arrived)
    if round_as is not None and len(np.unique(arrived)) >= 4:
        np.testing.assert_array_equal(round_as(array), arrived.astype(np.float64))

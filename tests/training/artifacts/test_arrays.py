"""Predictions and checkpoints as arrays, bit for bit as numpy and safetensors wrote them, and their accuracy."""

import io
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from safetensors.numpy import save

from viva.plugins.training import artifacts
from viva.plugins.training.artifacts.array_files import UnusableFile
from viva.plugins.training.artifacts.prediction_files import classes_of, read_predictions
from viva.plugins.training.artifacts.submitted_files import read_checkpoint

RIGHT = np.array([1, 0, 0, 1, 1])
SCORES = np.array([[0.25, 0.75], [2, -1], [0.5, 0.25], [-3, 4.5], [0, 1e-3]])


def npz(compressed: bool = False, /, *arrays: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, *arrays, **named)
    return file.getvalue()


def npy(array: Any, pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=pickle)
    return file.getvalue()


def read(data: bytes, classes: Any = 2, n: int = 5, ids: Any = None) -> Any:
    return read_predictions(data, n, classes_of(classes), ids).tolist()


@pytest.mark.parametrize("dtype", ["i8", "<u1", ">i4", "f4", ">f8", "f2", "?", "U1", "<i2"])
def test_array_of_every_dtype_is_read(dtype: str) -> None:
    array = RIGHT.astype(dtype)
    assert read(npy(array)) == read(npz(False, array)) == read(npz(True, array)) == RIGHT.tolist()


@pytest.mark.parametrize(
    "data",
    [
        npz(False, predictions=RIGHT),
        npz(True, predictions=RIGHT, labels=1 - RIGHT),
        npz(False, predictions=RIGHT[[4, 2, 0, 1, 3]], id=[4, 2, 0, 1, 3]),
        npz(False, prediction=RIGHT[[4, 2, 0, 1, 3]], id=np.array([5, 3, 1, 2, 4])),
        npz(False, RIGHT[:, None]),
        npz(False, RIGHT[None, :]),
        npz(False, np.array(["b", "a", "a", "b", "b"])),
        save({"predictions": RIGHT}),
    ],
)
def test_class_arrays(data: bytes) -> None:
    assert read(data, ["a", "b"]) == RIGHT.tolist()


@pytest.mark.parametrize(
    "data",
    [npy(SCORES), npy(np.asfortranarray(SCORES)), npz(True, SCORES), npz(False, logits=SCORES),
     npz(False, predictions=SCORES[::-1], id=[4, 3, 2, 1, 0])],
)  # fmt: skip
def test_score_arrays(data: bytes) -> None:
    assert read(data) == SCORES.tolist()
    assert read(data, None) == SCORES.tolist()


def test_constant_answer() -> None:
    n = 4_000_000
    data = npz(True, np.zeros(n, np.int64))
    assert len(data) < 40_000
    assert read_predictions(data, n, classes_of(2)).shape == (n,)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (npy(RIGHT[:4]), r"of shape \(4,\); expected \(5,\) or \(5, 2\)"),
        (npy(SCORES.T), r"of shape \(2, 5\); expected \(5,\) or \(5, 2\)\."),
        (npy(np.zeros((5, 3))), r"of shape \(5, 3\); expected \(5,\) or \(5, 2\)\."),
        (npy(np.zeros((5, 2, 1))), r"of shape \(5, 2, 1\)"),
        (npy(np.float64(3)), r"of shape \(\)"),
        (npy(RIGHT + 1), "in row 1 says 2; expected a class from 0 to 1"),
        (npy(RIGHT - 1), "in row 2 says -1; expected a class from 0 to 1"),
        (npy(RIGHT / 2), "in row 1 says 0.5; expected a class from 0 to 1"),
        (npy(np.full(5, np.nan)), "in row 1 says nan"),
        (npy(np.full(5, 2**64 - 1, np.uint64)), "in row 1 says 18446744073709551615"),
        (npy(np.where(SCORES == 4.5, np.nan, SCORES)), "in row 4 holds NaN as the score of class 1"),
        (npy(RIGHT.astype(complex)), "type complex128"),
        (npy(RIGHT.astype("m8[s]")), r"type timedelta64\[s\]"),
        (npy(np.zeros(5, [("a", "i4")])), "of type "),
        (npz(False, RIGHT, RIGHT), "holds the arrays 'arr_0', 'arr_1': call the one with your answers `predictions`"),
        (npz(False), "a zip archive without arrays"),
    ],
)
def test_unusable_arrays(data: bytes, says: str) -> None:
    with pytest.raises(UnusableFile, match=says):
        read(data)


NUMBERS = npst.scalar_dtypes().filter(lambda dtype: dtype.kind in "biuf" and dtype.itemsize <= 8)


@given(npst.arrays(NUMBERS, npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)), st.booleans())
def test_numpy_round_trip(array: Any, compressed: bool) -> None:
    if array.dtype.kind == "f":
        array = np.asarray(np.nan_to_num(array))
    loaded = read_checkpoint(npz(compressed, weight=array, bias=array.T))
    assert (loaded["weight"].shape, loaded["bias"].shape) == (array.shape, array.T.shape)
    assert np.array_equal(loaded["weight"], array) and np.array_equal(loaded["bias"], array.T)


@given(
    st.dictionaries(
        st.text(max_size=12).filter(lambda name: name != "__metadata__"),
        npst.arrays(NUMBERS.map(lambda d: d.newbyteorder("<")), npst.array_shapes(min_dims=0, min_side=0, max_side=4)),
        max_size=3,
    )
)
def test_safetensors_round_trip(tensors: dict[str, Any]) -> None:
    tensors = {name: np.asarray(np.nan_to_num(t)) if t.dtype.kind == "f" else t for name, t in tensors.items()}
    loaded = read_checkpoint(save(tensors, metadata={"format": "np"}))
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].shape == tensor.shape and np.array_equal(loaded[name], tensor)
        assert loaded[name].dtype == (np.float32 if tensor.dtype == np.float16 else tensor.dtype)


def test_header_of_any_length() -> None:
    """A header of 640 bytes begins like a pickle of protocol 2 (80 02), one of 376 like something by zlib (78 01)."""
    for length in range(64, 1100, 8):
        header = b'{"a":{"dtype":"I8","shape":[],"data_offsets":[0,1]}}'.ljust(length)
        data = struct.pack("<Q", length) + header + b"\7"
        assert read_checkpoint(data)["a"] == 7


@pytest.mark.slow
def test_half_precision() -> None:
    torch = pytest.importorskip("torch")
    from safetensors.torch import save as save_torch

    values = torch.tensor([[1.5, -2.25, 3e38, float("-inf")], [0.0, 1e-40, -0.0, 65504]])
    tensors = {"b": values.bfloat16(), "h": values.clamp(-6e4, 6e4).half(), "f": values, "empty": torch.zeros(0, 3)}
    loaded = read_checkpoint(save_torch(tensors))
    for name, tensor in tensors.items():
        assert loaded[name].dtype == np.float32 and np.array_equal(loaded[name], tensor.float().numpy())


def test_declared_shapes() -> None:
    weights = {"head.weight": np.ones((2, 3), np.float32), "head.bias": np.zeros(2, np.float32)}
    shapes = {"head.weight": (2, 3), "head.bias": [2]}
    more: dict[str, np.ndarray] = {**weights, "position_ids": np.arange(4)}
    for data in (save(weights), npz(False, **weights), save(more), save({f"module.{k}": v for k, v in more.items()})):
        assert list(read_checkpoint(data, shapes)) == list(shapes)
    with pytest.raises(UnusableFile, match=r"holds 'head.weight' of shape \(3, 2\); expected \(2, 3\)"):
        read_checkpoint(save({**weights, "head.weight": np.ones((3, 2))}), shapes)
    with pytest.raises(UnusableFile, match=r"lacks 'head.weight'; it holds 'head.bias', 'other'"):
        read_checkpoint(save({"head.bias": np.zeros(2), "other": np.zeros(2)}), shapes)
    with pytest.raises(UnusableFile, match=r"holds NaN in 'head.bias'"):
        read_checkpoint(save({**weights, "head.bias": np.array([0, np.nan])}), shapes)


def test_accuracy_is_an_exact_share() -> None:
    labels = np.arange(3270) < 2033
    assert artifacts.accuracy(np.ones(3270, np.int64), labels) == Fraction(2033, 3270)
    assert artifacts.accuracy(np.array([[0.0, 1.0]] * 3), [1, 1, 0]) == Fraction(2, 3)


def test_tied_scores() -> None:
    scores = np.array([[1.0, 1.0], [0.0, 2.0], [-np.inf, -np.inf], [3.0, -1.0]])
    assert artifacts.predicted_classes(scores).tolist() == [0, 1, 0, 0]
    assert artifacts.tied_rows(scores).tolist() == [0, 2]
    assert artifacts.tied_rows(np.array([1, 1])).tolist() == []
    assert artifacts.accuracy(scores, [1, 1, 0, 0]) == Fraction(3, 4)


def test_accuracy_of_other_lengths() -> None:
    with pytest.raises(ValueError, match="expected one for each row"):
        artifacts.accuracy(np.array([1, 0]), [1, 0, 0])
    with pytest.raises(ValueError, match="expected one for each row"):
        artifacts.accuracy(np.array([], np.int64), [])


@pytest.mark.parametrize("classes", [1, 0, ["a"], ["a", "A "]])
def test_invalid_classes(classes: Any) -> None:
    submission: Any = None  # the arguments are checked first
    with pytest.raises(ValueError, match="two or more classes"):
        artifacts.predictions(submission, "p.csv", 3, classes=classes)
    with pytest.raises(ValueError, match="expected one row or more"):
        artifacts.predictions(submission, "p.csv", 3, ids=[1, 1, 2])

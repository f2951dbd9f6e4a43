"""Predictions and checkpoints: any bytes give arrays of the right shape, or one sentence; none is unpickled."""

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.fuzz.target import Target, expect, expect_sentence, fixtures
from viva.plugins.training.artifacts.array_files import UnusableFile
from viva.plugins.training.artifacts.prediction_files import classes_of, read_predictions
from viva.plugins.training.artifacts.submitted_files import read_checkpoint
from viva.plugins.training.audits import audit_predictions

N = 5
CLASSES = (2, ["no", "yes"], None, 3)
SHAPES = {"a": (2, 3), "b": (5,)}
LABELS = [1, 0, 0, 1, 1]


def check(data: bytes) -> None:
    """Read the bytes as predictions under every kind of classes, and as weights."""
    for classes in CLASSES:
        try:
            found = read_predictions(data, N, classes_of(classes), [7, 8, 9, "x", 10] if data[-1:] == b"\n" else None)
        except UnusableFile as why:
            _expect_refusal(why)
            continue
        count = len(classes) if isinstance(classes, list) else classes
        _expect_predictions(found, count)
    for shapes in (None, SHAPES):
        try:
            arrays = read_checkpoint(data, shapes)
        except UnusableFile as why:
            _expect_refusal(why)
            continue
        expect(shapes is None or {name: array.shape for name, array in arrays.items()} == shapes, "other shapes")
        expect(all(array.dtype.kind in "biuf" for array in arrays.values()), "weights that are no numbers")
        expect(sum(array.nbytes for array in arrays.values()) <= 1 << 25, "weights without end")


def _expect_refusal(why: UnusableFile) -> None:
    expect_sentence(str(why))
    expect(str(why).endswith("."), "no whole sentence")


def _expect_predictions(found: Any, count: int | None) -> None:
    if found.ndim == 1:
        expect(found.shape == (N,) and found.dtype == np.int64, f"labels {found.dtype} {found.shape}")
        expect((found >= 0).all() and (count is None or (found < count).all()), "a class that there is not")
    else:
        expect(found.shape == (N, count or found.shape[1]) and found.shape[1] > 1, f"scores {found.shape}")
        expect(found.dtype == np.float64 and not np.isnan(found).any(), "scores that are no numbers")
    if found.ndim == 1 or found.shape[1] == 2:
        for finding in audit_predictions(found, LABELS, reported="60 %"):
            expect_sentence(finding.text)


def npy(array: Any) -> bytes:
    """An array as np.save writes it."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(method: int, **arrays: Any) -> bytes:
    """Arrays as np.savez writes them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), npy(array), method)
    return file.getvalue()


def tensors(header: Any, body: bytes) -> bytes:
    """A file in the safetensors format."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def seeds() -> Iterator[bytes]:
    """Every format and every layout of it."""
    for text in (
        "id,prediction\n0,1\n1,0\n2,0\n3,1\n4,1\n", "1\n0\n0\n1\n1\n", "no\nyes\nno\nyes\nyes",
        "id,no,yes\n4,0.1,0.9\n3,0.1,0.9\n2,1,0\n1,1,0\n0,1,0\n", "0,1,2\n" + "0.5,1,2\n" * 5, '"a\nb",1\n',
        'id,prediction\n7,1.0\n8,0\n9,1.0\n"x",0\n10,1\n', "prediction;id\n1;0\n",
    ):  # fmt: skip
        yield text.encode()
    yield "prediction\n1\n0\n0\n1\n1\n".encode("utf-16")
    labels, weights = np.array(LABELS), {"a": np.ones((2, 3), np.float32), "b": np.arange(5, dtype=np.float16)}
    for array in (
        labels,
        labels.astype("<U1"),
        labels.astype(bool),
        np.eye(5)[:, :2],
        np.asfortranarray(np.eye(5, 2)),
    ):
        yield npy(array)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        yield npz(method, predictions=labels, id=np.arange(5)[::-1])
        yield npz(method, **weights)
    entry = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
    yield tensors(entry, np.asarray(weights["a"]).tobytes())
    yield tensors({**entry, "module.b": {"dtype": "BF16", "shape": [5], "data_offsets": [24, 34]}}, bytes(34))
    yield from (pickle.dumps(LABELS, protocol) for protocol in range(6))
    yield from (data for data in fixtures("*.safetensors", "*.npz") if len(data) < 4096)


WORDS = (
    "prediction", "id,", "logits", "label", "tensor(", "np.int64(", "NaN", "1e999", "inf", "'descr': ",
    "'fortran_order': ", "'shape': (", "<f8", "|b1", "<U1", "|O", b"\x93NUMPY\x01\0", b"PK\x03\x04", b"PK\x01\x02",
    b"PK\x05\x06", '"dtype":"F32"', '"shape":[', '"data_offsets":[', '"BF16"', '"BOOL"', "module.", b"\x80\x04",
    b"\xff\xfe", "٣", "True", "yes",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS)

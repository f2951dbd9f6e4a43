"""Checkpoints in the safetensors format, read without torch or another library.

The format (huggingface/safetensors, README): eight bytes with the length of the header, little-endian; the header, JSON
with {name: {"dtype", "shape", "data_offsets"}}; then the bytes of all tensors, without gaps and without overlaps.
"""

import json
import math
from collections.abc import Sequence
from typing import Final, TypeGuard

import numpy as np

from viva.compare.show import show
from viva.grading.artifacts.numpy_files import Array
from viva.grading.artifacts.unusable import Unusable, is_possible

MOST_HEADER: Final = 2 << 20
"""Bytes; a large model's header has a tenth of it."""
_ADVICE: Final = "it was cut off or damaged; save it again by safetensors.torch.save_file."
_DTYPES: Final = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|u1",
}  # fmt: skip


def read_safetensors(data: bytes) -> dict[str, Array]:
    """Return the tensors by name as separate arrays; half precision (F16, BF16) becomes float32, exactly.

    Raises:
        Unusable: the header is broken, or declares tensors that the file does not hold.
    """
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise Unusable(f"says that its header has {length:,} bytes, and is {len(data):,} bytes long: {_ADVICE}")
    if length > MOST_HEADER:
        raise Unusable(f"has a header of {length >> 20} MiB; expected at most {MOST_HEADER >> 20} MiB.")
    header = _header(data[8 : 8 + length])
    header.pop("__metadata__", None)
    places = {name: _place(name, entry) for name, entry in header.items()}
    _check_layout([(begin, end) for _, _, begin, end in places.values()], len(data) - 8 - length)
    body = 8 + length
    return {name: _array(data, dtype, shape, body + begin) for name, (dtype, shape, begin, _) in places.items()}


def _header(written: bytes) -> dict[str, object]:
    # A tensor has ten quotation marks and three brackets; with many more, the objects would outgrow the file by far.
    tensors = written.count(b"{")
    if written.count(b'"') > 10 * tensors + 10_000 or written.count(b"[") > 2 * tensors + 1000:
        raise Unusable("has a header with more in it than tensors: write it by safetensors.torch.save_file.")
    try:
        header = json.loads(written.decode("utf-8"), object_pairs_hook=_without_duplicates)
    except Unusable:
        raise
    except (ValueError, RecursionError):
        raise Unusable(f"has a header that is not JSON: {_ADVICE}") from None
    if not isinstance(header, dict):
        raise Unusable(f"has a header that is not a table of tensors: {_ADVICE}")
    return header


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for name, value in pairs:
        if name in table:
            raise Unusable(f"holds {show(name)} twice: give each tensor a name of its own.")
        table[name] = value
    return table


def _place(name: str, entry: object) -> tuple[str, tuple[int, ...], int, int]:
    """Return type, shape, and where the tensor begins and ends after the header."""
    tensor = f"holds the tensor {show(name)}"
    fields = entry if isinstance(entry, dict) else {}
    dtype, shape, offsets = (fields.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2 or not is_possible(shape):
        raise Unusable(f"{tensor} with a shape or a place that is none: {_ADVICE}")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise Unusable(f"{tensor} of type {show(dtype)}: save it as float32, by `tensor.float()`.")
    needed, held = math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize, offsets[1] - offsets[0]
    if needed != held:
        raise Unusable(
            f"{tensor} of shape {show(tuple(shape))}, {show(needed)} bytes, in {show(held)} bytes: {_ADVICE}"
        )
    return dtype, tuple(shape), offsets[0], offsets[1]


def _are_sizes(sizes: object) -> TypeGuard[list[int]]:
    # Whole numbers alone: True is an int to isinstance, and 10**400 would make every product slow.
    return isinstance(sizes, list) and all(type(size) is int and 0 <= size < 1 << 63 for size in sizes)


def _check_layout(places: Sequence[tuple[int, int]], held: int) -> None:
    reached = 0
    for begin, end in sorted(places):
        if begin != reached:
            what = "overlap" if begin < reached else "have a gap between them"
            raise Unusable(f"holds tensors that {what}, at byte {begin:,} behind the header: {_ADVICE}")
        reached = end
    if reached != held:
        raise Unusable(f"says that its tensors have {reached:,} bytes, and holds {held:,}: {_ADVICE}")


def _array(data: bytes, dtype: str, shape: tuple[int, ...], start: int) -> Array:
    raw: Array = np.frombuffer(data, _DTYPES[dtype], math.prod(shape), start)
    if dtype == "BF16":  # the upper half of a float32
        widened = raw.astype("<u4")
        widened <<= 16
        return widened.view("<f4").reshape(shape)
    if dtype == "F16":
        return raw.astype(np.float32).reshape(shape)
    return (raw != 0 if dtype == "BOOL" else raw.copy()).reshape(shape)

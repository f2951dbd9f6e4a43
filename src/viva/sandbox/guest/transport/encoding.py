"""Encode values: one msgpack text for the structure, and the large arrays as separate buffers, without a copy.

msgpack's own types carry None, bool, int of 64 bits, float, str, bytes and list. Everything else is a map of one entry,
`{tag: content}`, so that one call of msgpack's C code writes and reads a whole message:

    t tuple   s set   z frozenset   d dict [key, value, key, ...]
    a array [dtype, shape, bytes | index]   l list of numpy scalars, as an array   g numpy scalar [dtype, bytes]
    r Ref [id, type name, text]   F data frame or series [see frames.py]
    T torch tensor [dtype, array...], f function [expression, statements]; both towards the box only
    and the tags of value_types.py
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Collection, Dict, List, Optional, Tuple, Union

import msgpack
import numpy as np

from .frames import Frame
from .library_types import library_type
from .value_types import CONTAINERS, KEEP, VALUE_TYPES, sent_int, type_of
from .wire_values import CAPS, DTYPE, Code, Ref, Tensor, TooLarge, too_large

if TYPE_CHECKING:
    from .wire_values import Array, Dtype

Part = Union[bytes, memoryview]
Encode = Callable[[Any], object]
Writer = Callable[["Encoder", Any, int], object]

_INLINE_BYTES = 1024
"""Arrays up to this size are part of the text, so that a list of 100,000 short vectors needs no 100,000 buffers."""
_LONG = 8
_DEPTH = CAPS.depth - 4
"""Room for the reply around a value."""
_INTS = {int}
_AS_IS = frozenset(row.kind for row in VALUE_TYPES if not row.tag)
_packb = msgpack.packb
_contiguous, _as_array, _array_of, _dtype_of, _uint8 = np.ascontiguousarray, np.asarray, np.array, np.dtype, np.uint8


class Encoder:
    """Encodes one message; `buffers` then holds the arrays that are sent after the text."""

    def __init__(self, encode: Optional[Encode] = None) -> None:
        """Make an encoder.

        Args:
            encode: called with each value of an unknown type; returns a value that is one step plainer, and finally
                one of the types above or a Ref. Without it such values raise TypeError.
        """
        self._encode = encode
        self._containers = self._items = self._bytes = 0
        self._in_key = False
        self.buffers: List[memoryview] = []

    def message(self, value: object) -> bytes:
        """Encode `value`; return the msgpack part.

        Raises:
            TypeError: A value has a type that cannot be sent, and there is no `encode` to convert it.
            TooLarge: The message exceeds the caps.
        """
        packed: bytes = _packb(self._pack(value, 0), strict_types=True, unicode_errors="surrogatepass")
        if len(packed) > CAPS.message_bytes:
            raise TooLarge(too_large(f"{len(packed) >> 20} MiB", f"{CAPS.message_bytes >> 20} MiB without arrays"))
        return packed

    def _pack(self, value: object, depth: int) -> object:
        kind = type(value)
        if kind in _AS_IS:
            return value
        writer = _WRITERS.get(kind)
        if writer is not None:
            return writer(self, value, depth)
        if kind in _NUMPY_SCALARS:
            return self._scalar(value, depth)
        return self._pack(self._plainer(value), depth)

    def _plainer(self, value: object) -> object:
        if self._encode is not None:
            return self._encode(value)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            dtype = str(value.dtype).rpartition(".")[2]
            found = value.detach().cpu()
            return Tensor((found.float() if dtype == "bfloat16" else found).numpy(), dtype)
        plain = _exact(value)
        if plain is not KEEP:
            return plain
        raise TypeError(
            f"a value of type {type(value).__name__} cannot be sent to the box; send numbers, texts, dates, lists, "
            "dicts, arrays, tensors and data frames, or draw the value by `functions` or `built`"
        )

    def _count(self, items: int, depth: int) -> None:
        self._containers += 1
        self._items += items
        if self._items > CAPS.items or self._containers > CAPS.containers:
            raise TooLarge(too_large(f"more than {CAPS.items:,} parts", f"{CAPS.containers:,} containers"))
        if depth > CAPS.depth:
            raise TooLarge(too_large(f"more than {CAPS.depth} levels", f"{CAPS.depth} levels"))

    def _pack_all(self, items: Collection[object], depth: int) -> List[object]:
        self._count(len(items), depth)
        kinds = set(map(type, items))
        if kinds <= _AS_IS or (kinds == _INTS and _are_sent_as_they_are(items)):  # type: ignore[arg-type]  # ints
            return list(items)
        if depth >= _DEPTH and self._encode is not None and not kinds <= _LEAVES:
            return [self._leaf(item, depth) for item in items]
        pack, depth = self._pack, depth + 1
        return [pack(item, depth) for item in items]

    def _leaf(self, value: object, depth: int) -> object:
        """Pack an item at the deepest level; containers stay in the box, so a list that contains itself ends."""
        plain = value
        while type(plain) not in _WRITERS and type(plain) not in _AS_IS and type(plain) not in _NUMPY_SCALARS:
            plain = self._plainer(plain)
        return self._pack(self._plainer(Deep(value)) if type(plain) in CONTAINERS else plain, depth + 1)

    def _list(self, value: List[Any], depth: int) -> object:
        if self._in_key:
            return self._tuple(tuple(value), depth)
        if len(value) >= _LONG and type(value[0]) in _NUMBER_SCALARS and set(map(type, value)) == {type(value[0])}:
            self._count(len(value) + 4, depth)
            return {"l": self._array_parts(_array_of(value, dtype=value[0].dtype))}
        return self._pack_all(value, depth)

    def _tuple(self, value: Tuple[object, ...], depth: int) -> object:
        return {"t": self._pack_all(value, depth)}

    def _set(self, value: Collection[object], depth: int) -> object:
        return {"s" if type(value) is set and not self._in_key else "z": self._hashable(list(value), depth)}

    def _dict(self, value: Dict[object, object], depth: int) -> object:
        if self._in_key:
            return self._pack(self._plainer(Deep(value)), depth)
        keys = self._hashable(list(value), depth)
        values = self._pack_all(list(value.values()), depth)
        pairs: List[object] = [None] * (2 * len(keys))
        pairs[::2], pairs[1::2] = keys, values
        return {"d": pairs}

    def _hashable(self, items: List[object], depth: int) -> List[object]:
        """Pack items of sets and keys of dicts, so that what is hashable in the box is hashable outside."""
        outer, self._in_key = self._in_key, True
        try:
            return self._pack_all(items, depth)
        finally:
            self._in_key = outer

    def _int(self, value: int, depth: int) -> object:
        if -(1 << 63) <= value < 1 << 64:  # again, because most values are small integers
            return value
        return sent_int(value)

    def _ref(self, value: Ref, depth: int) -> object:
        self._count(3, 0)
        return {"r": [value.id, value.type_name, value.text]}

    def _array(self, value: Array, depth: int) -> object:
        if self._in_key and value.size == 1:
            return self._scalar(value.reshape(())[()], depth)
        if self._in_key or not _can_cross(value.dtype):
            return self._pack(self._plainer(Deep(value) if self._in_key else value), depth)
        self._count(3, 0)
        self._count(value.ndim, 0)
        return {"a": self._array_parts(value)}

    def _array_parts(self, value: Array) -> List[object]:
        shape = list(value.shape)
        data = _contiguous(value, dtype=_native(value.dtype)).reshape(-1)
        if data.nbytes <= _INLINE_BYTES:
            return [data.dtype.str, shape, data.tobytes()]
        self._bytes += data.nbytes
        if self._bytes > CAPS.buffer_bytes or len(self.buffers) >= CAPS.buffers:
            raise TooLarge(
                too_large(
                    f"{self._bytes >> 20} MiB in {len(self.buffers) + 1} arrays",
                    f"{CAPS.buffer_bytes >> 20} MiB in {CAPS.buffers} arrays",
                )
            )
        self.buffers.append(data.view(_uint8).data)
        return [data.dtype.str, shape, len(self.buffers) - 1]

    def _scalar(self, value: Any, depth: int) -> object:
        if not _can_cross(value.dtype):
            return self._pack(self._plainer(value), depth)
        self._count(2, 0)
        data = _as_array(value, dtype=_native(value.dtype))
        return {"g": [data.dtype.str, data.tobytes()]}

    def _frame(self, value: Frame, depth: int) -> object:
        if self._in_key:
            return self._pack(self._plainer(Deep(value)), depth)
        return {"F": self._pack_all(value.parts(), depth)}

    def _tensor(self, value: Tensor, depth: int) -> object:
        return {"T": [value.dtype, *self._array_parts(value.array)]}

    def _function(self, value: Code, depth: int) -> object:
        self._count(2, 0)
        return {"f": [value.expression, value.statements]}


def _exact(value: object) -> object:
    """Return a value of a subclass as one of its type, and one of pandas as a frame; KEEP for any other value."""
    row, of_library = type_of(value), library_type(type(value))
    if row is not None:
        return row.exact(value)
    return of_library.plain(value) if of_library is not None and of_library.module.startswith("pandas") else KEEP


def _are_sent_as_they_are(values: Collection[int]) -> bool:
    return min(values) >= -(1 << 63) and max(values) < 1 << 64


class Deep:
    """Passed to `encode`: a container or array that must stay in the box: too deep, or an unhashable key."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def _can_cross(dtype: Dtype) -> bool:
    return DTYPE.fullmatch(_native(dtype).str) is not None


def _native(dtype: Dtype) -> Dtype:
    """Return the type in this machine's byte order; texts of width 0 become texts of width 1."""
    if dtype.itemsize == 0 and dtype.kind in "SU":
        return _dtype_of(dtype.kind + "1")
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def _writer(tag: str, parts: Encode) -> Writer:
    def write(encoder: Encoder, value: object, depth: int) -> object:
        content = parts(value)
        if type(content) is list:
            encoder._count(len(content), 0)
        return {tag: content}

    return write


_TAGGED = {row.kind: _writer(row.tag, row.parts) for row in VALUE_TYPES if row.parts is not None}
_WRITERS: Dict[type, Writer] = {
    **_TAGGED,
    int: Encoder._int,
    list: Encoder._list,
    tuple: Encoder._tuple,
    dict: Encoder._dict,
    set: Encoder._set,
    frozenset: Encoder._set,
    np.ndarray: Encoder._array,
    Ref: Encoder._ref,
    Frame: Encoder._frame,
    Tensor: Encoder._tensor,
    Code: Encoder._function,
}
_LEAVES = frozenset(_AS_IS | (_WRITERS.keys() - CONTAINERS - {Frame}))
_NUMBER_SCALARS = frozenset(np.dtype(code).type for code in "?bhilqBHILQefdFD")
_NUMPY_SCALARS = frozenset(np.dtype(code).type for code in "?bhilqBHILQefdgFDGSUmM")

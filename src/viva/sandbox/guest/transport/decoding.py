"""Decode bytes that may be hostile: they can name no class, and cannot exceed the caps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, List, NoReturn, Optional, Sequence, Set, Tuple, Union

import msgpack
import numpy as np

from .frames import Frame, unpacked
from .value_types import CONTAINERS, VALUE_TYPES
from .wire_values import CAPS, DTYPE, Caps, Code, Ref, Tensor, WireError, listed

if TYPE_CHECKING:
    from .wire_values import Array, Bytes, Dtype

Replaced = Union[Ref, Tensor, Frame, Code]
_unpackb = msgpack.unpackb
_frombuffer, _empty, _uint8, _dtype_of = np.frombuffer, np.empty, np.uint8, np.dtype
_CODE_POINTS = {order: np.dtype(f"{order}u4") for order in "<>="}
_MOST_SAME_HASHES = 32
"""How many keys of one set or dict may share a hash: more are an attack, which takes quadratic time.

In honest sets few keys do: -1 and -2, and tuples of these.
"""
_LARGEST_CODE_POINT = 0x10FFFF
_HOLDING_OTHERS = CONTAINERS | {Frame}


class Decoder:
    """Decodes one message."""

    def __init__(
        self,
        buffers: Sequence[Bytes],
        caps: Caps = CAPS,
        *,
        found: Optional[Callable[[Replaced], object]] = None,
    ) -> None:
        """Make a decoder.

        Args:
            buffers: the bytes of the arrays, as writable uint8 arrays; each array of the result uses the memory of
                one buffer.
            caps: the limits of the message.
            found: called with each Ref, Tensor, Frame and Code; its result takes their place (the box notes them,
                and makes objects of them later). Without it tensors and functions are refused, because none ever
                leaves the box.
        """
        self._buffers: List[Any] = list(buffers)
        self._caps = caps
        self._found = found
        self._lists = self._items = 0

    def value(self, message: Union[bytes, memoryview]) -> object:
        """Decode `message`.

        Raises:
            WireError: It has another form, or exceeds a cap.
        """
        try:
            found = _unpackb(
                message,
                raw=False,
                strict_map_key=True,
                unicode_errors="surrogatepass",
                object_pairs_hook=self._tagged,
                list_hook=self._list,
                ext_hook=_refuse_extension,
                max_array_len=self._caps.items,
                max_map_len=1,
                max_ext_len=0,
            )
        except WireError:
            raise
        except Exception as error:  # what msgpack, numpy and constructors raise about malformed content
            raise WireError(f"malformed content ({type(error).__name__}: {str(error)[:200]})") from None
        self._check_depth(found)
        return found

    def _list(self, items: List[object]) -> List[object]:
        self._count(len(items))
        return items

    def _count(self, items: int) -> None:
        self._lists += 1
        self._items += items
        if self._lists > self._caps.containers or self._items > self._caps.items:
            raise WireError(f"more than {self._caps.containers:,} containers or {self._caps.items:,} items")

    def _tagged(self, pairs: List[Tuple[str, object]]) -> object:
        if len(pairs) != 1:
            raise WireError("a map without a tag")
        tag, content = pairs[0]
        reader = _READERS.get(tag)
        if reader is None:
            raise WireError("an unknown tag")
        return reader(self, content)

    def _tuple(self, content: object) -> Tuple[object, ...]:
        return tuple(listed(content))

    def _set(self, content: object) -> Set[object]:
        return set(_checked_keys(listed(content)))

    def _frozenset(self, content: object) -> FrozenSet[object]:
        return frozenset(_checked_keys(listed(content)))

    def _dict(self, content: object) -> Dict[object, object]:
        pairs = listed(content)
        if len(pairs) % 2:
            raise WireError("a key without a value")
        return dict(zip(_checked_keys(pairs[::2]), pairs[1::2]))

    def _ref(self, content: object) -> object:
        number, type_name, text = listed(content, int, str, str)
        ref = Ref(number, type_name[:200], text[:500])
        return ref if self._found is None else self._found(ref)

    def _tensor(self, content: object) -> object:
        if self._found is None:
            raise WireError("a tensor, which never leaves the box")
        dtype, name, shape, data = listed(content, str, str, list, None)
        return self._found(Tensor(self._array([name, shape, data]), dtype))

    def _function(self, content: object) -> object:
        if self._found is None:
            raise WireError("a function, which never leaves the box")
        return self._found(Code(*listed(content, str, str)))

    def _frame(self, content: object) -> object:
        frame = unpacked(content)
        _checked_keys(frame.columns)
        return frame if self._found is None else self._found(frame)

    def _array(self, content: object) -> Array:
        name, shape, data = listed(content, str, list, None)
        dtype = _dtype(name)
        if type(data) is int:
            if not 0 <= data < len(self._buffers) or self._buffers[data] is None:
                raise WireError("an array without its bytes")
            # Each buffer is used once: else a short message could use the memory and time of a large buffer repeatedly.
            flat, self._buffers[data] = self._buffers[data], None
        elif type(data) is bytes:
            flat = _frombuffer(bytearray(data), _uint8) if data else _empty(0, _uint8)
        else:
            raise WireError("an array without its bytes")
        if flat.nbytes != _elements(shape, self._caps) * dtype.itemsize:
            raise WireError("an array whose shape does not fit its bytes")
        return _as_elements(flat, dtype).reshape(shape)

    def _scalar_list(self, content: object) -> List[object]:
        array = self._array(content)
        if array.ndim != 1:
            raise WireError("a list of scalars that is not a line")
        self._count(array.size)
        return list(array)

    def _scalar(self, content: object) -> object:
        name, data = listed(content, str, bytes)
        dtype = _dtype(name)
        if len(data) != dtype.itemsize:
            raise WireError("a number whose type does not fit its bytes")
        return _as_elements(_frombuffer(bytearray(data), _uint8), dtype)[0]

    def _check_depth(self, value: object) -> None:
        level = [value]
        for _ in range(self._caps.depth + 1):
            level = [item for container in level for item in _nested_containers(container)]
            if not level:
                return
        raise WireError(f"more than {self._caps.depth} containers within one another")


def _nested_containers(container: Any) -> List[object]:
    """Return the items that are containers themselves."""
    kind = type(container)
    if kind is Frame:
        return [part for part in container.parts() if type(part) is list]
    if kind not in CONTAINERS:
        return []
    parts = [*container, *container.values()] if kind is dict else container
    if _HOLDING_OTHERS.isdisjoint(map(type, parts)):  # most lists hold numbers alone
        return []
    return [part for part in parts if type(part) in _HOLDING_OTHERS]


def _checked_keys(keys: List[object]) -> List[object]:
    """Return `keys`, checked not to share few hashes; unhashable keys raise TypeError, which the caller reports."""
    if len(keys) > _MOST_SAME_HASHES:
        hashes = sorted(map(hash, keys))
        if any(first == last for first, last in zip(hashes, hashes[_MOST_SAME_HASHES:])):
            raise WireError("keys that share their hashes")
    return keys


def _dtype(name: str) -> Dtype:
    if not DTYPE.fullmatch(name):
        raise WireError("an array of a type that may not cross")
    return _dtype_of(name)


def _elements(shape: List[object], caps: Caps) -> int:
    """Return the number of elements; the product of the sides other than 0 is limited even if one side is 0."""
    if len(shape) > 32:
        raise WireError("an array of more than 32 dimensions")
    count, sides = 1, 1
    for side in shape:
        if type(side) is not int or side < 0:
            raise WireError("an array of no valid shape")
        count *= side
        sides *= side or 1
        if sides > caps.buffer_bytes:
            raise WireError("an array of no valid shape")
    return count


def _as_elements(flat: Bytes, dtype: Dtype) -> Array:
    """View the bytes as `dtype`, and enforce what numpy trusts: booleans are 0 or 1, texts have valid characters."""
    if dtype.kind == "b":
        truths = flat.view(bool)
        np.not_equal(flat, 0, out=truths)
        return truths
    if dtype.kind == "U" and int(flat.view(_CODE_POINTS[dtype.byteorder]).max(initial=0)) > _LARGEST_CODE_POINT:
        raise WireError("a text of no valid characters")
    return flat.view(dtype)


def _refuse_extension(code: int, data: bytes) -> NoReturn:
    raise WireError("an extension type")


def _reader(made: Callable[[object, Caps], object]) -> Callable[[Decoder, object], object]:
    return lambda decoder, content: made(content, decoder._caps)


_READERS: Dict[str, Callable[[Decoder, object], object]] = {
    **{row.tag: _reader(row.made) for row in VALUE_TYPES if row.made is not None},
    "t": Decoder._tuple,
    "s": Decoder._set,
    "z": Decoder._frozenset,
    "d": Decoder._dict,
    "a": Decoder._array,
    "l": Decoder._scalar_list,
    "g": Decoder._scalar,
    "r": Decoder._ref,
    "F": Decoder._frame,
    "T": Decoder._tensor,
    "f": Decoder._function,
}

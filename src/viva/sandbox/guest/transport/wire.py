"""The connection between examiner and worker: one message at a time over a stream socket, plain data, never pickle.

A message is a header (magic, bytes of text, number of buffers: three 32-bit numbers), the sizes of the buffers (64 bits
each), the text (msgpack, see encoding.py) and the buffers (the bytes of large arrays). The receiver assumes a hostile
sender: it checks sizes before it allocates memory, one limit covers the whole message however slowly it arrives, and
bytes after its end are refused, because requests and replies alternate.
"""

from __future__ import annotations

import functools
import socket
import struct
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple, TypeVar, Union

import numpy as np

from .decoding import Decoder, Replaced
from .encoding import Encode, Encoder, Part
from .frames import Frame as Frame
from .wire_values import CAPS as CAPS
from .wire_values import Caps as Caps
from .wire_values import Code as Code
from .wire_values import Ref as Ref
from .wire_values import Tensor as Tensor
from .wire_values import TooLarge as TooLarge
from .wire_values import WireError as WireError

if TYPE_CHECKING:
    from .wire_values import Bytes

_MAGIC = 0x56495641
_HEADER = struct.Struct(">III")
_CHUNK = 1 << 16
"""The size of a read, so that a small message arrives in one."""
T = TypeVar("T")
Found = Optional[Callable[[Replaced], object]]
LeftS = Callable[[], float]
"""See `receive`."""
_pack, _unpack, _empty, _uint8 = struct.pack, struct.unpack, np.empty, np.uint8


def send(sock: socket.socket, value: object, encode: Optional[Encode] = None) -> None:
    """Send one value.

    Args:
        sock: a connected stream socket; its timeout applies to each part.
        value: of a type in VALUE_TYPES, or a list, tuple, dict, set, frozenset, numpy array or scalar, Ref, Frame,
            Tensor or Code; of exactly these types, nested as deep as the caps allow.
        encode: see Encoder; without it torch tensors are sent as Tensor, data frames as Frame, and whatever else
            has no plain form raises TypeError.

    Raises:
        TypeError, TooLarge: The value cannot be sent; nothing was sent.
        OSError: The other side has ended, or the socket's timeout has passed (TimeoutError).
    """
    transmit(sock, dump(value, encode))


def dump(value: object, encode: Optional[Encode] = None) -> List[Part]:
    """Encode a message as parts to be sent in order; raises what `send` raises, before anything is sent."""
    encoder = Encoder(encode)
    text = encoder.message(value)
    sizes = [buffer.nbytes for buffer in encoder.buffers]
    header = _HEADER.pack(_MAGIC, len(text), len(sizes)) + _pack(f">{len(sizes)}Q", *sizes)
    return [header + text, *encoder.buffers]


def transmit(sock: socket.socket, parts: List[Part], left_s: Optional[LeftS] = None) -> None:
    """Send a message that `dump` has encoded, within a limit as that of `receive`."""
    for part in parts:
        if left_s is None:
            sock.sendall(part)
            continue
        rest = memoryview(part).cast("B")
        while rest:
            rest = rest[_in_time(sock, left_s, functools.partial(sock.send, rest)) :]


def receive(
    sock: socket.socket,
    left_s: Optional[LeftS] = None,
    caps: Caps = CAPS,
    *,
    found: Found = None,
) -> Any:
    """Receive one value, of the types that `send` takes and of no other.

    Args:
        sock: a connected stream socket.
        left_s: returns how many seconds to wait before it is asked again; 0 or less once the time for the whole message
            has passed. None waits forever.
        caps: the limits of the message.
        found: what to make of references, tensors, frames and functions, see Decoder.

    Raises:
        WireError: What arrived is not a valid message, or exceeds a cap.
        TimeoutError: The time has passed.
        EOFError, ConnectionError: The other side has ended.
    """
    return _read(_Incoming(sock, left_s), caps, found)


def load(data: Union[bytes, bytearray, memoryview], caps: Caps = CAPS, *, found: Found = None) -> Any:
    """Decode a stored message; as strict as `receive`.

    Args:
        data: the bytes of the message.
        caps: the limits of the message.
        found: as for `receive`.

    Raises:
        WireError: The bytes are not a valid message, were cut short, or exceed a cap.
    """
    return _read(_Stored(data), caps, found)


def _read(incoming: Union[_Incoming, _Stored], caps: Caps, found: Found) -> object:
    magic, text_bytes, count = _HEADER.unpack(incoming.take(_HEADER.size))
    if magic != _MAGIC:
        raise WireError("no message begins like this")
    if text_bytes > caps.message_bytes or count > caps.buffers:
        raise WireError(f"a message of {text_bytes:,} bytes with {count:,} buffers is too large")
    sizes: Tuple[int, ...] = _unpack(f">{count}Q", incoming.take(8 * count))
    if sum(sizes) > caps.buffer_bytes:
        raise WireError(f"{sum(sizes):,} bytes of arrays are too many")
    text = incoming.take(text_bytes)
    buffers = [incoming.fill(_empty(size, _uint8)) for size in sizes]
    incoming.check_end()
    return Decoder(buffers, caps, found=found).value(text)


class _Incoming:
    """The bytes of one message from a socket; small messages arrive in a single read."""

    def __init__(self, sock: socket.socket, left_s: Optional[LeftS]) -> None:
        self._socket, self._left_s = sock, left_s
        self._chunk = memoryview(b"")

    def take(self, count: int) -> memoryview:
        """Return the next bytes, which are read ahead."""
        if count > _CHUNK:
            return self.fill(_empty(count, _uint8)).data
        while len(self._chunk) < count:
            more = _in_time(self._socket, self._left_s, functools.partial(self._socket.recv, _CHUNK))
            if not more:
                raise EOFError("the other side closed the connection")
            self._chunk = memoryview(b"".join((self._chunk, more)) if self._chunk else more)
        taken, self._chunk = self._chunk[:count], self._chunk[count:]
        return taken

    def fill(self, array: Bytes) -> Bytes:
        """Read the next bytes directly into `array`."""
        view = array.data
        done = min(len(view), len(self._chunk))
        view[:done], self._chunk = self._chunk[:done], self._chunk[done:]
        while done < len(view):
            count = _in_time(self._socket, self._left_s, functools.partial(self._socket.recv_into, view[done:]))
            if not count:
                raise EOFError("the other side closed the connection")
            done += count
        return array

    def check_end(self) -> None:
        if self._chunk:
            raise WireError("more bytes than the message has")


def _in_time(sock: socket.socket, left_s: Optional[LeftS], use: Callable[[], T]) -> T:
    """Use the socket once it is ready; raise TimeoutError if the time passes before."""
    while left_s is not None:
        wait_s = left_s()
        if wait_s <= 0:
            raise TimeoutError("the time has passed")
        sock.settimeout(wait_s)
        try:
            return use()
        except socket.timeout:
            continue  # the clock may run more slowly than the wall clock
    return use()


class _Stored:
    """The bytes of one stored message; arrays are copied out of them."""

    def __init__(self, data: Union[bytes, bytearray, memoryview]) -> None:
        self._left = memoryview(data)

    def take(self, count: int) -> memoryview:
        """Return the next bytes."""
        if count > len(self._left):
            raise WireError("a message that was cut short")
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def fill(self, array: Bytes) -> Bytes:
        """Copy the next bytes into `array`."""
        array.data[:] = self.take(array.size)
        return array

    def check_end(self) -> None:
        if self._left:
            raise WireError("more bytes than the message has")

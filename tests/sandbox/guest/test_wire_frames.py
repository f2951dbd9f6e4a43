"""Frames of the wire: one that is cut, announces too much or comes too slowly is refused at no cost."""

import socket
import struct
import threading
import time

import msgpack
import pytest

from tests.support.peak_memory import peak_memory_kib
from viva.sandbox.guest.process.counted_time import wall_countdown
from viva.sandbox.guest.transport import wire


def frame(text: bytes, sizes: list[int] | None = None, magic: int = 0x56495641, length: int | None = None) -> bytes:
    sizes = sizes or []
    header = struct.pack(">III", magic, len(text) if length is None else length, len(sizes))
    return header + struct.pack(f">{len(sizes)}Q", *sizes) + text


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EOFError),
        (b"\0" * 12, wire.WireError),
        (frame(b"\x01", magic=1), wire.WireError),
        (frame(b"", length=2**32 - 1), wire.WireError),
        (frame(b"\x01")[:-1], EOFError),
        (frame(b"\x01") + b"\x02", wire.WireError),
        (frame(b"\x01") * 2, wire.WireError),
        (frame(b"\x01", [2**64 - 1]), wire.WireError),
        (frame(b"\x01", [2**63, 2**63]), wire.WireError),
        (frame(b"\x01", [1] * 5000), wire.WireError),
        (frame(b"\x01", [5]) + b"1234", EOFError),
        (frame(b"\x01", [5]) + b"123456", wire.WireError),
        (frame(msgpack.packb({"a": ["<f8", [1], 0]}), [7]) + b"1234567", wire.WireError),
    ],
)
def test_invalid_frames(data: bytes, error: type[Exception]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        with pytest.raises(error):
            wire.receive(theirs, wall_countdown(5))


def test_announced_size_takes_no_memory() -> None:
    before = peak_memory_kib()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(frame(b"\x01", [200 << 20]) + b"x" * 1000)
        with pytest.raises(TimeoutError):
            wire.receive(theirs, wall_countdown(0.2))
    assert peak_memory_kib() - before < 50_000  # KiB


@pytest.mark.parametrize("size", [100, 200_000])
def test_limit_covers_whole_message(size: int) -> None:
    """A sender that trickles would otherwise have a new limit with every byte."""
    ours, theirs = socket.socketpair()
    text = msgpack.packb("x" * size)

    def trickle() -> None:
        try:
            for byte in frame(text):
                ours.sendall(bytes([byte]))
                time.sleep(0.02)
        except OSError:
            return

    with ours, theirs:
        thread = threading.Thread(target=trickle)
        thread.start()
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            wire.receive(theirs, wall_countdown(0.3))
        assert time.monotonic() - began > 0.2
    thread.join()


def test_limit_that_has_passed() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(frame(b"\x01"))
        with pytest.raises(TimeoutError):
            wire.receive(theirs, wall_countdown(-1))

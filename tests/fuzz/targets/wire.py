"""The wire: hostile bytes give a plain value, the same one however they arrive, or a WireError."""

import socket
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tests.fuzz.target import Broken, Target, expect
from tests.support.same_values import same
from viva.sandbox.guest.process.counted_time import wall_countdown
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.transport.decoding import Decoder
from viva.sandbox.guest.transport.encoding import Encoder
from viva.sandbox.guest.transport.frames import Frame

PLAIN = (
    type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, Fraction, Decimal,
    np.ndarray, np.generic, wire.Ref, Frame, datetime, date, timedelta,
)  # fmt: skip
COMPARED = 600
"""Bytes of messages whose values are compared item by item, which for sets takes quadratic time."""


def check(data: bytes) -> None:
    """The first byte says whether the rest is a framed message, or buffers of small sizes and a text."""
    value = _framed(data[1:]) if data[:1] == b"\xff" else unframed(data)
    if isinstance(value, wire.WireError):
        return
    expect(_is_plain(value), f"no plain value: {type(value)}")
    try:
        again = wire.load(b"".join(map(bytes, wire.dump(value))))
    except wire.TooLarge:
        return
    except (TypeError, wire.WireError) as error:
        raise Broken("what was received cannot be sent") from error
    expect(len(data) > COMPARED or same(again, _native(value)), "sent on, it is another value")


def unframed(data: bytes) -> Any:
    """The value of a text with its buffers, or the WireError: [count][a size each, times 16][buffers][text]."""
    count = data[0] % 4 if data else 0
    sizes, rest = [16 * size for size in data[1 : 1 + count]], data[1 + count :]
    buffers = []
    for size in sizes:
        buffers.append(np.frombuffer(bytearray(rest[:size]), np.uint8))
        rest = rest[size:]
    try:
        return Decoder(buffers).value(rest)
    except wire.WireError as error:
        return error


def _framed(data: bytes) -> Any:
    """The value of a kept message, or the WireError; a socket must bring the same."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        try:
            received: Any = wire.receive(theirs, wall_countdown(60))
        except (wire.WireError, EOFError) as error:
            received = error
    try:
        kept = wire.load(data)
    except wire.WireError as error:
        expect(isinstance(received, wire.WireError | EOFError), "a socket brings what a file may not hold")
        return error
    expect(not isinstance(received, Exception), f"a file holds what a socket may not bring: {received}")
    expect(len(data) > COMPARED or same(received, kept), "two ways bring two values")
    return kept


def _is_plain(value: Any) -> bool:
    """Whether a value and all in it are of the types that may cross, and of no other."""
    if type(value) not in PLAIN and not (isinstance(value, np.generic) and type(value).__module__ == "numpy"):
        return False
    if isinstance(value, Frame):
        expect(value.length == len(value.row_labels) and value.values() is not None, "a frame that is not whole")
        return _is_plain(value.parts())
    if isinstance(value, dict):
        return all(map(_is_plain, [*value.keys(), *value.values()]))
    return all(map(_is_plain, value)) if isinstance(value, list | tuple | set | frozenset) else True


def _native(value: Any) -> Any:
    """Arrays and numbers in this machine's byte order, as they arrive when they are sent on."""
    if isinstance(value, np.ndarray | np.generic):
        return value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, Frame):
        return Frame(*map(_native, value.parts()))
    if isinstance(value, list | tuple):
        return type(value)(map(_native, value))
    return {key: _native(item) for key, item in value.items()} if isinstance(value, dict) else value


def seeds() -> Iterator[bytes]:
    """Values of every kind, framed and not."""
    values = [
        None, True, 7, -1, 2**63, 2**64, -(2**70), 1.5, float("nan"), "ü 漢", "\ud800", b"\xff\0", 1j,
        [], [1, "a", None], (1, (2, [3])), {"a": 1, (1, "b"): [3]}, {1, "a"}, frozenset({(1, 2)}), [set(), {1: {2: 3}}],
        Fraction(-(10**40), 7), Decimal("1.10"), Decimal("NaN"), Decimal("1E+400"), np.float32(0.1), np.bool_(True),
        np.str_("aß"), np.datetime64("2026-11-21"), np.timedelta64(3, "s"), np.longdouble(1) / 3, np.array(3.0),
        np.zeros((0, 4)), np.arange(6).reshape(2, 3), np.array([True, False]), np.array(["a", "bcd", ""]),
        np.array([b"xy", b""]), np.array("2026-11", "M8[M]"), [np.float64(i) / 3 for i in range(20)],
        wire.Ref(3, "Model", "Model(…)"), {"ok": {"raised": {"type": "ValueError", "frames": [["a.py", 3, "f", "x"]]}}},
        datetime(2026, 11, 25, 9, 30, tzinfo=timezone(timedelta(hours=-3))), date(2024, 2, 29), timedelta(-1, 2, 3),
        Frame(False, 2, ["a", "b"], [np.arange(2), ["x", None]], ["int64", "object"], index=["r", "s"]),
        Frame(True, 3, [None], [np.array([1.5, np.nan, 2])], ["float64"], index_names=["n"]),
        {"rows": [Frame(False, 0, [], [], [])]},
        np.arange(160), [np.arange(200, dtype=np.uint8), np.zeros((2, 100))],
    ]  # fmt: skip
    for value in values:
        yield b"\xff" + b"".join(map(bytes, wire.dump(value)))
        encoder = Encoder()
        text, buffers = encoder.message(value), [bytes(buffer) for buffer in encoder.buffers]
        if all(len(buffer) % 16 == 0 and len(buffer) < 4096 for buffer in buffers):
            sizes = bytes(len(buffer) // 16 for buffer in buffers)
            yield bytes([len(buffers)]) + sizes + b"".join(buffers) + text


WORDS: tuple[str | bytes, ...] = (
    *(b"\x81\xa1" + tag.encode() for tag in "tszdicqpalgrTFDye"), b"\xdd\xff\xff\xff\xff", b"\xdf\x00\x00\x00\x01",
    b"\xc7\x01\x05x", b"\xd6\xff\x00\x00\x00\x00", b"VIVA", "<f8", ">f8", "|b1", "<U3", "|O", "<m8[ns]", "<m8[zz]",
    "<M8[D]", "V8", "<f16", "<c32", "|S4", "<U99999999",
)  # fmt: skip
TARGET = Target(check, seeds, WORDS)

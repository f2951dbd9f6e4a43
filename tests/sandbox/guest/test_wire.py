"""The wire: what crosses arrives as it was, and bytes that are not a message of viva do no harm."""

import itertools
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.support.crossing import send_across
from tests.support.peak_memory import peak_memory_kib
from tests.support.same_values import same
from tests.support.table_rows import Rows
from viva.sandbox.guest.process.counted_time import wall_countdown
from viva.sandbox.guest.transport import wire
from viva.sandbox.guest.transport.decoding import Decoder
from viva.sandbox.guest.transport.encoding import Encoder

PLAIN = (
    type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, Fraction, Decimal,
    np.ndarray, np.generic, wire.Ref,
)  # fmt: skip


def decoded(message: Any, buffers: Sequence[Any] = ()) -> Any:
    """What a reply of this content becomes."""
    return Decoder([*buffers]).value(msgpack.packb(message))


def as_sent(text: bytes) -> Any:
    """What the box receives: tensors and functions cross in this direction."""
    return Decoder([], found=lambda sent: sent).value(text)


def over_a_socket(value: Any) -> Any:
    """`value` as it arrives, sent for real."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=wire.send, args=(ours, value))
        sender.start()
        try:
            return wire.receive(theirs, wall_countdown(10))
        finally:
            sender.join()


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


KNOWN = [
    None, True, False, 0, -1, 2**63, 2**64, -(2**63) - 1, 10**300, 0.0, -0.0, 1.5, float("inf"), float("nan"), 1e-320,
    "", "ü 漢 🎓", "\ud800", "\0", b"", b"\xff\0", 1j, complex("nan+infj"),
    [], [1, "a", None], (), (1, (2, [3])), {}, {"a": 1}, {1: 2, (1, "b"): [3], None: 4, 1.5: 5, b"x": 6}, {2: 2},
    set(), {1, "a"}, frozenset(), frozenset({(1, 2)}), {frozenset({1}): "x"}, [set(), {1: {2: {3: 4}}}],
    Fraction(1, 3), Fraction(-(10**40), 7), Decimal("1.10"), Decimal("NaN"), Decimal("-Infinity"), Decimal("1E+400"),
    np.float64(1.5), np.float32(0.1), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True), np.complex64(1 + 2j),
    np.str_("aß"), np.bytes_(b"x"), np.datetime64("2026-11-21"), np.timedelta64(3, "s"), np.longdouble(1) / 3,
    np.array(3.0), np.array([]), np.zeros((0, 4)), np.zeros((2, 0, 3), "i2"), np.eye(3), np.arange(6).reshape(2, 3).T,
    np.array([True, False]), np.array(["a", "bcd", ""]), np.array([b"xy", b""]), np.array([1, np.nan, np.inf]),
    np.arange(1_000).reshape(10, 100)[::2, ::3], np.zeros(5000, np.float16), np.array("2026-11", "M8[M]"),
    np.array([1, 2], ">i4").astype("<i4"), [np.float64(i) / 3 for i in range(20)], [np.int32(1)] * 7,
    [np.float64(1), np.float32(1)] * 5, [[np.float32(i) for i in range(9)] for _ in range(9)], [Decimal(1)] * 9,
    wire.Ref(3, "Model", "Model(…)"), {wire.Ref(1): [wire.Ref(2, "a", "b")]}, list(range(10_000)), [[0.5] * 600] * 600,
]  # fmt: skip


def test_known_values() -> None:
    with Rows() as row:
        for n, value in enumerate(KNOWN):
            with row(n, type(value).__name__):
                assert same(send_across(value), value)


def test_values_over_a_socket() -> None:
    value = {"ok": KNOWN, "large": [np.arange(300_000), np.ones((7, 70_000), np.float32)], "long": "x" * 3_000_000}
    assert same(over_a_socket(value), value)


def stored(value: Any) -> bytes:
    """A message as it may be kept in a file."""
    return b"".join(bytes(part) for part in wire.dump(value))


def test_stored_values() -> None:
    value = {"ok": KNOWN, "large": [np.arange(300_000), np.ones((7, 70_000), np.float32)]}
    found = wire.load(stored(value))
    assert same(found, value)
    found["large"][0] += 1  # writable, and not shared


@pytest.mark.parametrize("cut", [0, 5, 30, -1])
def test_cut_message_is_refused(cut: int) -> None:
    with pytest.raises(wire.WireError):
        wire.load(stored([1, np.zeros(5000)])[:cut])
    with pytest.raises(wire.WireError, match="more bytes"):
        wire.load(stored(1) + b"x")


def test_byte_order_and_width() -> None:
    assert same(send_across(np.array([1, 2], ">f8")), np.array([1.0, 2.0]))
    assert same(send_across(np.array(["", ""])), np.array(["", ""], "U1"))


def test_arrays_are_writable() -> None:
    for size in (3, 5000):
        sent = np.zeros(size)
        arrived = over_a_socket(sent)
        arrived += 1
        assert sent.sum() == 0 and arrived.sum() == size


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(max_size=20)
    | st.binary(max_size=20) | st.fractions() | st.decimals()
    | st.builds(wire.Ref, st.integers(0, 2**40), st.text(max_size=5), st.text(max_size=5))
)  # fmt: skip
numeric = hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.floating_dtypes() | hnp.complex_number_dtypes()
arrays = hnp.arrays(numeric, hnp.array_shapes(min_dims=0, min_side=0, max_side=12))
keys = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.binary(max_size=8) | st.fractions(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
plain_values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner, max_size=4)
        | st.sets(keys, max_size=4)
        | st.frozensets(keys, max_size=4)
    ),
    max_leaves=12,
)


def in_native_order(value: Any) -> Any:
    """Arrays as they arrive, for comparison."""
    if isinstance(value, np.ndarray):
        return value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, list | tuple):
        return type(value)(map(in_native_order, value))
    return {k: in_native_order(v) for k, v in value.items()} if isinstance(value, dict) else value


@given(plain_values)
def test_any_plain_value(value: Any) -> None:
    assert same(send_across(value), in_native_order(value))


def parts_are_plain(value: Any) -> bool:
    """Whether a value and all in it are of the types that may cross, and of no other."""
    if type(value) not in PLAIN and not (isinstance(value, np.generic) and type(value).__module__ == "numpy"):
        return False
    if isinstance(value, dict):
        return all(map(parts_are_plain, [*value.keys(), *value.values()]))
    return all(map(parts_are_plain, value)) if isinstance(value, list | tuple | set | frozenset) else True


def decode_or_refuse(text: bytes, buffers: list[Any]) -> None:
    """Hostile bytes give a plain value or a WireError; nothing else."""
    try:
        value = Decoder(buffers).value(text)
    except wire.WireError:
        return
    assert parts_are_plain(value)


tags = st.sampled_from([*"tszdicqpalgrT", "", "x", "__class__"])
garbage = st.recursive(
    scalars.filter(lambda v: type(v) in (type(None), bool, float, str, bytes)) | st.integers(-(2**63), 2**64 - 1)
    | st.sampled_from(["<f8", "|b1", "<U3", "|O", "<f8,<f8", "V8", "<m8[ns]", "<m8[zz]", "(2,)f8", "U0", "<U99999999"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(tags, inner, min_size=1, max_size=1),
    max_leaves=20,
)  # fmt: skip


@given(garbage, st.lists(st.binary(max_size=64), max_size=3))
def test_structured_garbage(value: Any, buffers: list[bytes]) -> None:
    text = msgpack.packb(value, unicode_errors="surrogatepass")
    decode_or_refuse(text, [np.frombuffer(bytearray(b), np.uint8) for b in buffers])


def tagged(tag: str, *content: Any) -> dict[str, Any]:
    return {tag: list(content)}


CROWD = [{"i": ((2**61 - 1) * k).to_bytes(12, "little")} for k in range(1, 5000)]
"""Numbers whose hash is 0."""

REFUSED = {
    "a map without a tag": {},
    "a map of two": {"t": [], "s": []},
    "an unknown tag": tagged("y", 1),
    "a map with a number for a key": {1: 2},
    "an extension": msgpack.ExtType(5, b"x"),
    "an empty extension": msgpack.ExtType(5, b""),
    "a timestamp": msgpack.Timestamp(1, 2),
    "a list as a key": tagged("d", [1], 2),
    "an array as a key": tagged("d", tagged("a", "<f8", [1], b"12345678"), 2),
    "a key without a value": tagged("d", 1, 2, 3),
    "an unhashable item": tagged("s", [1]),
    "objects": tagged("a", "|O", [1], b"12345678"),
    "fields": tagged("a", "<f8,<f8", [1], b"1234567812345678"),
    "a void": tagged("a", "|V8", [1], b"12345678"),
    "an array type within a type": tagged("a", "(2,)<f8", [1], b"1234567812345678"),
    "dates in units of no length": tagged("a", "<m8[0s]", [1], b"12345678"),
    "texts of no width": tagged("a", "<U0", [10**9], b""),
    "a shape that lies": tagged("a", "<f8", [2], b"12345678"),
    "a negative side": tagged("a", "<f8", [-1], b"12345678"),
    "a shape beyond all memory": tagged("a", "<f8", [2**40, 2**40, 0], b""),
    "a million dimensions": tagged("a", "<f8", [1] * 33, b"12345678"),
    "a shape of floats": tagged("a", "<f8", [1.0], b"12345678"),
    "a shape of booleans": tagged("a", "<f8", [True], b"12345678"),
    "a buffer that is not there": tagged("a", "<f8", [1], 0),
    "a buffer before the first": tagged("a", "<f8", [1], -1),
    "no characters": tagged("a", "<U1", [1], b"\xff\xff\xff\xff"),
    "a scalar of two": tagged("g", "<f8", b"1234567812345678"),
    "a scalar list of two dimensions": tagged("l", "<f8", [1, 1], b"12345678"),
    "a fraction by zero": tagged("q", 1, 0),
    "a fraction of floats": tagged("q", 1.0, 2.0),
    "a huge fraction": tagged("q", 1, {"i": b"\x7f" * 10_000}),
    "a huge integer": {"i": b"\x7f" * 200_000},
    "a long decimal": {"p": "1" * 10_001},
    "a decimal of a very large exponent": {"p": "1e999999999"},
    "a decimal next to nothing": {"p": "-1e-999999999"},
    "no decimal": {"p": "one"},
    "a complex of texts": tagged("c", "1", "2"),
    "a reference by name": tagged("r", "1", "a", "b"),
    "a tensor, which never leaves a box": tagged("T", "float32", "<f8", [1], b"12345678"),
    "too deep": nested(42),
    "far too deep": nested(300),
    "keys that share a hash": tagged("s", *CROWD),
    "a few keys that share a hash": tagged("s", *CROWD[:40]),
    "tuples that share a hash": tagged("d", *(item for number in CROWD for item in ({"t": [number]}, 1))),
}  # fmt: skip


def test_honest_keys_sharing_a_hash() -> None:
    """Positions relative to a word, for instance: hash(-1) is hash(-2), and so it is in tuples."""
    keys = {(*signs, n) for signs in itertools.product((-1, -2), repeat=4) for n in range(100)}
    assert max(Counter(map(hash, keys)).values()) >= 16
    assert send_across(keys) == keys


def test_decoder_refuses() -> None:
    with Rows() as row:
        for name, value in REFUSED.items():
            with row(name), pytest.raises(wire.WireError):
                decoded(value)


@pytest.mark.parametrize(
    "text", [b"", b"\xc1", b"\x91" * 600, b"\xdd\xff\xff\xff\xff", b"\x01\x01", b"\xd9\x05ab", b"\xa2\xff\xff"]
)
def test_invalid_msgpack(text: bytes) -> None:
    with pytest.raises(wire.WireError):
        Decoder([]).value(text)


def test_many_empty_containers() -> None:
    """Eight million empty lists fit into a message; as objects they would take half a gigabyte."""
    before = peak_memory_kib()
    with pytest.raises(wire.WireError, match="containers"):
        Decoder([]).value(b"\xdd" + struct.pack(">I", 900_000) + b"\x90" * 900_000)
    with pytest.raises(wire.WireError):
        Decoder([]).value((b"\xdd" + struct.pack(">I", 1_000_000)) * 400)
    assert peak_memory_kib() - before < 200_000  # KiB


def test_booleans_are_normalized() -> None:
    """numpy believes any byte in an array of booleans, and then a boolean may be neither True nor False."""
    array = decoded(tagged("a", "|b1", [3], b"\x00\x05\x01"))
    assert array.view(np.uint8).tolist() == [0, 1, 1]
    scalar = decoded(tagged("g", "|b1", b"\x07"))
    assert np.asarray(scalar).view(np.uint8) == 1


@pytest.mark.parametrize("dtype", ["|b1", "<f8"])
def test_shared_buffer_is_refused(dtype: str) -> None:
    """A reply of 300 bytes and one buffer took 256 MiB for each array of booleans that named the buffer again."""
    buffer = np.zeros(1 << 23, np.uint8)
    shape = [buffer.size // np.dtype(dtype).itemsize]
    before = peak_memory_kib()
    with pytest.raises(wire.WireError, match="without its bytes"):
        decoded([tagged("a", dtype, shape, 0)] * 40, [buffer])
    assert peak_memory_kib() - before < 100_000  # KiB


def test_repeated_keys() -> None:
    assert decoded(tagged("d", 1, "a", True, "b", 1.0, "c")) == {1: "c"}


def test_object_names_are_cut() -> None:
    ref = decoded(tagged("r", 1, "n" * 1000, "t" * 10_000))
    assert (len(ref.type_name), len(ref.text)) == (200, 500)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "object cannot be sent"),
        ([type], "type cannot be sent"),
        (np.array([None]), "ndarray cannot be sent"),
        (np.zeros(2, "f8,i4"), "ndarray cannot be sent"),
    ],
)
def test_unsendable_types(value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        wire.dump(value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: 1 << (1 << 21), "integer of 2,097,153 bits"),
        (lambda: [0] * 1_100_000, "more than 1,000,000 parts"),
        (lambda: [()] * 500_000, "more than 1,000,000 parts"),
        (lambda: "x" * (9 << 20), "9 MiB; at most 8 MiB"),
        (lambda: np.zeros(300 << 20, np.uint8), "300 MiB in 1 arrays"),
        (lambda: nested(60), "more than 40 levels"),
        (lambda: Decimal("1" * 20_000), "decimal of 20,000 digits"),
        (lambda: Fraction(1, (1 << 70_000) + 1), "fraction"),
    ],
)
def test_too_large(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(wire.TooLarge, match=words):
        wire.dump(make())


@pytest.mark.long
def test_just_small_enough() -> None:
    """The sender's caps are not above the receiver's: else an honest answer would end its box."""
    refs = [{(i,): [complex(i), np.float64(i)]} for i in range(50_000)]
    for value in (refs, [0] * 999_999, 1 << ((1 << 20) - 1), nested(40), [[np.array(1.5)]] * 60_000, [1j] * 300_000):
        assert type(send_across(value)) is type(value)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("float32", "bfloat16", "int64", "bool"):
        encoder = Encoder()
        text = encoder.message([torch.ones(2, 3, dtype=getattr(torch, dtype))])
        [tensor] = as_sent(text)
        assert (type(tensor), tensor.dtype, tensor.array.shape) == (wire.Tensor, dtype, (2, 3))


def test_function_crosses_towards_box_only() -> None:
    encoder = Encoder()
    text = encoder.message({"f": [wire.Code("lambda x: x + n", "n = 1")]})
    with pytest.raises(wire.WireError, match="never leaves the box"):
        Decoder([]).value(text)
    assert as_sent(text) == {"f": [wire.Code("lambda x: x + n", "n = 1")]}
    for content in ([b"x", ""], ["x"], "x", ["x", "", ""]):
        with pytest.raises(wire.WireError):
            as_sent(msgpack.packb({"f": content}))

"""Files that lie about themselves: each is refused in one sentence, in little room, and nothing in it is run."""

import io
import json
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from tests.support.table_rows import Rows
from viva.plugins.training.artifacts.array_files import MAX_RATIO, MAX_UNPACKED, UnusableFile
from viva.plugins.training.artifacts.prediction_files import classes_of, read_predictions
from viva.plugins.training.artifacts.submitted_files import read_checkpoint

N = 5
RIGHT = np.array([1, 0, 0, 1, 1])


def read(data: bytes, classes: Any = 2) -> Any:
    return read_predictions(data, N, classes_of(classes))


def refused(read: Callable[[bytes], Any], data: bytes) -> str:
    with pytest.raises(UnusableFile) as raised:
        read(data)
    sentence = str(raised.value)
    assert "\n" not in sentence and sentence.isprintable() and len(sentence) < 700 and sentence.rstrip().endswith(".")
    return sentence


# --- pickles


class Trap:
    """Leaves a trace when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[Any, ...]:
        return setattr, (Trap, "sprung", True)


def torch_saved(value: Any, zipped: bool) -> bytes:
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(value, file, _use_new_zipfile_serialization=zipped)
    return file.getvalue()


def object_npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Trap()], object), allow_pickle=True)
    return file.getvalue()


def object_npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, predictions=np.array([Trap()], object))
    return file.getvalue()


PICKLED: dict[str, Callable[[], bytes]] = {
    **{f"protocol {p}": lambda p=p: pickle.dumps({"a": [1, 2, Trap()]}, p) for p in range(2, 6)},  # type: ignore[misc]  # p is bound
    "objects in npy": object_npy,
    "objects in npz": object_npz,
}


def never_opened(reader: Callable[[bytes], Any], data: bytes) -> None:
    sentence = refused(reader, data)
    assert "never opened" in sentence and "safetensors.torch.save_file(model.state_dict()" in sentence
    assert "np.savez(" in sentence and not Trap.sprung


def test_pickles_are_not_opened() -> None:
    with Rows() as row:
        for reader in (read, read_checkpoint):
            for name, make in PICKLED.items():
                with row(reader.__name__, name):
                    never_opened(reader, make())


@pytest.mark.parametrize("zipped", [True, False], ids=["torch zip", "torch before 1.6"])
@pytest.mark.parametrize("reader", [read, read_checkpoint])
def test_torch_files_are_not_opened(zipped: bool, reader: Callable[[bytes], Any]) -> None:
    never_opened(reader, torch_saved({"w": 1}, zipped))


def test_trap_works() -> None:
    pickle.loads(pickle.dumps(Trap()))
    assert Trap.sprung
    Trap.sprung = False


# --- claims


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def npy(header: str, body: bytes = b"", length: int | None = None, version: int = 1) -> bytes:
    text = header.encode()
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + body


def shaped(shape: str, descr: str = "'<i8'", body: bytes = b"") -> bytes:
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n", body)


def tensors(header: Any, body: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def one(**changes: Any) -> dict[str, Any]:
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


@cache
def arrays() -> dict[str, bytes]:
    return {
        "npy of terabytes": shaped("(1000000000000,)"),
        "npy of 10^100 elements": shaped("(" + "9" * 18 + ", " * 1 + "9" * 18 + ", 999999999999999999)"),
        "npy of nothing, on very long sides": shaped("(0, 999999999999999999, 999999999999999999)"),
        "npy of one element too many": shaped("(2,)", body=bytes(8)),
        "npy with more behind it": shaped("(1,)", body=bytes(16)),
        "npy with a negative side": shaped("(-1,)", body=bytes(8)),
        "npy with many dimensions": shaped("(" + "1," * 400 + ")", body=bytes(8)),
        "npy with digits without end": shaped("(" + "1" * 900, body=bytes(8)),
        "npy with brackets without end": npy("(" * 9000),
        "npy with a header of 4 GiB": npy("{}", length=0xFFFFFFFF, version=2),
        "npy with a header beyond the file": npy("{}", length=60000),
        "npy that ends in its header": b"\x93NUMPY\x01",
        "npy of version 9": npy("{}", version=9),
        "npy that calls": npy("{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': ()}"),
        "npy of text that is none": shaped("(2,)", "'<U1'", b"\xff\xff\xff\xff" * 2),
        "npy of fields": shaped("(1,)", "[('a', '<i4')]", bytes(4)),
        "npz with a bomb": zipped({"a.npy": shaped("(100000000,)", body=bytes(100_000_000))}),
        "npz with a name twice": zipped({"a.npy": shaped("(0,)"), "a.NPY": shaped("(0,)")}),
        "npz with a name of control characters": zipped({"\x1b[2Ja\r\n\u202eb.npy": shaped("(9,)")}),
        "npz with lzma": zipped({"a.npy": shaped("(1,)", body=bytes(8))}, zipfile.ZIP_LZMA),
        "npz of other files": zipped({"a.txt": b"1"}),
        "npz of very many files": zipped({f"{at}.npy": b"" for at in range(20_000)}, zipfile.ZIP_STORED),
        "npz cut off": zipped({"a.npy": shaped("(1,)", body=bytes(8))})[:-30],
        "npz of an archive": zipped({"a.npy": zipped({"b.npy": b"1"})}),
        "workbook": zipped({"xl/workbook.xml": b"<a/>"}),
        "nothing but the mark of a zip": b"PK\x03\x04",
        "tensors of terabytes": tensors(one(shape=[1 << 40], data_offsets=[0, 1 << 42]), bytes(8)),
        "tensors beyond all bounds": tensors(one(shape=[1 << 62] * 30), bytes(8)),
        "tensors of nothing, on very long sides": tensors(one(shape=[0, 1 << 62, 1 << 62], data_offsets=[0, 0])),
        "tensors with a number of 400 digits": tensors(one(shape=[10**400]), bytes(8)),
        "tensors with a number of 5000 digits": tensors(b'{"a": ' + b"1" * 5000 + b"}"),
        "tensors, header of terabytes": tensors(one(), bytes(8), length=1 << 42),
        "tensors, header of 2^63": tensors(one(), bytes(8), length=1 << 63),
        "tensors, header one too long": tensors(one(), length=len(json.dumps(one())) + 1),
        "tensors, negative offsets": tensors(one(data_offsets=[-8, 0]), bytes(8)),
        "tensors, reversed offsets": tensors(one(data_offsets=[8, 0]), bytes(8)),
        "tensors, negative shape": tensors(one(shape=[-2]), bytes(8)),
        "tensors, true as a size": tensors(one(shape=[True], data_offsets=[0, 4]), bytes(4)),
        "tensors, fraction as a size": tensors(one(shape=[2.0]), bytes(8)),
        "tensors that overlap": tensors({**one(), "b": one(data_offsets=[4, 12])["a"]}, bytes(12)),
        "tensors on the same place": tensors({**one(), "b": one()["a"]}, bytes(8)),
        "tensors with a gap": tensors({**one(), "b": one(data_offsets=[12, 20])["a"]}, bytes(20)),
        "tensors with more behind them": tensors(one(), bytes(9)),
        "tensors with less behind them": tensors(one(), bytes(7)),
        "tensors with a name twice": tensors(b'{"a": 1, "a": 2}'),
        "tensors with a name of control characters": tensors({"\x1b[2J\n\u202e": 1}),
        "tensors of an unknown type": tensors(one(dtype="F8_E4M3", shape=[8]), bytes(8)),
        "tensors of a type that is a list": tensors(one(dtype=["F32"]), bytes(8)),
        "tensors without a table": tensors(b"[1, 2]"),
        "tensors with a null": tensors({"a": None}),
        "tensors with NaN": tensors(one(), struct.pack("<ff", float("nan"), 0)),
        "tensors nested deep": tensors(b'{"a":' * 100_000),
        "tensors, many strings": tensors(json.dumps({str(at): str(at) for at in range(50_000)}).encode()),
        "tensors, many lists": tensors(b'{"a":[' + b"[]," * 500_000 + b"0]}"),
        "tensors, no UTF-8": tensors(b'{"\xff": 1}'),
    }


def test_lying_arrays() -> None:
    with Rows() as row:
        for name, data in arrays().items():
            with row(name):
                refused(read_checkpoint, data)
                refused(read, data)


def texts() -> dict[str, bytes]:
    return {
        "ten million columns": ",".join(["1"] * 10_000_000).encode(),
        "ten million columns in quotes over many lines": b'"\n",1,1,1\\n' * 1_000_000,
        "one cell of 10 MB": b'"' + b"x" * 10_000_000,
        "ten million empty lines": b"\n" * 10_000_000,
        "ten million rows": b"1\n" * 5_000_000,
        "a number of ten million digits": b"1" * 10_000_000,
        "a float of ten million digits": b"0." + b"1" * 10_000_000 + b"\n1\n1\n1\n1",
        "quotes": b'"' * 5_000_000,
        "brackets": b"[" * 5_000_000,
        "ten thousand brackets": b"[" * 10_000 + b"]" * 10_000,
        "zero bytes": b"1\n\0\n" * 5,
        "zero bytes in UTF-16": "1\n\0\n0\n1\n1".encode("utf-16"),
        "half of a character": b"\xff\xfe1",
        "control characters": b"\x1b[2J\n1\n1\n1\n1",
        "direction marks": "\u202e1\n\u202e1\n1\n1\n1".encode(),
        "a Python list of code": b"__import__('os').system('true')\n" * 5,
        "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
        "gzip": b"\x1f\x8b\x08" + bytes(100),
        "joblib": b"\x78\x9c" + bytes(100),
    }


@pytest.mark.long
def test_huge_texts() -> None:
    with Rows() as row:
        for name, data in texts().items():
            with row(name):
                assert peak_of(partial(refused, read, data)) < 12 * len(data) + (8 << 20)
                refused(lambda data: read(data, None), data)


def test_lying_arrays_in_little_memory() -> None:
    with Rows() as row:
        for name, data in arrays().items():
            with row(name):
                assert peak_of(partial(refused, read_checkpoint, data)) < 2 * max(
                    MAX_UNPACKED, MAX_RATIO * len(data)
                ) + (32 << 20)


def peak_of(do: Callable[[], Any]) -> int:
    """The most bytes that were in use while something was done."""
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_archive_with_wrong_sizes() -> None:
    """The sizes in a zip directory are claims too: what is unpacked stops where they end."""
    inner = shaped("(12500000,)", body=bytes(100_000_000))
    data = bytearray(zipped({"a.npy": inner}))
    small = struct.pack("<L", 1000)
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rindex(mark) + offset
        data[at : at + 4] = small
    assert peak_of(lambda: refused(read_checkpoint, bytes(data))) < 4 << 20


# --- anything at all


def never_more_than_a_sentence(data: bytes) -> None:
    for reader in (read, lambda d: read(d, ["no", "yes"]), lambda d: read(d, None), read_checkpoint):
        try:
            reader(data)
        except UnusableFile as why:
            sentence = str(why)
        else:
            continue
        assert sentence.isprintable() and sentence.endswith(".")


FOUNDATIONS = [
    b"id,prediction\n0,1\n1,0\n2,0\n3,1\n4,1\n",
    b"id,0,1\n0,0.5,1\n1,1,2\n2,2,3\n3,0,1\n4,1,0\n",
    zipped({"predictions.npy": shaped("(5,)", body=bytes(40))}, zipfile.ZIP_STORED),
    zipped({"predictions.npy": shaped("(5,)", body=bytes(40))}),
    shaped("(5, 2)", "'<f4'", bytes(40)),
    shaped("(5,)", "'<U2'", bytes(40)),
    save({"a": np.zeros((2, 3), np.float32), "b": RIGHT}),
]


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    never_more_than_a_sentence(data)


@given(st.text(st.sampled_from("01.,;[]{}\":\n\t -+eE'ntrufalsinid_\r#\ufeff½٣"), max_size=60))
def test_any_text(text: str) -> None:
    never_more_than_a_sentence(text.encode())


@pytest.mark.slow
@pytest.mark.nightly
@given(
    st.sampled_from(FOUNDATIONS),
    st.lists(st.tuples(st.integers(0, 500), st.binary(max_size=4), st.booleans()), min_size=1, max_size=6),
)
def test_damaged_files(data: bytes, changes: list[tuple[int, bytes, bool]]) -> None:
    broken = bytearray(data)
    for at, new, insert in changes:
        place = at % (len(broken) + 1)
        broken[place : place + (0 if insert else len(new))] = new
    never_more_than_a_sentence(bytes(broken))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5) | st.just("prediction"), inner, max_size=6)
    ),
    max_leaves=30,
)


@given(JSON, st.binary(max_size=40))
def test_any_header(header: Any, body: bytes) -> None:
    never_more_than_a_sentence(tensors(header, body))

"""Arrays in the files that students submit: npy, npz and safetensors, read as untrusted data; no pickle is opened."""

import io
import math
import operator
import zipfile
import zlib
from tokenize import TokenError
from typing import Any, Final, final

import numpy as np

from viva.compare.show import show

Array = np.ndarray[Any, Any]

NPY: Final = b"\x93NUMPY"
ZIP: Final = b"PK"
MAX_UNPACKED: Final = 16 << 20
"""Bytes that any archive may unpack to; a larger one may unpack to `MAX_RATIO` times its own size."""
MAX_RATIO: Final = 8
MAX_MEMBERS: Final = 10_000
_MAX_HEADER: Final = 2 << 20
"""Bytes of a safetensors header; a large model's has a tenth of it."""
_DTYPES: Final = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_DAMAGED: Final = "it was cut off or damaged; save it again."


@final
class UnusableFile(ValueError):
    """Why a submitted file cannot be used: the only error of the readers; `str()` continues after the file's name."""


def read_arrays(data: bytes, needed_bytes: int = 0) -> dict[str, Array]:
    """Return the arrays of a file by name, whatever the file is called; the array of an npy file is `predictions`.

    Args:
        data: the file.
        needed_bytes: the size of the arrays of a right file, which an archive may unpack to in any case.

    Raises:
        UnusableFile: it is of another kind, broken, pickled, or unpacks to too much.
    """
    if data.startswith(NPY):
        return {"predictions": _read_npy(data)}
    if data.startswith(ZIP):
        return _read_npz(data, max(MAX_UNPACKED, MAX_RATIO * len(data), needed_bytes))
    if is_safetensors(data):
        return _read_safetensors(data)
    if data[:1] == b"\x80":
        raise pickled("pickled")
    raise UnusableFile("is not a file of arrays: write it by np.savez, or by safetensors.torch.save_file.")


def is_safetensors(data: bytes) -> bool:
    """Return whether a file begins with the length of a header and with JSON, as safetensors do."""
    return data[8:9] == b"{"


def pickled(how: str) -> UnusableFile:
    """Return the error for a pickled file: what it is, why it is not opened, what to submit."""
    return UnusableFile(
        f"is {how}, and pickled files are never opened, because opening one runs code: submit a checkpoint by "
        '`safetensors.torch.save_file(model.state_dict(), "model.safetensors")`, predictions by '
        '`np.savez("predictions.npz", predictions=predictions)` with an array of numbers.'
    )


def _read_npy(data: bytes) -> Array:
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    except (ValueError, TypeError, SyntaxError, TokenError, OverflowError, RecursionError, MemoryError):
        raise UnusableFile(f"has a header that cannot be read: {_DAMAGED}") from None
    if dtype.hasobject:
        raise pickled("an array of Python objects, which numpy pickles")
    needed, held = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if needed != held:  # before numpy reserves the memory that the header asks for
        raise UnusableFile(
            f"says that it holds an array of shape {show(shape)}, {show(needed)} bytes, and holds {held:,}: {_DAMAGED}"
        )
    try:
        array: Array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, TypeError, OverflowError, MemoryError):
        raise UnusableFile(f"holds an array that cannot be read: {_DAMAGED}") from None
    return array


def _read_npz(data: bytes, most_bytes: int) -> dict[str, Array]:
    if data.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise UnusableFile(f"holds more than {MAX_MEMBERS:,} files: save fewer arrays.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_members(archive, most_bytes)
    except UnusableFile:
        raise
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, OverflowError, EOFError, OSError, LookupError):
        raise UnusableFile(f"is an archive that cannot be read: {_DAMAGED}") from None  # zipfile raises all of these


def _read_members(archive: zipfile.ZipFile, most_bytes: int) -> dict[str, Array]:
    members = archive.infolist()
    if any(member.filename.endswith(".pkl") for member in members):
        raise pickled("pickled (a zip archive written by torch.save)")
    if not members or not all(member.filename.endswith(".npy") for member in members):
        raise UnusableFile("is a zip archive without arrays, or with other things: write it by np.savez.")
    total = sum(member.file_size for member in members)
    if total > most_bytes:
        raise UnusableFile(f"would unpack to {total >> 20:,} MiB: submit arrays of at most {most_bytes >> 20:,} MiB.")
    arrays: dict[str, Array] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnusableFile("is compressed in an unusual way: write it by np.savez or np.savez_compressed.")
        with archive.open(member) as file:
            unpacked = file.read(member.file_size + 1)
        try:
            arrays[name] = _read_npy(unpacked)
        except UnusableFile as why:
            raise UnusableFile(f"has an array {show(name)} that {why}") from None
    return arrays


def _read_safetensors(data: bytes) -> dict[str, Array]:
    """Return the tensors by name, in the order of their names; half precision (F16, BF16) becomes float32, exactly."""
    from safetensors import SafetensorError, deserialize

    if int.from_bytes(data[:8], "little") > _MAX_HEADER:
        raise UnusableFile(f"has a header of more than {_MAX_HEADER >> 20} MiB: {_DAMAGED}")
    try:
        tensors = deserialize(data)  # type: ignore[no-untyped-call]  # the library gives it no types
    except SafetensorError as error:
        raise UnusableFile(f"cannot be read ({show(str(error))}): {_DAMAGED}") from None
    return {name: _tensor(name, tensor) for name, tensor in sorted(tensors, key=operator.itemgetter(0))}


def _tensor(name: str, tensor: dict[str, Any]) -> Array:
    dtype = tensor["dtype"]
    if dtype not in _DTYPES:
        raise UnusableFile(f"holds {show(name)} of type {dtype}: save it as float32, by `tensor.float()`.")
    array: Array = np.frombuffer(tensor["data"], _DTYPES[dtype])
    if dtype == "BF16":  # the upper half of a float32
        array = (array.astype("<u4") << 16).view("<f4")
    elif dtype == "F16":
        array = array.astype(np.float32)
    try:
        return array.reshape(tensor["shape"])
    except ValueError:  # without elements, but with sides that numpy does not allow
        raise UnusableFile(f"holds {show(name)} of a shape that no array has: {_DAMAGED}") from None

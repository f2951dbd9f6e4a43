"""Arrays written by numpy: npy and npz, read without numpy's own loader, so that no header is trusted.

The format is numpy's NEP 1: magic, version, length of the header, a Python dict as text, the elements.
"""

import io
import math
import re
import zipfile
import zlib
from typing import Any, Final

import numpy as np

from viva.compare.show import show
from viva.grading.artifacts.file_kinds import NPY, foreign_archive, pickled
from viva.grading.artifacts.unusable import Unusable, is_possible

Array = np.ndarray[Any, Any]

MOST_MEMBERS: Final = 10_000
_MOST_HEADER: Final = 10_000
_DESCRIPTION: Final = re.compile(r"'descr'\s*:\s*'([^']{1,40})'")
_ORDER: Final = re.compile(r"'fortran_order'\s*:\s*(True|False)\b")
_SHAPE: Final = re.compile(r"'shape'\s*:\s*\(([\d\sL,]{0,1000})\)")
_DTYPE: Final = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|[US][1-9]\d{0,7})")
_LARGEST_CHARACTER: Final = 0x10FFFF
_ZIP_PROBLEMS: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    NotImplementedError,  # a compression or a version that zipfile does not know
    RuntimeError,  # encrypted
    ValueError,  # offsets before the beginning, names that are no text
    OverflowError,
    EOFError,
    OSError,
    IndexError,
    KeyError,
)


def read_npy(data: bytes) -> Array:
    """Return the array of an npy file; it may share memory with `data`.

    Raises:
        Unusable: the file is broken, declares more than it holds, or holds Python objects.
    """
    text, start = _header(data)
    found = [pattern.search(text) for pattern in (_DESCRIPTION, _ORDER, _SHAPE)]
    if found[0] is None and "'O'" not in text and "[(" in text:
        raise Unusable("holds an array with fields: save plain arrays of numbers.")
    if found[0] is None or found[1] is None or found[2] is None:
        raise Unusable("has a header that cannot be read: write it by np.save or np.savez.")
    dtype = _dtype(found[0][1])
    shape = tuple(map(int, re.findall(r"\d+", found[2][1])))
    if not is_possible(shape):
        raise Unusable("says that it holds an array of a shape that none can have: it was damaged; save it again.")
    needed, held = math.prod(shape) * dtype.itemsize, len(data) - start
    if needed != held:
        raise Unusable(
            f"says that it holds an array of shape {show(shape)}, {_bytes(needed)}, and holds {_bytes(held)}: "
            "it was cut off or damaged; save it again."
        )
    array: Array = np.frombuffer(data, dtype, math.prod(shape), start)
    if dtype.kind == "U" and array.size and _characters(array).max() > _LARGEST_CHARACTER:
        raise Unusable("holds text that is none: save it again.")
    return array.reshape(shape, order="F" if found[1][1] == "True" else "C")


def read_npz(data: bytes, most_bytes: int) -> dict[str, Array]:
    """Return the arrays of an npz file by name.

    Args:
        data: the file.
        most_bytes: the bytes that all arrays together may have; a larger file is refused before it is unpacked.

    Raises:
        Unusable: as `read_npy`, and for an archive that is not an npz file.
    """
    if data.count(b"PK\x01\x02") > MOST_MEMBERS:
        raise Unusable(f"holds more than {MOST_MEMBERS:,} files: save fewer arrays.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _members(archive, most_bytes)
    except Unusable:
        raise
    except _ZIP_PROBLEMS:
        raise Unusable("is a damaged archive: save it again with np.savez, and submit it.") from None


def _members(archive: zipfile.ZipFile, most_bytes: int) -> dict[str, Array]:
    members = archive.infolist()
    if problem := foreign_archive([member.filename for member in members]):
        raise problem
    total = sum(member.file_size for member in members)
    if total > most_bytes:
        raise Unusable(f"would unpack to {_bytes(total)}: submit arrays of at most {_bytes(most_bytes)}.")
    arrays: dict[str, Array] = {}
    for member in members:
        name = member.filename[: -len(".npy")]
        if name in arrays:
            raise Unusable(f"holds two arrays of the name {show(name)}: give each a name of its own.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unusable("is compressed in an unusual way: write it by np.savez or np.savez_compressed.")
        with archive.open(member) as file:
            unpacked = file.read(member.file_size + 1)
        try:
            arrays[name] = read_npy(unpacked)
        except Unusable as why:
            raise Unusable(f"has an array {show(name)} that {why}") from None
    return arrays


def _header(data: bytes) -> tuple[str, int]:
    """Return the text of the header, and where the elements begin."""
    wide = data[6:7] != b"\x01"
    at = 12 if wide else 10
    if not data.startswith(NPY) or data[6:7] not in (b"\x01", b"\x02", b"\x03") or len(data) < at:
        raise Unusable("is not a numpy array: write it with np.save or np.savez.")
    length = int.from_bytes(data[8:at], "little")
    if length > min(_MOST_HEADER, len(data) - at):
        raise Unusable(f"says that its header has {length:,} bytes: it was cut off or damaged; save it again.")
    return data[at : at + length].decode("latin-1"), at + length


def _dtype(description: str) -> np.dtype[np.generic]:
    if description.lstrip("<>|=") == "O":
        raise pickled("an array of Python objects, which numpy pickles")
    if not _DTYPE.fullmatch(description):
        raise Unusable(f"holds an array of type {show(description)}; expected whole numbers, floats or text.")
    return np.dtype(description)


def _characters(array: Array) -> Array:
    return array.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))


def _bytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB" if 1 << 20 <= size < 1 << 60 else f"{show(size)} bytes"

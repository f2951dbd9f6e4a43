"""The kind of a file, by its content: its name is not trusted, and pickles are refused without being opened."""

import codecs
import pickletools
from collections.abc import Sequence
from itertools import islice
from typing import Final, Literal

from viva.grading.artifacts.unusable import Unusable

Kind = Literal["npy", "npz", "safetensors", "text"]

NPY: Final = b"\x93NUMPY"
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FOREIGN: Final = (
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"\x78\x01", "compressed by zlib"),
    (b"\x78\x9c", "compressed by zlib"),
    (b"\x78\xda", "compressed by zlib"),
)
_PICKLE_PROTOCOLS: Final = (b"\x02", b"\x03", b"\x04", b"\x05")
_OLD_PICKLE_BEGINS: Final = (b"(", b"]", b"}", b"c", b"I")
_OPCODES_SEEN: Final = 5


def kind_of(data: bytes) -> Kind:
    """Return the kind of the bytes.

    Raises:
        Unusable: they are empty, pickled, or of a kind that is not read.
    """
    if not data or data.isspace():
        raise Unusable("is empty: save it again, and submit it.")
    # First, because the length with which such a file begins can be any bytes, those of a pickle among them.
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data) - 8:
        return "safetensors"
    if data.startswith(NPY):
        return "npy"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "npz"
    if data[0] == 0x80 and data[1:2] in _PICKLE_PROTOCOLS:
        raise pickled("pickled")
    for mark, words in _FOREIGN:
        if data.startswith(mark):
            raise Unusable(f"is {words}, which is not read here: submit npz, npy, CSV, JSON or safetensors.")
    if data.startswith(_MARKS):
        return "text"
    if data[8:9] == b"{" and (b"\0" in data[:8] or not data[:8].isascii()):
        return "safetensors"
    if b"\0" in data[:8192]:
        raise unless_pickled(data, "is binary data of an unknown kind: submit npz, npy, CSV, JSON or safetensors.")
    return "text"


def pickled(how: str) -> Unusable:
    """Return the error for a pickled file: what it is, why it is not opened, what to submit."""
    return Unusable(
        f"is {how}, and pickled files are never opened, because opening one runs code: submit a checkpoint by "
        '`safetensors.torch.save_file(model.state_dict(), "model.safetensors")`, predictions by '
        '`np.savez("predictions.npz", predictions=predictions)` with an array of numbers.'
    )


def unless_pickled(data: bytes, why: str) -> Unusable:
    """Return the error for unreadable bytes: they are a pickle of protocol 0 or 1, or the given reason.

    Such pickles have no signature, and a table may begin as they do; so this is checked last.
    """
    return pickled("pickled") if _is_old_pickle(data) else Unusable(why)


def _is_old_pickle(data: bytes) -> bool:
    """Return whether the first opcodes make sense, up to the end or the limit; nothing is loaded."""
    if data[:1] not in _OLD_PICKLE_BEGINS:
        return False
    try:
        seen = [opcode.name for opcode, _, _ in islice(pickletools.genops(data[:4096]), _OPCODES_SEEN)]
    except Exception:  # genops may raise anything; then the bytes are not a pickle
        return False
    return len(seen) == _OPCODES_SEEN or seen[-1] == "STOP"


def foreign_archive(names: Sequence[str]) -> Unusable | None:
    """Return the error for a zip archive that holds something other than arrays, by its names; None for arrays."""
    lowered = [name.lower() for name in names]
    if any(name.endswith((".pkl", ".pickle")) for name in lowered):
        return pickled("pickled (a zip archive written by torch.save)")
    if any(name.startswith("xl/") for name in lowered):
        return Unusable("is an Excel workbook: save it as CSV, and submit that.")
    if not names:
        return Unusable("is an empty archive: save your arrays into it, and submit it again.")
    if not all(name.endswith(".npy") for name in lowered):
        return Unusable("is a zip archive of other things than arrays: write it by np.savez.")
    return None

"""Turn a cell's untrusted outputs into outputs that nbformat describes: known kinds, plain data, bounded."""

import base64
import binascii
import json
import math
import re
import struct
from collections.abc import Mapping
from typing import Any, Final

from viva.model import untrusted
from viva.submissions.decode_text import without_surrogates
from viva.submissions.notebook_cells import OURS

MOST_OF_CELL: Final = 1 << 20
"""Bytes of the outputs of one cell, as they are written."""
CUT: Final = "[output cut]\n"
"""Replaces what was too large; the box uses the same text."""
_TEXTS: Final = frozenset({"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml"})
_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif"})
_JSON: Final = "application/json"
_KNOWN: Final = 20
"""More characters than the longest known name has."""
_MOST_FORMS: Final = 20
"""The forms of one display, and of those named as left out."""
_MOST_LINES: Final = 10_000
"""The most lines of a traceback."""
_MOST_METADATA: Final = 10
_LONGEST_METADATA: Final = 200
_DEEPEST: Final = 30
_MOST_VALUES: Final = 20_000
"""In one display of JSON."""
_LARGEST: Final = 1 << 53
"""Whole numbers beyond it are read differently by different programs."""
_MIME: Final = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,100}", re.ASCII)

Output = dict[str, Any]


class _Refused(Exception):
    """The data is not what its name says."""


def checked(received: list[object], number: int, most_bytes: int) -> tuple[list[Output], int]:
    """Return what is kept of a cell's outputs, and how many bytes it takes as JSON.

    Args:
        received: the untrusted value from the box; anything.
        number: the number of the cell.
        most_bytes: the space there is; a longer text is cut, anything else left out, and a note says so.
    """
    kept: list[Output] = []
    note: Output = {"output_type": "stream", "name": "stderr", "text": CUT}
    left_bytes = most = min(most_bytes, MOST_OF_CELL) - size_of(note)
    if most < 0:
        return [], 0
    for raw in received:
        output = _checked(untrusted.table(raw), number, left_bytes)
        size = size_of(output) if output is not None else 0
        if output is not None and size <= left_bytes:
            kept.append(output)
            left_bytes -= size
            continue
        if output is not None and output["output_type"] == "stream":
            empty = {**output, "text": ""}
            if text := _beginning(output["text"], left_bytes - size_of(empty)):
                kept.append({**empty, "text": text})
                left_bytes -= size_of(kept[-1])
        kept.append(note)
        return kept, most - left_bytes + size_of(note)
    return kept, most - left_bytes


def size_of(output: Mapping[str, object]) -> int:
    """Return the bytes of an output within a notebook, with the comma after it."""
    return len(json.dumps(output, ensure_ascii=False).encode()) + 2


def _checked(raw: Mapping[object, object], number: int, left: int) -> Output | None:
    kind = untrusted.text(raw.get("output_type"), _KNOWN)
    if kind == "stream":
        name = "stderr" if untrusted.text(raw.get("name"), _KNOWN) == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": _text(raw.get("text"), left)}
    if kind == "error":
        lines = untrusted.rows(raw.get("traceback"))[:_MOST_LINES]
        traceback = [_text(line, left) for line in lines]
        words = {"ename": _text(raw.get("ename"), 1000), "evalue": _text(raw.get("evalue"), left)}
        return {"output_type": "error", **words, "traceback": traceback}
    if kind in ("display_data", "execute_result"):
        bundle = _bundle(untrusted.table(raw.get("data")), untrusted.table(raw.get("metadata")), left)
        return {"output_type": kind, **({"execution_count": number} if kind == "execute_result" else {}), **bundle}
    return None


def _text(raw: object, most: int) -> str:
    return without_surrogates(untrusted.text(raw, most + 1))


def _beginning(text: str, most_bytes: int) -> str:
    """Return the beginning of a text that fits in the bytes as JSON, where a character takes one to six."""
    text = text[: max(most_bytes, 0)]
    while text and len(json.dumps(text, ensure_ascii=False).encode()) - 2 > most_bytes:
        text = text[: len(text) // 2]
    return text


def _bundle(data: Mapping[Any, Any], metadata: Mapping[object, object], left: int) -> dict[str, object]:
    """Return the known forms of a display, with a note of those that were left out."""
    forms: dict[str, object] = {}
    left_out: list[str] = []
    for name, value in data.items():
        try:
            forms[name] = _form(name, value, left)
        except _Refused:
            left_out.append(name if type(name) is str and _MIME.fullmatch(name) else "something without a name")
    about = _metadata(metadata, forms)
    if left_out:
        named = sorted(set(left_out[:_MOST_FORMS]))
        about[OURS] = {"left_out": named}
        forms = forms or {"text/plain": f"(left out: {', '.join(named)})"}
    return {"data": forms, "metadata": about}


def _form(name: object, value: object, left: int) -> object:
    if type(name) is not str:
        raise _Refused
    if name in _TEXTS and type(value) is str and len(value) <= left:
        return without_surrogates(value)
    if name in _PICTURES and type(value) is str and len(value) <= left and is_picture(name, value):
        return value
    if name == _JSON:
        return _plain(value, _Values())
    raise _Refused


class _Values:
    """Counts the values of one display."""

    def __init__(self) -> None:
        self.left = _MOST_VALUES


def _plain(value: Any, values: _Values, depth: int = 0) -> object:
    """Return the value as JSON that any program can read.

    Raises:
        _Refused: it is something else, too deep or too large.
    """
    values.left -= 1
    if values.left < 0 or depth > _DEEPEST:
        raise _Refused
    if type(value) is str:
        return without_surrogates(value)
    if type(value) in (list, tuple):
        return [_plain(item, values, depth + 1) for item in value]
    if type(value) is dict and all(type(key) is str for key in value):
        return {without_surrogates(key): _plain(item, values, depth + 1) for key, item in value.items()}
    if _is_scalar(value):
        return value
    raise _Refused


def _is_scalar(value: object) -> bool:
    if type(value) is int:
        return -_LARGEST <= value <= _LARGEST
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) is bool


def _metadata(raw: Mapping[object, object], forms: Mapping[str, object]) -> dict[str, object]:
    """Return metadata such as the width of a picture: single values, for the display or for one of its forms."""
    about = _flat(raw)
    for name in forms:
        if of_form := _flat(untrusted.table(raw.get(name))):
            about[name] = of_form
    return about


def _flat(raw: Mapping[object, object]) -> dict[str, object]:
    pairs = [(k, v) for k, v in raw.items() if type(k) is str and _is_short(k) and k != OURS and _is_short(v)]
    return {without_surrogates(k): without_surrogates(v) if type(v) is str else v for k, v in pairs[:_MOST_METADATA]}


def _is_short(value: object) -> bool:
    return len(value) <= _LONGEST_METADATA if type(value) is str else _is_scalar(value)


MOST_PIXELS: Final = 50_000_000
"""A small file can say that it is larger than any memory."""
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\n]+={0,2}\n?")
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of a JPEG file that its size follows."""
_WITHOUT_LENGTH: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def is_picture(mime: str, text: str) -> bool:
    """Return whether the text holds a picture of the kind: `image/png`, `image/jpeg` or `image/gif`."""
    if not _BASE64.fullmatch(text):
        return False
    try:
        data = base64.b64decode(text)
    except binascii.Error:
        return False
    width, height = {"image/png": _read_png_size, "image/jpeg": _read_jpeg_size, "image/gif": _read_gif_size}[mime](
        data
    )
    return 0 < width * height <= MOST_PIXELS


def _read_png_size(data: bytes) -> tuple[int, int]:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 24:
        return 0, 0
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _read_gif_size(data: bytes) -> tuple[int, int]:
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 10:
        return 0, 0
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _read_jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size in the first frame header; (0, 0) without a frame."""
    at = 2 if data[:3] == b"\xff\xd8\xff" else len(data)
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 1 if marker == 0xFF else 2 if marker in _WITHOUT_LENGTH else 2 + int.from_bytes(data[at + 2 : at + 4])
    return 0, 0

"""Checks that text is a picture in base64, of the declared kind, and of a size that can be shown."""

import base64
import binascii
import re
import struct
from typing import Final

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
    width, height = {"image/png": _of_png, "image/jpeg": _of_jpeg, "image/gif": _of_gif}[mime](data)
    return 0 < width * height <= MOST_PIXELS


def _of_png(data: bytes) -> tuple[int, int]:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 24:
        return 0, 0
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _of_gif(data: bytes) -> tuple[int, int]:
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 10:
        return 0, 0
    width, height = struct.unpack("<HH", data[6:10])
    return width, height


def _of_jpeg(data: bytes) -> tuple[int, int]:
    """Return the size in the first frame header; (0, 0) if there is none."""
    at = 2 if data[:3] == b"\xff\xd8\xff" else len(data)
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 1 if marker == 0xFF else 2 if marker in _WITHOUT_LENGTH else 2 + int.from_bytes(data[at + 2 : at + 4])
    return 0, 0

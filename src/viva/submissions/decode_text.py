"""Decode a student's bytes to text: any bytes give something readable, and nothing raises."""

import codecs
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes) -> str:
    """Decode as UTF-8 or as the byte order mark says, else each line as UTF-8 or the Windows code page of old editors.

    By lines, because one line from an old editor (a name with its accent) says nothing about the rest of a file.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(_line(line) for line in data.splitlines(keepends=True))


def _line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can write but no encoding can store, by U+FFFD; join pairs to characters."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

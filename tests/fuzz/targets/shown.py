"""Texts of students where people read them: after any escaping nothing acts, and escaping twice changes nothing."""

import csv
import io
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

from tests.fuzz.target import Broken, Target, expect
from viva.compare.show import as_written, show
from viva.formats import escaping
from viva.submissions.decode_text import decode, without_surrogates
from viva.submissions.file_names import safe

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff")


def check(data: bytes) -> None:
    """Show the text everywhere."""
    text = data.decode("utf-8", "surrogateescape")
    for gate in (
        escaping.terminal,
        escaping.html,
        escaping.xml_characters,
        escaping.markdown,
        escaping.markdown_block,
        escaping.csv_cell,
        escaping.line,
    ):
        shown = gate(text)
        expect(not any(_acts(character) for character in shown), f"{gate.__name__} lets {shown[:80]!r} through")
        shown.encode("utf-8")
    expect("\n" not in escaping.line(text) and len(escaping.line(text)) < 350, "a line that is none")
    passed = escaping.terminal(text, characters=100_000, lines=10_000)
    expect(escaping.terminal(passed, characters=100_000, lines=10_000) == passed, "what has passed is changed")
    expect("<" not in escaping.html(text) and '"' not in escaping.html(text), "a tag can be opened")
    _check_files(text)
    for kept in (decode(data), without_surrogates(text), safe(text)):
        kept.encode("utf-8")
    expect(show(text).isprintable() and as_written(text).isprintable(), "a value that cannot be shown in a sentence")


def _acts(character: str) -> bool:
    return (unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t") or character in BIDI


def _check_files(text: str) -> None:
    try:
        element = ElementTree.Element("a", b=escaping.xml_characters(text))
        element.text = escaping.xml_characters(text)
        ElementTree.fromstring(ElementTree.tostring(element))
    except ElementTree.ParseError as error:
        raise Broken("no XML") from error
    file = io.StringIO()
    csv.writer(file).writerow([escaping.csv_cell(text), "x"])
    rows = list(csv.reader(io.StringIO(file.getvalue(), newline="")))
    expect(len(rows) == 1 and rows[0] == [escaping.csv_cell(text), "x"], "a cell that breaks its row")


def seeds() -> Iterator[bytes]:
    """Sequences, directions, formulas, tags."""
    for text in (
        "\x1b[31mred\x1b[0m", "\x1b]0;title\x07text", "\x1b]8;;http://a\x1b\\click\x1b]8;;\x1b\\",
        "\x9b31m\x9d0;t\x9c", "\x1bP1;1|secret\x1b\\x", "a\u202eb\u2066c", "e" + "\u0301" * 9, "=1+1",
        "\u00a0@SUM(A1)", "-1.5e3", "+", "```\n````\n", "<script>&amp;\"'", "[a](b) @x #1 |",
        "a\r\nb\rc\x0bd\x85e\u2028f", "\ufffe\uffff\0\x7f", "\U000e0041", "x" * 9000, "\n" * 300,
    ):  # fmt: skip
        yield text.encode()
    yield b"\xff\xfea\0\xd8"
    yield b"caf\xe9\n\xc3\xa9\xed\xa0\x80"


WORDS = (
    "\x1b[", "\x1b]", "\x07", "\x1b\\", "\u009b", "\u009c", "\u202e", "\u2028", "\u0085", "```", "<!--", "=", "@",
    "\t", "\u0301", "\ufeff", "\U000e0041", b"\xed\xa0\x80", b"\xff\xfe", "\u00a0", "'", '"',
)  # fmt: skip
TARGET = Target(check, seeds, WORDS, longest=600)

"""Whatever a student's program prints, nothing of it acts on the screen, page, file or spreadsheet that shows it."""

import csv
import html.parser
import io
import time
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.formats import escaping

HOSTILE = st.text(
    alphabet=st.one_of(
        st.characters(),  # any code point, lone surrogates too
        st.sampled_from("\x1b\x07\x9b\x9d\x9c\x90[]\\;?0123456789mHJ<>&\"'`*_=+-@\t\r\n\0\x7f\u202e\u2066\u200f\ud800"),
    ),
    max_size=200,
)
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


GATES = (
    *(escaping.terminal, escaping.html, escaping.xml_characters),
    *(escaping.markdown, escaping.markdown_block, escaping.csv_cell),
)


def is_harmless(text: str) -> bool:
    return not any(
        (unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t") or c in BIDI or c in "\u2028\u2029\ufeff"
        for c in text
    )


@given(HOSTILE)
def test_no_control_character_gets_through(text: str) -> None:
    for gate in GATES:
        assert is_harmless(gate(text))
        gate(text).encode("utf-8")


FILLERS = "\u115f\u1160\u3164\uffa0"
"""The letters of Unicode that have no glyph; in names they hide differences."""
WITH_A_GLYPH = st.characters(
    exclude_categories=("Cc", "Cs", "Cf", "Mn", "Me", "Zl", "Zp", "Cn"), exclude_characters=FILLERS
)


@given(st.text(alphabet=WITH_A_GLYPH, max_size=200))
def test_honest_text_stays(text: str) -> None:
    assert escaping.terminal(text) == text


SHOWN = [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[2J\x1b[H100 / 100", "100 / 100"),
    ("\x1b]0;title\x07text", "text"),
    ("\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"),
    ("\x1b]52;c;aGVsbG8=\x07after", "after"),
    ("\x1bP1;1|secret\x1b\\x", "x"),
    ("\x9b31mred", "red"),
    ("\x9d0;title\x9ctext", "text"),
    ("a\x9dmojibake does not swallow the rest", "a\ufffdmojibake does not swallow the rest"),
    ("\x1b]0;never ended", "0;never ended"),
    ("\x1b[", ""),
    ("\x1b", ""),
    ("\x1b(0lqk", "lqk"),
    ("failed\rpassed", "failed\npassed"),
    ("a\r\nb", "a\nb"),
    ("bell\x07", "bell\ufffd"),
    ("a\bb\0c\x7fd", "a\ufffdb\ufffdc\ufffdd"),
    ("\u202etxet", "txet"),
    ("lone \ud800 surrogate", "lone \ufffd surrogate"),
    ("tag\U000e0041s", "tags"),
    ("tab\tstays\nline stays", "tab\tstays\nline stays"),
    ("naïve café 日本語 👩‍💻", "naïve café 日本語 👩‍💻"),
    ("a" + "\u0301" * 50, "a" + "\u0301" * 4),
    ("12\u200b3\u200c4\u200d5", "12345"),
    ("soft\u00adhyphen \u034fgrapheme \u180evowel", "softhyphen grapheme vowel"),
    ("\u3164\uffa0\u115f\u1160name", "name"),
    ("a\ufe00\ufe0e\ufe0f\U000e0100b", "ab"),
    ("A\u200d\u200d\u200db \u0430\u200c\u0431", "Ab \u0430\u0431"),
    ("👩\u200d\u200d\u200d💻", "👩💻"),
    ("می\u200cخواهم क्\u200dष ❤️\u200d🔥 ✔️", "می\u200cخواهم क्\u200dष ❤️\u200d🔥 ✔️"),
]


def test_terminal_text_is_escaped() -> None:
    with Rows() as row:
        for text, shown in SHOWN:
            with row(text):
                assert escaping.terminal(text) == shown


def test_long_text_is_cut() -> None:
    assert escaping.terminal("x" * 9000) == "x" * 8000 + "… (1,000 more characters)"
    cut = escaping.terminal("line\n" * 1000)
    assert cut.count("\n") == 199
    assert cut.endswith("… (4,001 more characters)")


def test_one_line() -> None:
    assert escaping.line("  a\n\tb\x1b[1m  c ") == "a b c"


@pytest.mark.parametrize(
    "text", ["\x1b]" * 400_000, "\x9d" * 400_000, "\x1b[" + "1;" * 400_000, "\x1b[0" * 200_000, "\u0301" * 400_000]
)
def test_no_text_makes_a_gate_slow(text: str) -> None:
    started = time.thread_time()
    escaping.terminal(text)
    assert time.thread_time() - started < 10


class Collector(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(HOSTILE)
def test_html_stays_text(text: str) -> None:
    page = Collector()
    page.feed(f'<p title="{escaping.html(text)}">{escaping.html(text)}</p>')
    page.close()
    assert [tag for tag, _ in page.tags] == ["p"]
    assert page.tags[0][1] == [("title", escaping.terminal(text))]
    assert page.text == escaping.terminal(text)


@given(HOSTILE)
def test_xml_can_be_read_back(text: str) -> None:
    shown = escaping.xml_characters(text)
    element = ElementTree.Element("a", b=shown)
    element.text = shown
    root = ElementTree.fromstring(ElementTree.tostring(element))
    assert shown == escaping.terminal(text)
    assert (root.text or "") == shown
    assert root.get("b") == shown


@pytest.mark.parametrize(
    "text",
    [
        *("<img src=x>", "[a](javascript:b)", "![x](http://evil.example)", "# title"),
        *("`code`", "**b**", "|a|b|", "http://x.example"),
    ],
)
def test_markdown_has_no_markup(text: str) -> None:
    shown = escaping.markdown(text)
    assert "<" not in shown
    for sign in "[]()!#`*|:":
        assert shown.count(sign) == shown.count("\\" + sign)


def test_markdown_mentions_nobody() -> None:
    assert "@everyone" not in escaping.markdown("@everyone")


@given(HOSTILE)
def test_markdown_block_cannot_be_left(text: str) -> None:
    lines = escaping.markdown_block(text).split("\n")
    fence = lines[0].removesuffix("text")
    assert set(fence) == {"`"}
    assert lines[-1] == fence
    assert not any(line.strip().startswith(fence) for line in lines[1:-1])


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("＝1+1", "'＝1+1"),
        ("\r=1", "'\n=1"),
        ("-5", "-5"),
        ("+0.25", "+0.25"),
        ("-1e-3", "-1e-3"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_spreadsheet_computes_nothing(text: str, cell: str) -> None:
    assert escaping.csv_cell(text) == cell


@given(HOSTILE)
def test_no_cell_begins_a_formula(text: str) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([escaping.csv_cell(text), "next"])
    (row,) = csv.reader(io.StringIO(buffer.getvalue()))
    assert row[1] == "next"
    cell = row[0].lstrip(" \u00a0")
    digits = cell.replace(".", "", 1).lstrip("+-").replace("e", "", 1).replace("E", "", 1).replace("-", "")
    assert digits.lstrip("+").isdigit() or not cell.startswith(("=", "+", "-", "@", "\t"))


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=200))
def test_plain_text_stays(text: str) -> None:
    assert escaping.terminal(text, characters=200) == text
    assert escaping.terminal(text, characters=20) == (
        text if len(text) <= 20 else f"{text[:20]}… ({len(text) - 20} more characters)"
    )

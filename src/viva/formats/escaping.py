"""Escape text that a student's program made before anyone sees it, with one function for each medium.

The result cannot move a cursor, set a title, hide or reorder text, open a tag, start a formula or break a file.
"""

import html as _html
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

MOST_CHARACTERS: Final = 8000
MOST_LINES: Final = 200
REPLACEMENT: Final = "\ufffd"
_MOST_MARKS: Final = 4
"""Combining marks on one letter; more would cover the lines above."""

_SEQUENCE: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # colours, cursor movements (CSI)
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90-\x9f]*(?:\x07|\x1b\\|\x9c)"  # titles, links (OSC …)
    r"|\x1b[ -/]{0,16}[0-~]?"  # the rest of them
)
_LINE_BREAK: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_EMOJI: Final = "\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINED: Final = f"\u0600-\u07ff\u0900-\u109f\u1780-\u17b3\u17b6-\u17ff\ufb50-\ufdff\ufe70-\ufefc{_EMOJI}"
"""Where a joiner is a part of the spelling: Arabic and Indian scripts, and emoji of several parts."""
_UNSEEN: Final = re.compile(
    # Unicode's Default_Ignorable_Code_Point: characters without a glyph, which could hide text, make two names look
    # alike or turn the writing direction, so that text claims to be other text
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ufff9-\ufffb]"  # and the marks of annotated text
    f"|[\u200c\u200d](?![{_JOINED}])|(?<![{_JOINED}\ufe0f])[\u200c\u200d]|(?<![{_EMOJI}])\ufe0f"
)
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>:@/$^=])")
_FORMULA: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\n")
_NUMBER: Final = re.compile(r"[-+]?\d{1,20}(\.\d{0,20})?([eE][-+]?\d{1,3})?")
MAX_NOTE_LINES: Final = 10
_FIRST_NOTE: Final = 6
"""Lines of the first note, which costs most; of the others, the first line is shown."""


def terminal(text: str, *, characters: int = MOST_CHARACTERS, lines: int = MOST_LINES) -> str:
    """Escape text for a terminal, a log or a results file: the only control characters left are line break and tab.

    Args:
        text: anything.
        characters, lines: longer text is cut, and its end says how much is missing.
    """
    if text.isascii() and text.isprintable() and len(text) <= characters:
        return text  # most texts; nothing below would find anything in them
    text = _LINE_BREAK.sub("\n", _SEQUENCE.sub("", text[: 8 * characters]))
    text = _CONTROL.sub(REPLACEMENT, _UNSEEN.sub("", text))
    if not text.isascii():
        text = _few_marks(text)
    return _cut(text, characters, lines)


def line(text: str, *, characters: int = 300) -> str:
    """Escape like `terminal`, on one line: for names, table cells and titles."""
    return " ".join(terminal(text, characters=characters).split())


def html(text: str) -> str:
    """Escape text for an element or a quoted attribute of a web page."""
    return _html.escape(terminal(text), quote=True)


def markdown(text: str) -> str:
    """Escape one line of text within Markdown: no markup, no link, no mention, no HTML."""
    return _MARKDOWN.sub(r"\\\1", _html.escape(line(text), quote=False)).replace("\\@", "&#64;\u200b")


def markdown_block(text: str, *, characters: int = MOST_CHARACTERS, lines: int = MOST_LINES) -> str:
    """Put lines of text into a Markdown code block whose fence is longer than any in the text."""
    body = terminal(text, characters=characters, lines=lines)
    longest = max((len(run) for run in re.findall(r"`{3,}", body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{body.rstrip(chr(10))}\n{fence}"


def xml_characters(text: str, *, characters: int = MOST_CHARACTERS, lines: int = MOST_LINES) -> str:
    """Return text with only the characters that XML 1.0 allows, for a writer that escapes by itself."""
    return terminal(text, characters=characters, lines=lines)


def csv_cell(text: str) -> str:
    """Escape a cell of a table that a person opens in a spreadsheet: never a formula; numbers stay numbers.

    Do not use it for files that a learning platform imports: there the text must stay unchanged.
    """
    text = terminal(text)
    bare = text.lstrip(" \u00a0")
    return f"'{text}" if bare.startswith(_FORMULA) and not _NUMBER.fullmatch(bare) else text


def _few_marks(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def _cut(text: str, characters: int, lines: int) -> str:
    cut = text[:characters]
    if cut.count("\n") >= lines:
        cut = "\n".join(cut.split("\n")[:lines])
    missing = len(text) - len(cut)
    return f"{cut}… ({missing:,} more characters)" if missing else cut


def short_notes(notes: Sequence[str]) -> list[str]:
    """Return the lines to show, and how many are left out; all of them if they are few."""
    whole = [note.splitlines() or [""] for note in notes]
    lines = [line for note in whole for line in note]
    if len(lines) <= MAX_NOTE_LINES:
        return lines
    shown = [*whole[0][:_FIRST_NOTE], *(note[0] for note in whole[1:])][: MAX_NOTE_LINES - 1]
    return [*shown, f"… and {len(lines) - len(shown)} more lines."]

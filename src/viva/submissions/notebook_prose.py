"""Prose in a notebook: the markdown under the heading that begins with a question's number."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from viva.submissions.notebook_cells import Notebook

MAX_CHARACTERS: Final = 100_000
_BOLD: Final = 7
"""The rank of a line that is all bold, or of a cell that begins with a number: below every heading."""

# Every repetition is bounded: the text is a student's.
_HEADING: Final = re.compile(
    r"^ {0,3}(?P<marks>#{1,6})[ \t]{1,9}(?P<text>.{0,300})$"
    r"|^ {0,3}(?:\*\*|__)(?P<bold>[^*\n]{1,200})(?:\*\*|__):?[ \t]{0,9}$",
    re.MULTILINE,
)
_FIRST_LINE: Final = re.compile(r"\s{0,99}(?:\*\*|__)?(?P<text>[^\n]{1,80})")
_WORDS: Final = re.compile(r"(?:(?:question|exercise|problem|task|part|answer|to|ex|q)\b\.?|[\s*_#§]){1,40}", re.I)
_NUMBER: Final = re.compile(
    r"(?:\(?q?\d{1,3}|\(?[a-z]\))"  # 2, Q2, b), (b)
    r"(?:[.\-_]\d{1,3}"  # .1
    r"|[.\-_]?[a-z](?![a-z0-9])"  # a, .a
    r"|\s?\(\s?[0-9a-z]{1,4}\s?\)"  # (a), (ii)
    r"|\s?[a-z]\)"  # a)
    r"|[.\-_]?[ivx]{1,4}(?![a-z])){0,6}",  # ii
    re.I,
)

Number = tuple[str, ...]
"""The parts of a question's number: `1(a)(ii)`, `1a.ii` and `1.a.ii` are all `("1", "a", "ii")`."""


@dataclass(frozen=True, slots=True)
class _Heading:
    rank: int
    number: Number
    text: str
    start: int
    end: int


def written_in(notebook: Notebook, number: str) -> str:
    """Return the student's prose for a question; "" if there is none.

    It is the text below a heading that begins with the number (`## 2.1 Why attention?`, `**Question 2.1**`; `### (a)`
    below `## 2.1` is 2.1a), up to the next numbered heading or one of a higher rank. It may span several markdown
    cells.
    """
    wanted = _parts(number)
    collected: list[str] = []
    above: list[_Heading] = []
    under: _Heading | None = None
    for cell in notebook.prose:
        start = 0
        for heading in _headings(cell.source):
            if under is not None:
                collected.append(cell.source[start : heading.start])
            start = heading.end
            if not heading.number:
                if under is not None and heading.rank >= under.rank:
                    collected.append(heading.text)
                else:
                    under = None
                continue
            above = [h for h in above if h.rank < heading.rank]
            full = (above[-1].number if above and not heading.number[0].isdigit() else ()) + heading.number
            above.append(_Heading(heading.rank, full, heading.text, heading.start, heading.end))
            if wanted in (full, heading.number):
                under = heading
            elif under is not None and heading.rank > under.rank and full[: len(wanted)] == wanted:
                collected.append(heading.text)
            else:
                under = None
        if under is not None:
            collected.append(cell.source[start:])
    return "\n\n".join(part.strip() for part in collected if part.strip())[:MAX_CHARACTERS]


def _headings(source: str) -> Iterator[_Heading]:
    """Yield the headings of a cell; a first line that begins with a number of several parts is a heading and prose."""
    first = _FIRST_LINE.match(source)
    if first and not _HEADING.match(source.lstrip()):
        number = _number(first["text"])
        if len(number) > 1:
            yield _Heading(_BOLD, number, "", 0, 0)
    for match in _HEADING.finditer(source):
        text = match["text"] if match["marks"] else match["bold"]
        rank = len(match["marks"]) if match["marks"] else _BOLD
        yield _Heading(rank, _number(text), match.group().strip(), match.start(), match.end())


def _number(text: str) -> Number:
    """Return the number with which a heading begins; empty if it begins with none."""
    words = _WORDS.match(text)
    found = _NUMBER.match(text, words.end() if words else 0)
    return _parts(found.group()) if found else ()


def _parts(number: str) -> Number:
    parts = re.findall(r"\d+|[a-z]+", number.lower())
    return tuple(parts[1:] if len(parts) > 1 and parts[0] == "q" else parts)

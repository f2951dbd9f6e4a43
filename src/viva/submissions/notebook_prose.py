"""The text of a notebook by question: the questions of the assignment delimit it, as its starter words them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Final

from viva.submissions.notebook_cells import Notebook

MAX_CHARACTERS: Final = 100_000
_BOLD: Final = 7
"""The rank of a line that begins in bold type: below every heading."""
_FIRST_LINE: Final = 8
"""The rank of a cell whose text begins with the number of a question."""
_NO_HEADING: Final = 9

# Every repetition is bounded: the text is a student's.
_FENCE: Final = re.compile(r"[ \t]{0,99}(?P<mark>`{3,99}|~{3,99})")
_HEADING: Final = re.compile(
    r" {0,3}(?P<rank>#{1,6})[ \t]{1,9}(?P<text>.{0,300})| {0,3}(?P<mark>\*\*|__)(?P<bold>[^*\n]{1,300}?)(?P=mark)"
)
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)\s*$")
_NUMBER: Final = re.compile(
    r"(?:^\W{0,9}(?:[^\W\d_]{2,30}\W{1,9})?(?=\(?[a-z]\))|(?<![^\W_])(?=q?\d))"
    r"(?P<number>(?:q?\d{1,3}|\(?[a-z]\))"  # 2, Q2, b), (b)
    r"(?:[.,\-_]\d{1,3}"  # .1
    r"|[.\-_]?[a-z](?![a-z0-9])"  # a, .a
    r"|\s?\(\s?[0-9a-z]{1,4}\s?\)"  # (a), (ii)
    r"|\s?[a-z]\)"  # a)
    r"|[.\-_]?[ivx]{1,4}(?![a-z])){0,6})",  # ii
    re.I,
)

_PARTS: Final = re.compile(r"\d+|[^\W\d_]+")
_WORD: Final = re.compile(r"\w+")

Number = tuple[str, ...]
"""The parts of a question's number: `1(a)(ii)`, `1a.ii` and `Question 1.a.ii` are all `("1", "a", "ii")`."""


def number_of(name: str) -> Number:
    """Return the parts of a question's number, whatever separates them; a word before it says nothing."""
    first, *others = _PARTS.findall(name.lower()) or [""]
    is_label = first == "q" or (first.isalpha() and len(first) > 2)
    return tuple(others) if is_label and others and others[0].isdigit() else (first, *others)


@dataclass(frozen=True, slots=True)
class _Heading:
    rank: int
    text: str
    start: int
    end: int
    """Where the text below it begins."""
    number: Number = ()
    """The question that it names; empty if it names none."""
    is_part: bool = False
    """Whether its own number is longer: it names a part of the question."""
    is_bare: bool = False
    """Whether nothing follows the number."""
    is_starters: bool = False
    """Whether the starter has the same heading, at the same level."""


class Questions:
    """The questions of an assignment, with the headings that its starter gives them."""

    def __init__(self, tested: Iterable[str], by_hand: Iterable[str] = (), starter: Iterable[Notebook] = ()) -> None:
        """Read the headings of the starter.

        Args:
            tested: the numbers of all tests.
            by_hand: the numbers of the questions that a person grades.
            starter: its notebooks. If their headings name questions, only these and `by_hand` delimit answers.
        """
        self._written = written = set(map(number_of, by_hand))
        self._numbers = {*map(number_of, tested), *written}
        self._worded: set[tuple[int, str, Number]] = set()
        sections = {number[:length] for number in self._numbers for length in range(1, len(number))}
        self._numbers |= {number for number in sections if len(number) > 1}  # 2.1, of which only parts are tested
        for notebook in starter:
            headings = [heading for cell in notebook.prose for heading in _headings(cell.source)]
            for heading, numbers in _numbered(headings):
                named = (number for number in numbers if number in self._numbers or number in sections)
                self._worded |= {(heading.rank, _words(heading.text), number) for number in islice(named, 1)}
        if self._worded:
            parts = {number[:length] for number in written for length in range(2, len(number) + 1)}
            self._numbers = {number for _, _, number in self._worded} | written | parts

    def texts(self, notebook: Notebook) -> Mapping[Number, str]:
        """Return the text below the headings of each question; that above all of them belongs to `()`."""
        cells = [(cell.source, list(_headings(cell.source))) for cell in notebook.prose]
        named = self._named([heading for _, headings in cells for heading in headings])
        counts = Counter(heading.number for heading in named)
        worded = {heading.number for heading in named if heading.is_starters}
        alone = {number for number in self._written if counts[number] == 1 and len(number) > 1}
        following = iter(named)
        texts: dict[Number, list[str]] = defaultdict(list)
        current: Number = ()
        rank = _NO_HEADING
        for source, headings in cells:
            begin = 0
            for heading in islice(following, len(headings)):
                is_below = heading.rank > rank and heading.number not in alone
                if _starts_answer(heading, current, worded, is_below=is_below):
                    texts[current].append(source[begin : heading.start])
                    current, rank, begin = heading.number, heading.rank, heading.end
                elif heading.rank <= rank and not heading.number:
                    rank = _NO_HEADING  # what comes is below this heading, and no longer below the question's
            texts[current].append(source[begin:])
        return {
            number: "\n\n".join(part.strip() for part in parts if part.strip())[:MAX_CHARACTERS]
            for number, parts in texts.items()
        }

    def _named(self, headings: Sequence[_Heading]) -> list[_Heading]:
        """Return the headings with the questions that they name."""
        found = [self._question_of(heading, numbers) for heading, numbers in _numbered(headings)]
        if found and found[0].rank == 1 and not found[0].is_starters:
            others = found[1:]
            is_title = all(other.rank > 1 for other in others)
            if is_title and found[0].number in {other.number for other in others}:
                found[0] = replace(found[0], number=())  # `# Homework 2` above `## 1` and `## 2`
        return found

    def _question_of(self, heading: _Heading, numbers: Sequence[Number]) -> _Heading:
        words = _words(heading.text)
        for number in numbers:
            if (heading.rank, words, number) in self._worded:
                return replace(heading, number=number, is_starters=True)
        first = _NUMBER.search(heading.text)
        if first is None:
            return heading
        own = number_of(first["number"])
        is_bare = re.search(r"\w", heading.text[first.end() :]) is None
        for number in numbers[: numbers.index(own) + 1]:
            for length in range(len(number), 0, -1):
                if number[:length] in self._numbers:
                    is_part = length < len(number)
                    return replace(heading, number=number[:length], is_part=is_part, is_bare=is_bare)
        return heading


def _starts_answer(heading: _Heading, current: Number, worded: set[Number], *, is_below: bool) -> bool:
    """Return whether the text below a heading belongs to another question than the text above it.

    Args:
        heading: the heading.
        current: the question above it.
        worded: questions for which the notebook has the starter's heading: another one is the number alone.
        is_below: whether it is deeper than that question's heading, and not the only one of a question that a person
            grades.
    """
    if heading.is_starters:
        return True
    if not heading.number or (heading.number in worded and not heading.is_bare):
        return False
    if heading.rank == _FIRST_LINE and (heading.is_part or len(heading.number) == 1):
        return False
    if heading.number[: len(current)] == current:
        return heading.number != current or not heading.is_part
    return not is_below


def _headings(source: str) -> Iterator[_Heading]:
    """Yield the headings of a cell, outside of fenced code; its first line is one if it begins with a number."""
    at, fence, is_first = 0, "", True
    for line, below in pairwise([*source.splitlines(keepends=True), ""]):
        start, at = at, at + len(line)
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark["mark"]
            elif mark["mark"].startswith(fence):
                fence = ""
            continue
        if fence or not line.strip():
            continue
        heading = _HEADING.match(line)
        if heading is not None and heading["rank"]:
            yield _Heading(len(heading["rank"]), heading["text"], start, at)
        elif _UNDERLINE.match(below):
            yield _Heading(1 if "=" in below else 2, line[:300], start, at + len(below))
        elif heading is not None:
            yield _Heading(_BOLD, heading["bold"], start, start + heading.end())
        elif is_first and _NUMBER.match(line[:80].lstrip()):
            yield _Heading(_FIRST_LINE, line[:80].strip(), start, start)
        is_first = False


def _numbered(headings: Iterable[_Heading]) -> Iterator[tuple[_Heading, list[Number]]]:
    """Yield headings with the numbers in them; `(a)` below `2.1` is 2.1a, or else a."""
    above: list[tuple[int, Number]] = []
    for heading in headings:
        numbers: list[Number] = []
        above = [(rank, number) for rank, number in above if rank < heading.rank]
        for match in _NUMBER.finditer(heading.text):
            number = number_of(match["number"])
            if above and not number[0].isdigit():
                numbers.append(above[-1][1] + number)
            numbers.append(number)
        if numbers:
            above.append((heading.rank, numbers[0]))
        yield heading, numbers


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))

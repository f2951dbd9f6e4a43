"""Pseudonyms: a student has the same one all term, and only the course's secret connects it with the student.

It searches text for everything that the class list says about a person. What it does not know (a nickname, a name
without its accents) stays: read free text before you publish it.
"""

import base64
import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from viva.model import Student

_PURPOSE: Final = b"viva: pseudonym of a student\0"
_LETTERS: Final = 10
"""Fifty bits: in a class of a thousand, two students share them once in two thousand million classes."""
_SHORTEST: Final = 3
"""The fewest letters of a part of a name that is replaced as a separate word; shorter parts are ordinary words."""


def pseudonym(student_id: str, secret: bytes, *, letters: int = _LETTERS) -> str:
    """Return the pseudonym of one student: `student-` and letters and digits, by HMAC-SHA256.

    Args:
        secret: the course's secret; another one gives other pseudonyms.
    """
    name = unicodedata.normalize("NFC", student_id).encode("utf-8", "surrogatepass")
    digest = hmac.new(secret, _PURPOSE + name, hashlib.sha256).digest()
    return f"student-{base64.b32encode(digest).decode().lower()[:letters]}"


def pseudonyms(student_ids: Iterable[str], secret: bytes) -> dict[str, str]:
    """Map each student's id to a pseudonym; if two would share one, all pseudonyms are longer."""
    ids = sorted(set(student_ids))
    for letters in (_LETTERS, 2 * _LETTERS, 5 * _LETTERS):
        names = {id_: pseudonym(id_, secret, letters=letters) for id_ in ids}
        if len(set(names.values())) == len({unicodedata.normalize("NFC", id_) for id_ in ids}):
            break
    return names


_LONGEST: Final = 100
"""Characters of a name that is searched as a whole; of a longer name only the parts are searched."""

_Node = dict[str, "_Node"]
"""Maps each letter to what may follow it, with the empty text where a word ends."""


class Anonymiser:
    """Replaces a class's students by their pseudonyms, in values and in text."""

    def __init__(self, students: Iterable[Student], secret: bytes) -> None:
        people = list(students)
        self._names = pseudonyms((student.id for student in people), secret)
        self._secret = secret
        self._of_word: dict[str, str] = {}
        spelled: set[str] = set()
        shared: set[str] = set()
        for student in people:
            for word in _words(student):
                key = _folded(word)
                spelled |= {key, " ".join(unicodedata.normalize("NFC", word).split())}  # Groß, and gross for GROSS
                if self._of_word.setdefault(key, self._names[student.id]) != self._names[student.id]:
                    shared.add(key)
        for key in shared:  # the name of two people: replaced too, but by neither one's pseudonym
            self._of_word[key] = "student"
        self._pattern = _pattern(spelled)

    def student(self, student: Student) -> Student:
        """Return a copy that has only the pseudonym."""
        return Student(self._names.get(student.id) or pseudonym(student.id, self._secret))

    def finds(self, text: str) -> bool:
        """Return whether a text names a student of the class."""
        return self._pattern is not None and bool(self._pattern.search(unicodedata.normalize("NFC", text)))

    def text(self, text: str) -> str:
        """Replace names, addresses and ids of the class in a text, in any case."""
        if self._pattern is None:
            return text
        composed = unicodedata.normalize("NFC", text)
        return self._pattern.sub(lambda found: self._of_word.get(_folded(found[0]), "student"), composed)


def _words(student: Student) -> set[str]:
    """List every name by which a text may refer to a person."""
    name = " ".join(student.name.split())
    parts = re.split(r"[\s,]+", name)
    last_first = [part.strip() for part in name.split(",", 1)]
    whole = {name, " ".join(parts), " ".join(reversed(last_first)), f"{parts[-1]}, {' '.join(parts[:-1])}"}
    local = student.email.partition("@")[0]
    alone = {part for part in (*parts, local) if len(part) >= _SHORTEST}
    words = {*whole, *alone, student.email, student.id, *student.also.values()}
    return {bare for word in words if len(bare := word.strip(" ,")) > 1 and len(bare) <= _LONGEST}


def _pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    """Compile a pattern that matches any of the words, the longest where several match.

    Words with a common beginning share it in the pattern: plain alternatives would be tried one by one at every letter.
    """
    beginnings: _Node = {}
    for word in sorted(words):
        node = beginnings
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    if not beginnings:
        return None
    branches = [_left(letter) + _letter(letter) + _branches(node, letter) for letter, node in beginnings.items()]
    return re.compile("|".join(branches), re.IGNORECASE)


def _branches(node: "_Node", before: str) -> str:
    """Return the pattern of what follows a letter; the end of a word is the last alternative."""
    found = [_letter(letter) + _branches(below, letter) for letter, below in node.items() if letter]
    if "" in node:
        found.append(r"(?!\w)" if _has_boundary(before) else "")
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _letter(letter: str) -> str:
    return r"\s+" if letter == " " else re.escape(letter)


def _left(letter: str) -> str:
    """Return the boundary before a word: none of an alphabet's letters or digits may precede or follow it.

    Scripts that write without spaces have no such boundaries.
    """
    return r"(?<!\w)" if _has_boundary(letter) else ""


def _has_boundary(character: str) -> bool:
    return character.isalnum() and (character.lower() != character.upper() or character.isdecimal())


def _folded(word: str) -> str:
    return " ".join(unicodedata.normalize("NFC", word).casefold().split())

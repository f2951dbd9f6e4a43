"""File names of a submission: what kind of file they mean, and how unusual ones are made safe to use everywhere."""

import re
import unicodedata
from pathlib import PurePosixPath
from typing import Final

from viva.config.find_course import RELEASED
from viva.model.submission import ARCHIVES
from viva.sandbox.guest.loading.student_files import name_as_code

CODE: Final = (".py", ".ipynb")
ANSWERS: Final = ("answers.yaml", "answers.yml")
_ANSWERS_LIKE: Final = re.compile(r"[^/]*answers?(?![a-z])[^/]*\.ya?ml(\.txt)?", re.IGNORECASE)
"""`answers (1).yaml`, `Answers.YML`, `ada_answers.yaml.txt`."""


def is_worth_a_note(name: str) -> bool:
    """Return whether a note tells the student that it was left out; the course that comes with the starter has none."""
    return name != RELEASED


def is_archive(name: str) -> bool:
    """Return whether this is an archive that is unpacked (in the box, never here)."""
    return name.lower().endswith(ARCHIVES)


def is_code(name: str) -> bool:
    """Return whether the file can be run or read as answers."""
    return name_as_code(name).endswith(CODE) or is_answers_file(name)


def is_answers_file(path: str) -> bool:
    """Return whether a path is that of a file of answers, in any folder, as computers rename copies of it."""
    return _ANSWERS_LIKE.fullmatch(PurePosixPath(path).name) is not None


def safe(name: str) -> str:
    """Return a file's name as Unicode text in normal form C, without control characters and undecodable bytes.

    Each of these becomes U+FFFD, so that the name can be stored, sent and shown. Windows allows any half of a
    surrogate pair in a name; other systems only give those that represent undecodable bytes.
    """
    half = "".join("\ufffd" if "\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" else c for c in name)
    text = half.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text = "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)
    return unicodedata.normalize("NFC", text)

"""Canvas, "Download submissions": flat files whose names say who, whether late, and which attachment.

`lovelaceada_LATE_1234_5678_solution.py`; anonymous: `LATE_anon_Ab3xY_5678_solution.py`; a text or a link that was
entered: `lovelaceada_1234_text.html`. A name that Canvas already has gets `-1`, `-2`: a resubmission.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, refused
from viva.submissions.classes.gathering import Gatherer

SOURCE: Final = "canvas"
FORM: Final = "lovelaceada_1234_5678_file.py"
_IN_A_NAME: Final = r"[^\x00-,./:-@\[-^`{-\x7f\s]"
"""Canvas writes a name in lower case, without everything that Ruby does not call a part of a word: what stays are
letters and marks of any script (Python's \\w knows no marks), digits and underscores."""
_WHO: Final = rf"(?:(?P<name>(?!LATE_|anon_){_IN_A_NAME}+?)_)?(?:(?P<late>LATE)_)?(?P<user>\d+|anon_[A-Za-z0-9]+)_"
_FILE_NAME: Final = re.compile(_WHO + r"(?P<attachment>\d+)_(?P<file>.+)", re.DOTALL)
_TEXT_NAME: Final = re.compile(_WHO + r"(?P<file>(?:text|link)\.html)")
_AGAIN: Final = re.compile(r"(?P<stem>.+)-(?P<number>[1-9]\d?)(?P<ending>(?:\.tar)?\.[^.]+|)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _File:
    """One file of one student."""

    path: Path
    user: str
    name: str
    late: bool
    attachment: int
    file: str
    base: str = ""
    """The name that the student gave, where Canvas added a number to it."""
    number: int = 0


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise it by names that say who and which attachment: at least one, and at least half of all."""
    fitting = sum(map(fits, entries))
    return fitting > 0 and 2 * fitting >= len(entries)


def fits(entry: Entry) -> bool:
    """Return whether a file has a name of Canvas's form."""
    return entry.sort == "file" and _parse(entry) is not None


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each student and attempt, with all its files."""
    reading = Reading()
    by_user: dict[str, list[_File]] = {}
    for entry in entries:
        parsed = _parse(entry) if entry.sort == "file" else None
        if parsed is not None:
            by_user.setdefault(parsed.user, []).append(parsed)
        else:
            reason = "has no name that Canvas gives" if entry.sort in ("file", "folder") else refused(entry)
            reading.unmatched.append(Unmatched(entry.name, reason))
    for user, attempts in _with_bases(by_user).items():
        for files in _attempts(attempts):
            reading.found.append(_found(user, files, gatherer, one_of_several=len(attempts) > len(files)))
    return reading


def _found(user: str, files: Sequence[_File], gatherer: Gatherer, *, one_of_several: bool) -> Found:
    name, number = files[0].name, max(f.number for f in files)
    label = f"{name}_{user}" if name else user
    folder = f"{label}-{number + 1}" if one_of_several else label
    anonymous = user.startswith("anon_")
    return Found(
        label,
        gatherer.gather(folder, [(f.base, f.path) for f in files]),
        (Person(user, name, {} if anonymous else {"canvas": user}),),
        late=any(f.late for f in files),
        attempt=number + 1,
        order=f"{number:04}",
        group=name,
    )


def _parse(entry: Entry) -> _File | None:
    match = _FILE_NAME.fullmatch(entry.name)
    if match is not None:
        attachment, file = int(match["attachment"][:20]), match["file"]
    elif (match := _TEXT_NAME.fullmatch(entry.name)) is not None:
        attachment, file = 0, match["file"]
    else:
        return None
    return _File(entry.path, match["user"], match["name"] or "", match["late"] is not None, attachment, file, file)


def _with_bases(by_user: dict[str, list[_File]]) -> dict[str, list[_File]]:
    """Distinguish a `-1` that Canvas added from `hw-1.py` that all were given: some student has the name without it."""
    plain = Counter(name for files in by_user.values() for name in {f.file for f in files})

    def based(file: _File, own: set[str]) -> _File:
        match = _AGAIN.fullmatch(file.file)
        base = match["stem"] + match["ending"] if match is not None else ""
        if match is None or not (base in own or plain[base] >= min(2, plain[file.file]) > 0):
            return file
        return _File(file.path, file.user, file.name, file.late, file.attachment, file.file, base, int(match["number"]))

    return {user: [based(f, {f.file for f in files}) for f in files] for user, files in by_user.items()}


def _attempts(files: Sequence[_File]) -> list[list[_File]]:
    """Split files into attempts: in the order of the attachments, a name that repeats begins a new attempt."""
    attempts: list[list[_File]] = [[]]
    entered = [f for f in files if f.attachment == 0]
    for file in sorted((f for f in files if f.attachment), key=lambda f: (f.attachment, f.file)):
        if any(file.base == other.base for other in attempts[-1]):
            attempts.append([])
        attempts[-1].append(file)
    attempts[-1] += entered  # there is one for each student: that of the last attempt
    return attempts

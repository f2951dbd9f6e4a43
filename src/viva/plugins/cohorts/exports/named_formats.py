"""Canvas, Moodle and Brightspace: the names of files and folders say whose they are."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from viva.plugins.cohorts.exports.export_folder import FolderEntry, Gatherer, list_entries
from viva.plugins.cohorts.exports.export_format import Found, Person, Reading
from viva.plugins.cohorts.exports.names import clean_text
from viva.plugins.cohorts.exports.times import parse_english_time

Matched = Sequence[tuple[FolderEntry, re.Match[str]]]


class NamedExport(ABC):
    """A kind of export whose entries have names of one form."""

    name: str
    example: ClassVar[str]
    """A name of this form."""
    _patterns: ClassVar[Sequence[re.Pattern[str]]]
    _sorts: ClassVar[Sequence[str]] = ("file", "folder")
    _ignored: ClassVar[str] = ""
    """The platform's own file next to the submissions."""

    def match(self, entry: FolderEntry) -> re.Match[str] | None:
        """Return the parts of an entry's name; None if it has another form."""
        matches = (pattern.fullmatch(entry.name) for pattern in self._patterns)
        return next((match for match in matches if match is not None), None)

    def fits(self, entry: FolderEntry) -> bool:
        """Return whether an entry may be a submission by its name and by what it is."""
        return entry.sort in (*self._sorts, "link") and self.match(entry) is not None

    def recognize(self, folder: Path, entries: tuple[FolderEntry, ...]) -> bool:
        """Recognize it by at least one name of its form, and at least half of all."""
        fitting = sum(map(self.fits, entries))
        return fitting > 0 and 2 * fitting >= len(entries)

    def read(self, folder: Path, entries: tuple[FolderEntry, ...], gatherer: Gatherer) -> Reading:
        """Read the submissions whose names have the form; list the other entries."""
        reading = Reading()
        matched = []
        for entry in entries:
            match = self.match(entry)
            if match is not None and entry.sort in self._sorts:
                matched.append((entry, match))
            elif entry.name != self._ignored:
                reading.unmatched.append(entry.refuse(f"has no name that {self.name.title()} gives"))
        reading.found += self._read_matched(matched, gatherer)
        return reading

    @abstractmethod
    def _read_matched(self, matched: Matched, gatherer: Gatherer) -> Iterator[Found]: ...


# Canvas writes a name in lower case, without everything that Ruby does not call a part of a word: what stays are
# letters and marks of any script (Python's \w knows no marks), digits and underscores.
_IN_A_NAME: Final = r"[^\x00-,./:-@\[-^`{-\x7f\s]"
_WHO: Final = rf"(?:(?P<name>(?!LATE_|anon_){_IN_A_NAME}+?)_)?(?:(?P<late>LATE)_)?(?P<user>\d+|anon_[A-Za-z0-9]+)_"
_AGAIN: Final = re.compile(r"(?P<stem>.+)-(?P<number>[1-9]\d?)(?P<ending>(?:\.tar)?\.[^.]+|)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _CanvasFile:
    """One file of one student."""

    path: Path
    user: str
    name: str
    late: bool
    attachment: int
    """0 for text that was entered."""
    file: str
    base: str
    """The name that the student gave, without a number that Canvas added to it."""
    number: int = 0


class CanvasExport(NamedExport):
    """Canvas, "Download submissions": flat files, `lovelaceada_LATE_1234_5678_solution.py`.

    Anonymous: `LATE_anon_Ab3xY_5678_solution.py`; entered text: `lovelaceada_1234_text.html`. A name that Canvas
    already has gets `-1`, `-2`: a resubmission.
    """

    name = "canvas"
    example = "lovelaceada_1234_5678_file.py"
    _patterns = (
        re.compile(_WHO + r"(?P<attachment>\d+)_(?P<file>.+)", re.DOTALL),
        re.compile(_WHO + r"(?P<attachment>)(?P<file>(?:text|link)\.html)"),
    )
    _sorts = ("file",)

    def _read_matched(self, matched: Matched, gatherer: Gatherer) -> Iterator[Found]:
        by_user: dict[str, list[_CanvasFile]] = {}
        for entry, match in matched:
            number = int(match["attachment"][:20] or 0)
            name, file, is_late = match["name"] or "", match["file"], match["late"] is not None
            found = _CanvasFile(entry.path, match["user"], name, is_late, number, file, file)
            by_user.setdefault(found.user, []).append(found)
        students = Counter(name for files in by_user.values() for name in {file.file for file in files})
        for files in by_user.values():
            own = {file.file for file in files}
            attempts = _split_attempts([_find_base(file, own, students) for file in files])
            for attempt in attempts:
                yield _join_canvas_files(attempt, gatherer, is_only=len(attempts) == 1)


def _find_base(file: _CanvasFile, own: set[str], students: Counter[str]) -> _CanvasFile:
    """Distinguish a `-1` that Canvas added from `hw-1.py` that all were given: some student has the name without it."""
    match = _AGAIN.fullmatch(file.file)
    if match is None:
        return file
    base = match["stem"] + match["ending"]
    if base in own or students[base] >= min(2, students[file.file]):
        return replace(file, base=base, number=int(match["number"]))
    return file


def _split_attempts(files: Sequence[_CanvasFile]) -> list[list[_CanvasFile]]:
    """Split files into attempts: in the order of the attachments, a name that repeats begins a new attempt."""
    attempts: list[list[_CanvasFile]] = [[]]
    for file in sorted(files, key=lambda file: (file.attachment, file.file)):
        if file.attachment and any(file.base == other.base for other in attempts[-1]):
            attempts.append([])
        if file.attachment:
            attempts[-1].append(file)
    attempts[-1] += [file for file in files if not file.attachment]  # entered text is that of the last attempt
    return attempts


def _join_canvas_files(files: Sequence[_CanvasFile], gatherer: Gatherer, *, is_only: bool) -> Found:
    user, name = files[0].user, files[0].name
    number = max(file.number for file in files)
    label = f"{name}_{user}" if name else user
    keys = {} if user.startswith("anon_") else {"canvas": user}
    path = gatherer.gather(label if is_only else f"{label}-{number + 1}", [(file.base, file.path) for file in files])
    is_late = any(file.late for file in files)
    person = Person(user, name, keys)
    return Found(label, path, (person,), late=is_late, attempt=number + 1, order=f"{number:04}", group=name)


class MoodleExport(NamedExport):
    """Moodle, "Download all submissions": folders or flat files, `{Full Name}_{number}_assignsubmission_file…`.

    The number is that of the participant in the grading worksheet, or of the team. Names have spaces where they had
    underscores; some sites put the login in front. In a blind assignment everyone is "Participant".
    """

    name = "moodle"
    example = "Ada Lovelace_1234_assignsubmission_file"
    _patterns = (re.compile(r"(?P<who>.*)_(?P<number>\d{1,20})_assignsubmission_[a-z]+_?(?P<file>.*)", re.DOTALL),)

    def _read_matched(self, matched: Matched, gatherer: Gatherer) -> Iterator[Found]:
        submitters: dict[tuple[str, str], list[tuple[str, Path]]] = {}
        for entry, match in matched:
            submitters.setdefault((match["who"], match["number"]), []).extend(_moodle_parts(entry, match["file"]))
        numbers = Counter(number for _, number in submitters)
        for (who, number), parts in submitters.items():
            label = f"{_read_moodle_name(who)}_{number}"
            is_one_folder = len(parts) == 1 and parts[0][0] == ""
            path = parts[0][1] if is_one_folder else gatherer.gather(label, parts)
            # A team may have the number of a participant: then the name distinguishes them.
            person = _moodle_person(who, number, label if numbers[number] > 1 else number)
            yield Found(label, path, (person,), group=person.name, also={"moodle": number})


def _moodle_parts(entry: FolderEntry, file: str) -> Iterator[tuple[str, Path]]:
    """Yield a flat file under its own name, and a folder as it is, or its entries if Moodle made it for a text."""
    if entry.sort == "file":
        yield file or entry.name, entry.path
    elif "_assignsubmission_file" in entry.name:
        yield "", entry.path
    else:
        yield from ((inner.path.name, inner.path) for inner in list_entries(entry.path))


def _read_moodle_name(text: str) -> str:
    return clean_text(text.replace("_", " "))


def _moodle_person(who: str, number: str, id_: str) -> Person:
    """Return who it may be, with a login in front of the name if there is one; the name may be a team's."""
    name, keys = _read_moodle_name(who), {"moodle": number}
    prefix, underscore, rest = who.partition("_")
    if name == "Participant":
        return Person(id_, "", keys)
    if not underscore or re.search(r"\s", prefix):
        return Person(id_, name, keys)
    without_login = _read_moodle_name(rest)
    return Person(id_, without_login if re.search(r"\s", rest) else name, keys, (prefix, without_login))


_DATE: Final = r"[^-/]{3,20} \d{1,2}, \d{4},? \d{1,2}[:.]?\d{2}(?: ?[AaPp]\.?[Mm]\.?)?"
_OTHER_DATE: Final = r"\d{1,2}\.? [^-/]{3,20} \d{4},? \d{1,2}[:.]?\d{2}"  # elsewhere the day comes first


class BrightspaceExport(NamedExport):
    """Brightspace (D2L): `{assignment}-{user} - Ada Lovelace - Oct 5, 2026 1107 AM/…`, or flat, ` - hw.py` after it.

    The time has no zone: it is in the zone of the person who downloaded. Each time is an attempt. Descriptions of the
    format disagree about which of the two numbers is the user's: it is the one that goes with one name only.
    """

    name = "brightspace"
    example = "1234-5678 - Ada Lovelace - Nov 3, 2026 1159 PM"
    _patterns = (
        re.compile(
            r"(?P<head>(?P<one>\d{1,20})-(?P<two>\d{1,20}) ?- ?(?P<name>.+?) ?- ?"
            rf"(?P<date>{_DATE}|{_OTHER_DATE}))(?: ?- ?(?P<file>.+))?",
            re.DOTALL,
        ),
    )
    _ignored = "index.html"

    def _read_matched(self, matched: Matched, gatherer: Gatherer) -> Iterator[Found]:
        number = _find_user_number([match for _, match in matched])
        flat: dict[str, list[tuple[FolderEntry, re.Match[str]]]] = {}
        for entry, match in matched:
            if entry.sort == "folder":
                yield _read_brightspace_folder(match, number, entry.name, entry.path)
            else:
                flat.setdefault(match["head"], []).append((entry, match))
        for head, files in flat.items():
            path = gatherer.gather(head, [(match["file"] or entry.name, entry.path) for entry, match in files])
            yield _read_brightspace_folder(files[0][1], number, head, path)


def _find_user_number(matches: Sequence[re.Match[str]]) -> str:
    """Return the group of the number that goes with one name only: the second if both do, "" if neither does."""
    fitting = []
    for number in ("two", "one"):
        values = {match[number] for match in matches}
        if len(values) == len({(match[number], clean_text(match["name"])) for match in matches}):
            fitting.append((number, len(values)))
    # A number that the whole class has is the assignment's, however few people submitted.
    return max(fitting, key=lambda each: each[1], default=("", 0))[0]


def _read_brightspace_folder(match: re.Match[str], number: str, label: str, path: Path) -> Found:
    name = clean_text(match["name"])
    user = match[number] if number else f"{match['one']}-{match['two']} {name}"
    person = Person(user, name, {"brightspace_user": user} if number else {})
    moment = parse_english_time(match["date"])
    submitted, order = clean_text(match["date"]), label
    if moment is not None:
        submitted, order = moment.isoformat(sep=" "), moment.isoformat()
    return Found(f"{name}_{user}", path, (person,), order=order, group=name, also={"submitted": submitted})

"""Moodle, "Download all submissions": folders or flat files, `{Full Name}_{number}_assignsubmission_file…`.

The number is that of the participant in the grading worksheet ("Participant 1234"), or of the team. Names have spaces
where they had underscores; some sites put the login in front. In a blind assignment everyone is "Participant".
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, entries_of, refused
from viva.submissions.classes.gathering import Gatherer
from viva.submissions.classes.people import clean

SOURCE: Final = "moodle"
FORM: Final = "Ada Lovelace_1234_assignsubmission_file"
_BLIND: Final = "Participant"
_NAME: Final = re.compile(
    r"(?P<who>.*)_(?P<number>\d{1,20})_assignsubmission_(?P<plugin>[a-z]+)_?(?P<file>.*)", re.DOTALL
)


@dataclass(slots=True)
class _Submitter:
    """What one participant or team submitted."""

    who: str
    number: str
    parts: list[tuple[str, Path]]


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise it by names of Moodle's form: at least one, and at least half of all."""
    fitting = sum(map(fits, entries))
    return fitting > 0 and 2 * fitting >= len(entries)


def fits(entry: Entry) -> bool:
    """Return whether an entry has a name of Moodle's form."""
    return _NAME.fullmatch(entry.name) is not None


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each participant or team: its files, and the text that was entered."""
    reading = Reading()
    by_name_and_number: dict[tuple[str, str], _Submitter] = {}
    for entry in entries:
        match = _NAME.fullmatch(entry.name)
        if match is None:
            reading.unmatched.append(Unmatched(entry.name, "has no name that Moodle gives"))
        elif entry.sort not in ("file", "folder"):
            reading.unmatched.append(Unmatched(entry.name, refused(entry)))
        else:
            submitter = by_name_and_number.setdefault(
                (match["who"], match["number"]), _Submitter(match["who"], match["number"], [])
            )
            submitter.parts += _parts(entry, match["file"])
    numbers = Counter(number for _, number in by_name_and_number)
    for submitter in by_name_and_number.values():
        label = f"{clean(submitter.who.replace('_', ' '))}_{submitter.number}"
        only = submitter.parts[0]
        path = only[1] if len(submitter.parts) == 1 and only[0] == "" else gatherer.gather(label, submitter.parts)
        # A team may have the number of a participant: then the name distinguishes them.
        people, group = _people(
            submitter.who, submitter.number, label if numbers[submitter.number] > 1 else submitter.number
        )
        reading.found.append(Found(label, path, people, group=group, also={"moodle": submitter.number}))
    return reading


def _parts(entry: Entry, file: str) -> Iterator[tuple[str, Path]]:
    """Yield a flat file under its own name, and a folder as it is, or its entries if Moodle made it for a text."""
    if entry.sort == "file":
        yield file or entry.name, entry.path
    elif "_assignsubmission_file" in entry.name:
        yield "", entry.path
    else:
        yield from ((e.path.name, e.path) for e in entries_of(entry.path))


def _people(who: str, number: str, id_: str) -> tuple[tuple[Person, ...], str]:
    """Return who it may be, with a login in front of the name if there is one; and the name, which may be a team's."""
    name = clean(who.replace("_", " "))
    if name == _BLIND:
        return (Person(id_, "", {"moodle": number}),), ""
    prefix, underscore, rest = who.partition("_")
    logins: tuple[str, ...] = ()
    if underscore and not re.search(r"\s", prefix):
        logins = (prefix, clean(rest.replace("_", " ")))
        if re.search(r"\s", rest):
            name = clean(rest.replace("_", " "))
    return (Person(id_, name, {"moodle": number}, logins),), name

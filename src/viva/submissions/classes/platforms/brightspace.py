"""Brightspace (D2L): `{assignment}-{user} - Ada Lovelace - Oct 5, 2026 1107 AM/…`, or flat, ` - solution.py` after it.

The time has no zone: it is in the zone of the person who downloaded. Each time is an attempt. Descriptions of the
format disagree about which of the two numbers is the user's: it is the one that goes with one name only.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viva.submissions.classes import times
from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, refused
from viva.submissions.classes.gathering import Gatherer
from viva.submissions.classes.people import clean

SOURCE: Final = "brightspace"
FORM: Final = "1234-5678 - Ada Lovelace - Nov 3, 2026 1159 PM"
_DATE: Final = r"[^-/]{3,20} \d{1,2}, \d{4},? \d{1,2}[:.]?\d{2}(?: ?[AaPp]\.?[Mm]\.?)?"
_OTHER_DATE: Final = r"\d{1,2}\.? [^-/]{3,20} \d{4},? \d{1,2}[:.]?\d{2}"  # elsewhere the day comes first
_NAME: Final = re.compile(
    r"(?P<one>\d{1,20})-(?P<two>\d{1,20}) ?- ?(?P<name>.+?) ?- ?"
    rf"(?P<date>{_DATE}|{_OTHER_DATE})(?: ?- ?(?P<file>.+))?",
    re.DOTALL,
)
_LISTING: Final = "index.html"


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise it by names of its form: at least one, and at least half of all."""
    fitting = sum(map(fits, entries))
    return fitting > 0 and 2 * fitting >= len(entries)


def fits(entry: Entry) -> bool:
    """Return whether an entry has a name of Brightspace's form."""
    return _NAME.fullmatch(entry.name) is not None


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each person and time."""
    reading = Reading()
    number = _number_of_user([match for e in entries if (match := _NAME.fullmatch(e.name)) is not None])
    flat: dict[str, list[tuple[str, Path]]] = {}
    heads: dict[str, re.Match[str]] = {}
    for entry in entries:
        match = _NAME.fullmatch(entry.name)
        if match is None and entry.name == _LISTING:
            continue  # the platform's own list of submissions
        if match is None or entry.sort not in ("file", "folder"):
            reason = "has no name that Brightspace gives" if match is None else refused(entry)
            reading.unmatched.append(Unmatched(entry.name, reason))
        elif entry.sort == "folder":
            reading.found.append(_found(match, number, entry.name, entry.path))
        else:
            head = entry.name[: match.start("file")].rstrip(" -") if match["file"] else entry.name
            heads[head] = match
            flat.setdefault(head, []).append((match["file"] or entry.name, entry.path))
    for head, files in flat.items():
        reading.found.append(_found(heads[head], number, head, gatherer.gather(head, files)))
    return reading


def _number_of_user(matches: Sequence[re.Match[str]]) -> str:
    """Return the group of the number that goes with one name only: the second if both do, "" if neither does."""

    def is_users(number: str) -> bool:
        return len({m[number] for m in matches}) == len({(m[number], clean(m["name"])) for m in matches})

    fitting = [number for number in ("two", "one") if is_users(number)]
    # A number that the whole class has is the assignment's, however few people submitted.
    return max(fitting, key=lambda number: len({m[number] for m in matches}), default="")


def _found(match: re.Match[str], number: str, label: str, path: Path) -> Found:
    name = clean(match["name"])
    user = match[number] if number else f"{match['one']}-{match['two']} {name}"
    keys = {"brightspace_user": user} if number else {}
    moment = times.of_english(match["date"])
    also = {"submitted": moment.isoformat(sep=" ") if moment is not None else clean(match["date"])}
    order = moment.isoformat() if moment is not None else label
    return Found(f"{name}_{user}", path, (Person(user, name, keys),), order=order, group=name, also=also)

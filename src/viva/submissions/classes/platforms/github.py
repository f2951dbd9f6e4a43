"""Clones of a class's repositories: `<slug>-submissions/<slug>-<login or team>/`, or folders `<slug>-…` with a `.git`.

Nothing in a clone's `.git` is read and git is not run: both belong to the student.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, refused
from viva.submissions.classes.gathering import Gatherer

SOURCE: Final = "github"
ROSTER: Final = "classroom_roster.csv"
"""The roster that the classroom's site offers; if it is next to the clones, it is used unless another was given."""
_SUBMISSIONS: Final = "-submissions"


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise it by the folder's name from the classroom's tool, or by folders that are all clones of one slug."""
    names = [e.name for e in entries if e.sort == "folder"]
    here = folder.absolute().name
    slug = here.removesuffix(_SUBMISSIONS)
    if slug != here and any(name.startswith(f"{slug}-") and name != here for name in names):
        return True
    return bool(_common(names)) and all(_is_clone(e.path) for e in entries if e.sort == "folder")


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each repository."""
    reading = Reading()
    folders = [e for e in entries if e.sort == "folder"]
    here = folder.absolute().name
    slug = here.removesuffix(_SUBMISSIONS)
    prefix = f"{slug}-" if slug != here else _common([e.name for e in folders])
    for entry in entries:
        if entry.sort == "folder" and entry.name.startswith(prefix):
            reading.found.append(_found(entry, prefix))
        elif entry.sort == "folder":
            reading.unmatched.append(Unmatched(entry.name, f"is not a repository of this assignment ({prefix}…)"))
        elif entry.name != ROSTER:
            reason = "is not a repository" if entry.sort == "file" else refused(entry)
            reading.unmatched.append(Unmatched(entry.name, reason))
    return reading


def _found(entry: Entry, prefix: str) -> Found:
    login = entry.name.removeprefix(prefix)
    # Two logins may begin alike ("hw-ada-b", "hw-ada-c"): the whole name and every tail may be the login.
    parts = entry.name.split("-")
    tails = tuple("-".join(parts[at:]) for at in range(1, len(parts)))
    person = Person(login, "", {"login": login}, tuple(t for t in tails if t != login))
    return Found(entry.name, entry.path, (person,), group=login, also={"repository": entry.name})


def _common(names: Sequence[str]) -> str:
    """Return the common beginning of two or more names, up to a hyphen."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)  # whatever these two share, all share
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[: first.rfind("-", 0, same) + 1]


def _is_clone(path: Path) -> bool:
    try:
        return (path / ".git").lstat() is not None
    except OSError:
        return False

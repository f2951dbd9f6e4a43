"""Gradescope, "Export submissions": `submission_metadata.yml` next to one folder or PDF for each submission.

The file is written by a Ruby program: its keys are symbols, which are plain text with a colon for a safe reader. It
holds what students typed and what autograders printed, so size, depth and aliases are bounded before it is loaded.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

from viva.submissions.classes import times
from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, read_text, refused
from viva.submissions.classes.gathering import Gatherer
from viva.submissions.classes.people import clean

SOURCE: Final = "gradescope"
_METADATA: Final = "submission_metadata.yml"
MOST_BYTES: Final = 128 << 20
MOST_EVENTS: Final = 1_000_000
"""Values of one submission, with the results of its whole history."""
MOST_ALIASES: Final = 10_000
MOST_DEPTH: Final = 40
_TOP: Final = re.compile(r"^(?=submission_\d+:)", re.MULTILINE)
_KEY: Final = re.compile(r"submission_(\d{1,20})")
_ENTRY: Final = re.compile(r"(?:submission_)?(\d{1,20})(?:\.pdf)?", re.IGNORECASE)
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE: Final = "<<"


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise it by the file with the metadata."""
    return any(e.name == _METADATA for e in entries)


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each submission in the metadata, with all its submitters.

    Raises:
        UsageError: the metadata is not a file, or too large.
    """
    reading = Reading()
    known = _metadata(folder / _METADATA, reading)
    entry_of: dict[str, Entry] = {}
    for entry in entries:
        match = _ENTRY.fullmatch(entry.name)
        if entry.name == _METADATA:
            continue
        if match is not None and entry.sort in ("file", "folder") and f"submission_{match[1]}" in known:
            entry_of[f"submission_{match[1]}"] = entry
        else:
            reason = "is not in the metadata" if entry.sort in ("file", "folder") else refused(entry)
            reading.unmatched.append(Unmatched(entry.name, reason))
    for key, metadata in known.items():
        if key in entry_of:
            reading.found.append(_found(key, metadata, entry_of[key].path))
        else:
            reading.unmatched.append(Unmatched(key, "is in the metadata, but its files are not in the export"))
    return reading


def _found(key: str, metadata: Mapping[str, object], path: Path) -> Found:
    submitted_at = times.of_iso(metadata.get(":created_at"))
    number = key.removeprefix("submission_")
    history = [each for each in _list(metadata.get(":history")) if isinstance(each, Mapping)]
    moments = (times.of_iso(each.get(":created_at")) for each in history if str(each.get(":id", "")) != number)
    earlier = sum(1 for m in moments if m is not None and submitted_at is not None and m < submitted_at)
    return Found(
        key,
        path,
        tuple(_people(metadata.get(":submitters"), number)),
        submitted_at=submitted_at,
        attempt=earlier + 1,
        order=submitted_at.isoformat() if submitted_at is not None else key,
        also={"submission": number, "history": str(len(history))},
    )


def _people(submitters: object, number: str) -> Iterator[Person]:
    for each in _list(submitters):
        if isinstance(each, Mapping):
            name, sid, email = (clean(_text(each.get(key))) for key in (":name", ":sid", ":email"))
            keys = {"id": sid, "email": email, "gradescope": sid or email}
            if sid or email or name:
                # A name alone does not identify a person: then the submission's number is added to it.
                yield Person(
                    sid or email or f"{name} ({number})", name, {key: text for key, text in keys.items() if text}
                )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return str(value)[:300] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _metadata(path: Path, reading: Reading) -> dict[str, Mapping[str, object]]:
    """Return the metadata of each submission, read one after the other: no class is too large.

    Each submission starts at the beginning of a line; everything in it is indented. If the metadata of one cannot be
    read, only that submission is without.
    """
    known: dict[str, Mapping[str, object]] = {}
    for part in _TOP.split(read_text(path, MOST_BYTES)):
        key = part.split(":", 1)[0]
        if not _KEY.fullmatch(key):
            continue
        try:
            _bound(part)
            metadata = _load(part).get(key)
            known[key] = metadata if isinstance(metadata, Mapping) else {}
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError, AttributeError) as error:
            problem = clean(str(getattr(error, "problem", None) or error))[:200]
            reading.unmatched.append(Unmatched(key, f"has metadata that cannot be read ({problem})"))
            known[key] = {}
    return known


def _load(text: str) -> Any:
    """Load plain values with the safe loader, the fast one where it is installed."""
    loader = _LOADER(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _bound(text: str) -> None:
    """Refuse what would grow while it is loaded: endless nesting, aliases of aliases, merged mappings."""
    depth = aliases = 0
    for events, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        aliases += isinstance(event, AliasEvent)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, ScalarEvent) and event.value == _MERGE and event.implicit[0]:
            raise ValueError("it merges mappings, which no export does")
        if depth > MOST_DEPTH or events > MOST_EVENTS or aliases > MOST_ALIASES:
            raise ValueError("it is deeper or larger than any export")

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

from viva.plugins.cohorts.exports.export_folder import FolderEntry, Gatherer, read_text
from viva.plugins.cohorts.exports.export_format import Found, Person, Reading
from viva.plugins.cohorts.exports.names import clean_text
from viva.plugins.cohorts.exports.times import parse_iso_time
from viva.submissions.class_export import Unmatched

MAX_BYTES: Final = 128 << 20
MAX_EVENTS: Final = 1_000_000
"""Values of one submission, with the results of its whole history."""
MAX_ALIASES: Final = 10_000
MAX_DEPTH: Final = 40
_METADATA: Final = "submission_metadata.yml"
_TOP: Final = re.compile(r"^(?=submission_\d+:)", re.MULTILINE)
_KEY: Final = re.compile(r"submission_(\d{1,20})")
_ENTRY: Final = re.compile(r"(?:submission_)?(\d{1,20})(?:\.pdf)?", re.IGNORECASE)
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNREADABLE: Final = (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError, AttributeError)

Metadata = Mapping[str, object]


class GradescopeExport:
    """Reads exports of Gradescope."""

    name = "gradescope"

    def recognize(self, folder: Path, entries: tuple[FolderEntry, ...]) -> bool:
        """Recognize it by the file with the metadata."""
        return any(entry.name == _METADATA for entry in entries)

    def read(self, folder: Path, entries: tuple[FolderEntry, ...], gatherer: Gatherer) -> Reading:
        """Read one submission for each submission in the metadata, with all its submitters.

        Raises:
            UsageError: the metadata is not a file, or too large.
        """
        reading = Reading()
        known = _read_metadata(folder / _METADATA, reading)
        paths: dict[str, Path] = {}
        for entry in entries:
            match = _ENTRY.fullmatch(entry.name)
            key = f"submission_{match[1]}" if match is not None else ""
            if key in known and entry.sort in ("file", "folder"):
                paths[key] = entry.path
            elif entry.name != _METADATA:
                reading.unmatched.append(entry.refuse("is not in the metadata"))
        for key, metadata in known.items():
            if key in paths:
                reading.found.append(_read_submission(key, metadata, paths[key]))
            else:
                reading.unmatched.append(Unmatched(key, "is in the metadata, but its files are not in the export"))
        return reading


def _read_submission(key: str, metadata: Metadata, path: Path) -> Found:
    submitted_at = parse_iso_time(metadata.get(":created_at"))
    number = key.removeprefix("submission_")
    history = _mappings(metadata.get(":history"))
    earlier = 0
    for other in history:
        moment = parse_iso_time(other.get(":created_at"))
        if submitted_at is not None and moment is not None and str(other.get(":id", "")) != number:
            earlier += moment < submitted_at
    people = tuple(_people(metadata.get(":submitters"), number))
    order = submitted_at.isoformat() if submitted_at is not None else key
    also = {"submission": number, "history": str(len(history))}
    return Found(key, path, people, submitted_at, attempt=earlier + 1, order=order, also=also)


def _people(submitters: object, number: str) -> Iterator[Person]:
    for submitter in _mappings(submitters):
        name, sid, email = (_read_value(submitter.get(key)) for key in (":name", ":sid", ":email"))
        keys = {"id": sid, "email": email, "gradescope": sid or email}
        if sid or email or name:
            # A name alone does not identify a person: then the submission's number is added to it.
            id_ = sid or email or f"{name} ({number})"
            yield Person(id_, name, {key: text for key, text in keys.items() if text})


def _mappings(value: object) -> list[Metadata]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _read_value(value: object) -> str:
    is_value = isinstance(value, str | int) and not isinstance(value, bool)
    return clean_text(str(value)[:300]) if is_value else ""


def _read_metadata(path: Path, reading: Reading) -> dict[str, Metadata]:
    """Return the metadata of each submission, read one after the other: no class is too large.

    Each submission starts at the beginning of a line; everything in it is indented. If the metadata of one cannot be
    read, only that submission is without.
    """
    known: dict[str, Metadata] = {}
    for part in _TOP.split(read_text(path, MAX_BYTES)):
        key = part.split(":", 1)[0]
        if not _KEY.fullmatch(key):
            continue
        known[key] = {}
        try:
            _refuse_growth(part)
            metadata = yaml.load(part, Loader=_LOADER).get(key)  # noqa: S506  # both loaders are safe ones
            if isinstance(metadata, Mapping):
                known[key] = metadata
        except _UNREADABLE as error:
            problem = clean_text(str(getattr(error, "problem", None) or error))[:200]
            reading.unmatched.append(Unmatched(key, f"has metadata that cannot be read ({problem})"))
    return known


def _refuse_growth(text: str) -> None:
    """Refuse what would grow while it is loaded: endless nesting, aliases of aliases, merged mappings."""
    depth = aliases = 0
    for events, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        aliases += isinstance(event, AliasEvent)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, ScalarEvent) and event.value == "<<" and event.implicit[0]:
            raise ValueError("it merges mappings, which no export does")
        if depth > MAX_DEPTH or events > MAX_EVENTS or aliases > MAX_ALIASES:
            raise ValueError("it is deeper or larger than any export")

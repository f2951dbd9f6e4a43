"""Keep what a verification that held has found, so that a release right after it need not grade everything again.

One file for each assignment, in the course's folder `.verified`. It counts only if nothing has changed since: the files
of the assignment, viva itself, what is installed, the secret and the isolation level. If it cannot be written, nothing
is kept.
"""

import contextlib
import hashlib
import os
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import msgpack

import viva
from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.model import Score, Tier
from viva.model.errors import UsageError
from viva.model.plain import score_from_plain, score_to_plain
from viva.verify.verify_course import Finding

FOLDER: Final = ".verified"
_SURROGATES: Final = "surrogatepass"
"""Texts of students may hold lone surrogates."""
_MOST_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Verified:
    """What one example submission got."""

    score: Score
    call_log: bytes
    """What its boxes were asked and replied; empty if that was too large."""


def verified(findings: Sequence[Finding]) -> dict[str, Verified]:
    """Return what the example submissions got, by their names."""
    return {f.what: Verified(f.score, f.call_log) for f in findings if f.score is not None and not f.is_mutant}


def remember(course: Course, assignment: Assignment, tier: Tier, secret: bytes, found: Mapping[str, Verified]) -> None:
    """Keep what a verification found in which everything held."""
    table = {name: [score_to_plain(each.score), each.call_log] for name, each in found.items()}
    state = _state(course, assignment, tier, secret)
    data = zlib.compress(msgpack.packb([state, table], use_bin_type=True, unicode_errors=_SURROGATES), 1)
    place = _place(course, assignment)
    if len(data) <= _MOST_BYTES:
        with contextlib.suppress(OSError, UsageError):
            place.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomically(place.parent / ".gitignore", b"*\n", durable=False)
            write_atomically(place, data, durable=False, mode=0o600)


def recall(course: Course, assignment: Assignment, tier: Tier, secret: bytes) -> dict[str, Verified] | None:
    """Return what the last verification found; None if there was none, or something has changed since."""
    try:
        data = zlib.decompressobj().decompress(_read(_place(course, assignment)), 16 * _MOST_BYTES)
        state, table = msgpack.unpackb(data, raw=False, strict_map_key=False, unicode_errors=_SURROGATES)
        if state != _state(course, assignment, tier, secret):
            return None
        return {name: Verified(score_from_plain(score), call_log) for name, (score, call_log) in table.items()}
    except (OSError, zlib.error, ValueError, TypeError, KeyError):
        return None


def _read(path: Path) -> bytes:
    """Read a file that this user has written and no one else can change.

    Raises:
        OSError: there is none, or it belongs to another user.
    """
    found = path.lstat()
    own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
    if not stat.S_ISREG(found.st_mode) or not own:
        raise PermissionError(path)
    return path.read_bytes()


def _place(course: Course, assignment: Assignment) -> Path:
    return course.root / FOLDER / assignment.name


def _state(course: Course, assignment: Assignment, tier: Tier, secret: bytes) -> str:
    """Return a digest of everything that decides what a verification finds."""
    root, digest = course.root, hashlib.sha256()
    files = [
        *_files(Path(viva.__file__).parent.rglob("*.py")),
        *_files([root / "grader.yaml", *root.glob("*.py")]),
        *_files((root / "graders").rglob("*")),
        *_files((root / "reference").rglob("*")),
        *_files((root / "assignments" / assignment.name).rglob("*")),
        *_files((root / "fixtures" / assignment.name).rglob("*")),
    ]
    for path in files:
        data = path.read_bytes()
        digest.update(f"{path}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data)
    others = [str(tier), hashlib.sha256(secret).hexdigest(), sys.version, str(assignment.python)]
    others += sorted(f"{each.name} {each.version}" for each in metadata.distributions())
    digest.update(repr(others).encode())
    return digest.hexdigest()


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in sorted(paths) if path.is_file() and "__pycache__" not in path.parts)

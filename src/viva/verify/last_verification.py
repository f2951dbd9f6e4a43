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
from collections.abc import Iterable, Iterator, Sequence
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
from viva.verify.verify_course import Finding, verify

FOLDER: Final = ".verified"
_SURROGATES: Final = "surrogatepass"
"""Texts of students may hold lone surrogates."""
_MOST_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of one example submission."""

    score: Score
    call_log: bytes
    """Its exchanges with boxes; empty if they were too large."""


class LastVerification:
    """What was found the last time, for the state in which the course is when this is made."""

    def __init__(self, course: Course, assignment: Assignment, tier: Tier, secret: bytes) -> None:
        """Note the state; make this before verifying, so that a file that changes meanwhile counts as changed."""
        self._course, self._assignment, self._tier, self._secret = course, assignment, tier, secret
        self._place = course.root / FOLDER / assignment.name
        self._state = _state(course, assignment, tier, secret)

    def remember(self, findings: Sequence[Finding]) -> dict[str, Verified]:
        """Keep and return what the example submissions got, by their names; everything must have held."""
        found = {f.what: Verified(f.score, f.call_log) for f in findings if f.score is not None and not f.is_mutant}
        table = {name: [score_to_plain(each.score), each.call_log] for name, each in found.items()}
        data = msgpack.packb([self._state, table], use_bin_type=True, unicode_errors=_SURROGATES)
        if len(data) <= _MOST_BYTES:
            with contextlib.suppress(OSError, UsageError):
                self._place.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(self._place.parent / ".gitignore", b"*\n", durable=False)
                write_atomically(self._place, data, durable=False, mode=0o600)
        return found

    def recall(self) -> dict[str, Verified] | None:
        """Return what the last verification found; None if there was none, or something has changed since."""
        try:
            data = _read(self._place)  # call logs are compressed themselves
            state, table = msgpack.unpackb(data, raw=False, strict_map_key=False, unicode_errors=_SURROGATES)
            if state != self._state:
                return None
            return {name: Verified(score_from_plain(score), call_log) for name, (score, call_log) in table.items()}
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def verify(self) -> tuple[dict[str, Verified], list[str]]:
        """Verify now, and keep what was found if everything holds.

        Returns:
            What the example submissions got, and a line for each thing that does not hold; the first is empty then.

        Raises:
            CourseError: as `verify`.
        """
        ((_, findings),) = verify(
            self._course, [self._assignment], self._tier, self._secret, with_mutants=False, call_logs=True
        )
        wrong = [f"{f.what}: {complaint}" for f in findings for complaint in f.complaints]
        return {} if wrong else self.remember(findings), wrong


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

"""Keep what a verification has found: a release right after one that held need not grade everything again.

One file for each assignment, in the course's folder `.verified`. It counts if nothing has changed since: the files of
the assignment, viva itself, what is installed, the secret and the isolation level. If it cannot be written, nothing is
kept.
"""

import contextlib
import functools
import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

import msgpack

import viva
from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.model import Score, Tier
from viva.model.errors import UsageError
from viva.model.plain import from_plain, to_plain
from viva.plugins.verify.verify_course import Finding, verify

FOLDER: Final = ".verified"
_SURROGATES: Final = "surrogatepass"
"""Texts of students may hold lone surrogates."""
_MOST_BYTES: Final = 256 << 20


class LastVerification:
    """What was found the last time, for the state in which the course is when this is made."""

    def __init__(self, course: Course, assignment: Assignment, tier: Tier, secret: bytes) -> None:
        """Note the state; make this before verifying, so that a file that changes meanwhile counts as changed."""
        self._course, self._assignment, self._tier, self._secret = course, assignment, tier, secret
        self._place = course.root / FOLDER / assignment.name
        self._state = _digest(_of_verdicts(course, assignment), _of_boxes(course, assignment, tier, secret))

    def remember(self, findings: Sequence[Finding]) -> dict[str, Score]:
        """Return the scores of the example submissions, by their names; keep them if everything holds."""
        scores = {f.what: f.score for f in findings if f.score is not None and not f.is_mutant}
        if not all(finding.holds for finding in findings):
            return scores
        kept = [self._state, {name: to_plain(score) for name, score in scores.items()}]
        data = msgpack.packb(kept, use_bin_type=True, unicode_errors=_SURROGATES)
        if len(data) <= _MOST_BYTES:
            with contextlib.suppress(OSError, UsageError):
                self._place.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(self._place.parent / ".gitignore", b"*\n", durable=False)
                write_atomically(self._place, data, durable=False, mode=0o600)
        return scores

    def recall(self) -> dict[str, Score] | None:
        """Return what the last verification found; None if there was none, or something has changed since."""
        try:
            state, scores = msgpack.unpackb(
                _read(self._place), raw=False, strict_map_key=False, unicode_errors=_SURROGATES
            )
            if state != self._state:
                return None
            return {name: from_plain(Score, score) for name, score in scores.items()}
        except (OSError, ValueError, TypeError, KeyError, IndexError):
            return None

    def verify(self) -> tuple[dict[str, Score], list[str]]:
        """Verify now, and keep what was found.

        Returns:
            What the example submissions got, and a line for each thing that does not hold; the first is empty then.

        Raises:
            CourseError: as `verify`.
        """
        findings = self.findings()
        wrong = [f"{f.what}: {complaint}" for f in findings for complaint in f.complaints]
        found = self.remember(findings)
        return {} if wrong else found, wrong

    def findings(self) -> list[Finding]:
        """Verify now.

        Raises:
            CourseError: as `verify`.
        """
        ((_, findings),) = verify(self._course, [self._assignment], self._tier, self._secret, with_mutants=False)
        return findings


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


def _of_boxes(course: Course, assignment: Assignment, tier: Tier, secret: bytes) -> str:
    """Return a digest of what decides what a program replies, besides its own files and what each request says."""
    data = [(str(path), path.stat()) for path in assignment.data]  # as large as an author likes
    others = [
        _engine(),
        str(tier),
        hashlib.sha256(secret).hexdigest(),
        str(assignment.python),
        *(f"{path} {found.st_size} {found.st_mtime_ns}" for path, found in data),
    ]
    return _digest(_files([course.root / "grader.yaml", assignment.folder / "assignment.yaml"]), *others)


@functools.cache
def _engine() -> str:
    """Return a digest of viva, Python and the installed packages, which this process has loaded."""
    packages = sorted(f"{each.name} {each.version}" for each in metadata.distributions())
    return _digest(_files(Path(viva.__file__).parent.rglob("*.py")), sys.version, *packages)


def _of_verdicts(course: Course, assignment: Assignment) -> Iterator[Path]:
    """Yield the files that decide what a verification finds, besides what decides what programs reply."""
    root = course.root
    yield from _files(root.glob("*.py"))
    for folder in ("graders", "reference", f"assignments/{assignment.name}", f"fixtures/{assignment.name}"):
        yield from _files((root / folder).rglob("*"))


def _digest(files: Iterable[Path], *others: str) -> str:
    digest = hashlib.sha256(repr(others).encode("utf-8", "surrogateescape"))
    for path in files:
        data = path.read_bytes()
        digest.update(f"{path}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in sorted(paths) if path.is_file() and "__pycache__" not in path.parts)

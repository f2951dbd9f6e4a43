"""Keep what a verification has found: a release right after one that held need not grade everything again.

One file for each assignment, in the course's folder `.verified`. It counts as a whole if nothing has changed since: the
files of the assignment, viva itself, what is installed, the secret and the isolation level. If only tests, key or
examples have changed, the replies of programs in it count. If it cannot be written, nothing is kept.
"""

import contextlib
import functools
import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import msgpack

import viva
from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.model import Score, Tier
from viva.model.errors import UsageError
from viva.model.plain import from_plain, to_plain
from viva.verify.earlier_replies import Verified
from viva.verify.verify_course import Finding, verify

FOLDER: Final = ".verified"
_DOES_NOT_HOLD: Final = ""
"""The state of a verification in which something does not hold: no course is in it."""
_SURROGATES: Final = "surrogatepass"
"""Texts of students may hold lone surrogates."""
_MOST_BYTES: Final = 256 << 20


class LastVerification:
    """What was found the last time, for the state in which the course is when this is made."""

    def __init__(self, course: Course, assignment: Assignment, tier: Tier, secret: bytes) -> None:
        """Note the state; make this before verifying, so that a file that changes meanwhile counts as changed."""
        self._course, self._assignment, self._tier, self._secret = course, assignment, tier, secret
        self._place = course.root / FOLDER / assignment.name
        self._boxes = _of_boxes(course, assignment, tier, secret)
        self._state = _digest(_of_verdicts(course, assignment), self._boxes)

    def remember(self, findings: Sequence[Finding]) -> dict[str, Verified]:
        """Keep and return what the example submissions got, by their names.

        If something does not hold, only the replies of the programs count.
        """
        found = {finding.what: finding.verified for finding in findings if finding.verified is not None}
        mutants = [f.what for f in findings if f.is_mutant]
        numbers: dict[bytes, int] = {}
        table = {}
        for name, each in found.items():
            shared = {case: numbers.setdefault(kept, len(numbers)) for case, kept in each.cases.items()}
            table[name] = [to_plain(each.score), each.head, shared]
        state = self._state if all(finding.holds for finding in findings) else _DOES_NOT_HOLD
        kept = [self._boxes, state, list(numbers), table, mutants]
        data = msgpack.packb(kept, use_bin_type=True, unicode_errors=_SURROGATES)
        if len(data) <= _MOST_BYTES:
            with contextlib.suppress(OSError, UsageError):
                self._place.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(self._place.parent / ".gitignore", b"*\n", durable=False)
                write_atomically(self._place, data, durable=False, mode=0o600)
        return {name: each for name, each in found.items() if name not in mutants}

    def recall(self) -> dict[str, Verified] | None:
        """Return what the last verification found; None if there was none, or something has changed since."""
        kept = self._kept()
        return None if kept is None or kept.state != self._state else kept.examples

    def replies(self) -> dict[str, Verified]:
        """Return what the last verification found and what programs replied; empty if they would not reply the same.

        Mutants are among them. Tests, key and examples may have changed since.
        """
        kept = self._kept()
        return {} if kept is None else {**kept.mutants, **kept.examples}

    def _kept(self) -> "_Kept | None":
        """Return the last verification, if its programs would reply the same now."""
        try:
            data = _read(self._place)  # call logs are compressed themselves
            boxes, state, shared, table, mutants = msgpack.unpackb(
                data, raw=False, strict_map_key=False, unicode_errors=_SURROGATES
            )
            if boxes != self._boxes:
                return None
            found = {name: _verified(shared, *row) for name, row in table.items()}
            return _Kept(state, {name: found.pop(name) for name in mutants}, found)
        except (OSError, ValueError, TypeError, KeyError, IndexError):
            return None

    def verify(self) -> tuple[dict[str, Verified], list[str]]:
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
        """Verify now, with the replies of the last time where they answer.

        Raises:
            CourseError: as `verify`.
        """
        earlier = {self._assignment.name: self.replies()}
        ((_, findings),) = verify(
            self._course,
            [self._assignment],
            self._tier,
            self._secret,
            with_mutants=False,
            call_logs=True,
            earlier=earlier,
        )
        return findings


@dataclass(frozen=True, slots=True)
class _Kept:
    """The contents of the file of a verification."""

    state: str
    mutants: dict[str, Verified]
    examples: dict[str, Verified]


def _verified(shared: Sequence[bytes], score: Mapping[str, Any], head: bytes, cases: Mapping[str, int]) -> Verified:
    return Verified(from_plain(Score, score), head, {case: shared[number] for case, number in cases.items()})


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

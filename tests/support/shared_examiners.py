"""Examiners that outlive the command that opened them, so that tests of commands which grade one course share them.

Starting an examiner and its fork server costs as much as grading a hundred small submissions. When a command closes
one that has answered every request, it is parked, and serves the next command that needs the same: a course with the
same files (also a copy), the same limits, isolation level, secret and environment. Grading promises that nothing stays
from one submission to the next, so sharing changes no verdict. An examiner that was killed, hung or failed is not
parked.
"""

import hashlib
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course
from viva.model import Entry
from viva.model.grade_request import Graded, GradeRequest
from viva.model.plain import to_plain
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.launch import Launched, environment
from viva.pipeline.process.settings import BoxOptions, ExaminerSettings

REPOSITORY: Final = Path(__file__).parents[2]
MAX_PARKED: Final = 5
"""Each takes the memory of its libraries."""
_WRITTEN_BY_COMMANDS: Final = ("*.pyc", "*.db", "*.db-*", "*.lock")
"""Files of a course that no examiner reads."""


@dataclass(frozen=True)
class Parked:
    """A running examiner that no command uses."""

    launched: Launched
    settings: ExaminerSettings
    tests: list[Entry]
    left_out: dict[str, Fraction]

    def still_fits(self, key: str) -> bool:
        """Whether its process runs, and its course is what it was."""
        try:
            return self.launched.process.poll() is None and key_of(self.settings) == key
        except OSError:  # the course is being deleted
            return False

    def end(self) -> None:
        """End its process, and with it the fork server and the sandboxes."""
        process, sock, log = self.launched
        sock.close()
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


class SharedExaminers:
    """The parked examiners of a session, the longest unused first; `SharedExaminers.make` is a factory of examiners."""

    def __init__(self) -> None:
        self._parked: OrderedDict[str, Parked] = OrderedDict()
        self._lock = threading.Lock()
        """Two threads of a pool may park examiners at the same moment."""

    def make(
        self,
        course: Course,
        assignment: Assignment,
        secret: bytes,
        boxes: BoxOptions,
        unused: Callable[[], tuple[str, ...]] = tuple,
    ) -> ExaminerProcess:
        """An examiner that takes the process of a parked one if one fits; arguments as of ExaminerProcess."""
        return SharedExaminer(self, course, assignment, secret, boxes, unused)

    def take(self, key: str) -> Parked | None:
        """Return a parked examiner that fits, if there is one."""
        with self._lock:
            parked = self._parked.pop(key, None)
        if parked is not None and not parked.still_fits(key):
            parked.end()
            return None
        return parked

    def park(self, key: str, examiner: Parked) -> None:
        """Keep an examiner; the longest unused one ends when there are too many."""
        with self._lock:
            surplus = [self._parked.pop(key, None)]
            self._parked[key] = examiner
            if len(self._parked) > MAX_PARKED:
                surplus.append(self._parked.popitem(last=False)[1])
        for parked in surplus:
            if parked is not None:
                parked.end()

    def end_all(self) -> None:
        """End every parked examiner."""
        while self._parked:
            self._parked.popitem()[1].end()


class SharedExaminer(ExaminerProcess):
    """An examiner that parks its process when it is closed."""

    def __init__(
        self,
        shared: SharedExaminers,
        course: Course,
        assignment: Assignment,
        secret: bytes,
        boxes: BoxOptions,
        unused: Callable[[], tuple[str, ...]],
    ) -> None:
        super().__init__(course, assignment, secret, boxes, unused)
        self._shared = shared
        self._key: str | None = None
        """What a parked examiner is found by; None while this one may not be parked."""

    def open(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Take a parked process, or start one."""
        if self._sock is not None:
            return
        self._leave_out_unused()
        key = key_of(self.settings)
        parked = self._shared.take(key)
        if parked is None:
            super().open(meanwhile)
        else:
            self._process, self._sock, self._log = parked.launched
            self.tests, self.left_out = parked.tests, parked.left_out
        self._key = key

    def grade(
        self,
        request: GradeRequest,
        on_entry: Callable[[Entry], None] = lambda _: None,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> Graded:
        """Grade one submission; the process may be parked again if it has finished it."""
        self.open()
        key, self._key = self._key, None
        graded = super().grade(request, on_entry, on_progress)
        self._key = key if graded.finished else None
        return graded

    def close(self, *, kill: bool = False) -> None:
        """Park the process if it waits for a request, and end it otherwise."""
        key, self._key = self._key, None
        is_usable = self._process is not None and self._process.poll() is None and self.settings.course.is_dir()
        if kill or key is None or self._stopped or not is_usable:
            super().close(kill=kill)
            return
        assert self._process is not None and self._sock is not None
        launched = Launched(self._process, self._sock, self._log)
        self._process = self._sock = self._log = None
        self._shared.park(key, Parked(launched, self.settings, self.tests, self.left_out))


def key_of(settings: ExaminerSettings) -> str:
    """What two examiners have in common if one can replace the other."""
    root = settings.course
    fields = {name: value for name, value in to_plain(settings).items() if name != "course"}
    identity = [sorted(fields.items()), environment(), root if root == REPOSITORY else _contents(root)]
    return hashlib.sha256(repr(identity).encode()).hexdigest()


def _contents(root: Path) -> list[tuple[str, bytes]]:
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not _is_written(path)]
    return [(str(path.relative_to(root)), path.read_bytes()) for path in files]


def _is_written(path: Path) -> bool:
    return any(path.match(pattern) for pattern in _WRITTEN_BY_COMMANDS)

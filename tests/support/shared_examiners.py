"""Examiners that outlive the command that started them, so that tests which grade with one course share one.

Starting an examiner and its fork server costs as much as grading a hundred small submissions. One that has answered
all it was asked is parked when it is closed, and serves whoever next asks for the same: a course with the same files,
also a copy of it, the same limits, isolation level, secret and environment. Grading promises that nothing stays from
one submission to the next, so sharing changes no verdict. An examiner that was killed, hung or failed is never parked.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from viva.model.grade_request import Graded
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.launch import environment
from viva.pipeline.process.settings import ExaminerSettings

REPOSITORY: Final = Path(__file__).parents[2]
MOST: Final = 5
"""Examiners that are parked at once: each takes the memory of its libraries."""


class Parked:
    """The examiners that no one uses at the moment, the longest unused first."""

    def __init__(self) -> None:
        self.sharing = True
        """Whether examiners are parked and taken; False while a test looks after examiners of its own."""
        self._idle: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()
        """Two threads of a pool may park examiners of one kind at the same moment."""

    def take(self, key: str) -> dict[str, Any] | None:
        """Return the state of an examiner that runs and fits, if there is one."""
        with self._lock:
            state = self._idle.pop(key, None)
        if state is None:
            return None
        fits = False
        try:
            there = state["_process"].poll() is None and state["settings"].course.is_dir()
            fits = there and key_of(state["settings"]) == key
        except OSError:
            pass  # its course is being deleted
        finally:
            if not fits:
                _end(state)
        return state if fits else None

    def park(self, key: str, state: dict[str, Any]) -> None:
        """Keep an examiner; the one that was unused for longest goes when there are too many."""
        with self._lock:
            ended = [self._idle.pop(key, None)]
            self._idle[key] = state
            if len(self._idle) > MOST:
                ended.append(self._idle.popitem(last=False)[1])
        for other in ended:
            if other is not None:
                _end(other)

    def end_all(self) -> None:
        """End all."""
        while self._idle:
            _end(self._idle.popitem()[1])


STATE: Final = ("_process", "_sock", "_log", "settings", "tests", "left_out", "joined")
WRITTEN: Final = ("*.pyc", "*.db", "*.db-*", "*.lock")
"""What commands write into a course, and no examiner reads."""


def _end(state: dict[str, Any]) -> None:
    one = ExaminerProcess.__new__(ExaminerProcess)
    vars(one).update(state)
    _close(one)


_open, _close, _grade = ExaminerProcess.open, ExaminerProcess.close, ExaminerProcess.grade


def _is_written(path: Path) -> bool:
    return any(path.match(pattern) for pattern in WRITTEN)


def key_of(settings: ExaminerSettings) -> str:
    """Return what two examiners must have in common to stand in for each other."""
    root = settings.course
    asked = {name: value for name, value in settings.to_plain().items() if name != "course"}
    files = [p for p in sorted(root.rglob("*")) if p.is_file() and not _is_written(p)] if root != REPOSITORY else []
    texts = [(str(p.relative_to(root)), p.read_bytes()) for p in files]
    same = root if root == REPOSITORY else ""
    return hashlib.sha256(repr((sorted(asked.items()), environment(), same, texts)).encode()).hexdigest()


@contextmanager
def shared() -> Iterator[Parked]:
    """Share examiners while this is open."""
    parked = Parked()

    def open_(self: ExaminerProcess, *meanwhile: Callable[[], None]) -> None:
        alone = type(self) is not ExaminerProcess or self.joined is not None or self._stopped or not parked.sharing
        if self._sock is not None or alone:
            return _open(self, *meanwhile)
        self._leave_out_unused()
        key = key_of(self.settings)
        if (state := parked.take(key)) is not None:
            vars(self).update(state)
        else:
            _open(self, *meanwhile)
        self.__dict__["_shared_key"] = key
        return None

    def grade(self: ExaminerProcess, *args: Any, **kwargs: Any) -> Graded:
        self.open()
        key = self.__dict__.pop("_shared_key", None)  # until it has answered, no one else may have it
        graded = _grade(self, *args, **kwargs)
        if graded.finished and key is not None:
            self.__dict__["_shared_key"] = key
        return graded

    def close(self: ExaminerProcess, *, kill: bool = False) -> None:
        key = self.__dict__.pop("_shared_key", None)
        usable = self._sock is not None and self._process is not None and self._process.poll() is None
        if key is None or kill or self._stopped or not usable or not self.settings.course.is_dir():
            return _close(self, kill=kill)
        parked.park(key, {name: getattr(self, name) for name in STATE})
        self._process = self._sock = self._log = None
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExaminerProcess, "open", open_)
        patch.setattr(ExaminerProcess, "grade", grade)
        patch.setattr(ExaminerProcess, "close", close)
        try:
            yield parked
        finally:
            parked.end_all()

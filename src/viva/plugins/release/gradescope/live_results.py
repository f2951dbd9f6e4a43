"""results.json while grading runs: valid at every moment, and never overwritten by an older state."""

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.model import Entry, Isolation, Score
from viva.model.errors import UsageError

EVERY_S: Final = 0.5
"""How often the file is written while tests run; the first and the last state are always written."""
FAILED: Final = "viva_failed"
"""The key of `extra_data` in results that say that grading failed."""
_STUDENT_SENTENCE: Final = (
    "The autograder could not grade this submission, and this is not your fault. Your work is stored; "
    "your instructor can read what happened and run the autograder again."
)


def failure_results(details: str) -> bytes:
    """Return the results.json that says that nothing was graded.

    Args:
        details: what went wrong, for instructors; students do not see `extra_data`.
    """
    results = {
        "score": 0,
        "output": _STUDENT_SENTENCE,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {FAILED: escaping.terminal(details, characters=20_000, lines=400)},
        "tests": [],
    }
    return json.dumps(results, indent=1).encode() + b"\n"


class LiveResults:
    """Writes results.json; the grading thread and the main thread both call it."""

    def __init__(self, path: Path, hidden_as: str) -> None:
        self._path, self._hidden_as = path, hidden_as
        self._lock = threading.Lock()
        self._closed = False
        self._written = 0.0
        self._entries: Callable[[], tuple[Entry, ...]] | None = None
        self.score: Callable[[tuple[Entry, ...]], Score] | None = None
        """Makes a score of entries; set as soon as the submission is known."""

    def entries(self, entries: Callable[[], tuple[Entry, ...]]) -> None:
        """Accept the entries known now, pending ones included; write them unless that was just done."""
        with self._lock:
            self._entries = entries
            if self._closed or time.monotonic() - self._written < EVERY_S or self.score is None:
                return
            with contextlib.suppress(UsageError):  # left to `last`: the disk may have space again by then
                self._write(self._json(self.score(entries()), complete=False), durable=False)
            self._written = time.monotonic()

    def last(self, data: bytes | Score) -> None:
        """Write the last state; nothing is written after it."""
        with self._lock:
            self._write(data if isinstance(data, bytes) else self._json(data, complete=True), durable=True)
            self._closed = True

    @property
    def closed(self) -> bool:
        """Return whether the last state was written."""
        return self._closed

    def cut(self, note: str, isolation: str) -> bool:
        """Write what is known when time is up, with a note, as the last state; return False if nothing is known yet."""
        with self._lock:
            if self._closed:
                return True
            if self._entries is None or self.score is None:
                return False
            score = self.score(self._entries())
            self._write(self._json(_noted(score, note, isolation), complete=False), durable=True)
            self._closed = True
            return True

    def _json(self, score: Score, *, complete: bool) -> bytes:
        from viva.formats.results_json import to_json  # while the examiner starts

        return to_json(score, complete=complete, hidden_as=self._hidden_as)

    def _write(self, data: bytes, *, durable: bool) -> None:
        write_atomically(self._path, data, durable=durable, mode=0o600)


def _noted(score: Score, note: str, isolation: str) -> Score:
    return dataclasses.replace(score, notes=(*score.notes, note), isolation=Isolation(isolation))

"""`viva check --watch`: yields a submission each time its bytes have changed and come to rest."""

import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from viva.model import Entry, Score, Submission
from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions import open_submission

INTERVAL_S: Final = 0.3
_MOST_FILES: Final = 8000
"""The most files to watch; a folder with more cannot be submitted anyway."""

Looks = tuple[tuple[str, int, int], ...]


def look(path: Path) -> Looks:
    """Return path, time of the last change and size of each file of a submission.

    Links are not followed. The function never raises.
    """
    found: list[tuple[str, int, int]] = []
    waiting = [path]
    while waiting and len(found) < _MOST_FILES:
        here = waiting.pop()
        try:
            status = here.lstat()
            if stat.S_ISDIR(status.st_mode):
                waiting += [inner for inner in here.iterdir() if not is_not_the_work(inner.name)]
            else:
                found.append((str(here), status.st_mtime_ns, status.st_size))
        except OSError:
            continue  # an editor has just replaced it
    return tuple(sorted(found))


def versions(
    path: Path, interval_s: float = INTERVAL_S, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Submission]:
    """Yield the submission as it is now, then once after each change of its bytes; end only by an exception.

    A change counts when it has been at rest for one interval, so that a half-written file is not read. A file that was
    only touched, or changed back, is unchanged. While nothing exists at the path, the generator waits.

    Raises:
        UsageError: there is nothing at the path at the start.
    """
    seen = look(path)
    submission = open_submission(path, str(path))
    content = submission.content_hash
    yield submission
    while True:
        sleep(interval_s)
        now = look(path)
        if now == seen:
            continue
        while True:
            sleep(interval_s)
            before, now = now, look(path)
            if before == now:
                break
        seen = now
        try:
            submission = open_submission(path, str(path))
        except UsageError:
            continue  # it was moved away: an editor saves like this, or it comes back later
        if submission.content_hash != content:
            content = submission.content_hash
            yield submission


def changed(before: Score, now: Score) -> list[Entry]:
    """Return the entries whose status, points or messages differ from before."""
    known = {entry.test_id: _shown_result(entry) for entry in before.entries}
    return [entry for entry in now.entries if known.get(entry.test_id) != _shown_result(entry)]


def _shown_result(entry: Entry) -> tuple[object, ...]:
    return entry.status, entry.earned, entry.points, entry.message

"""The records of a large class: fill them from the submissions that have been graded, and check them.

Grading 20,000 submissions takes minutes and shows nothing about records. These submissions differ in a comment only, so
their answers, call logs and scores are the same, and are stored through the same calls as those of `viva grade`.
A program of its own, so that its memory is not part of what the commands are measured with.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.small_course import name_of, total_of
from viva.config import load_course
from viva.model import Attempt, Submission
from viva.model.attempt import Student
from viva.model.reason import Reason
from viva.plugins.records.call_log import CallLog, question_of
from viva.plugins.records.store import Records, StoredScore
from viva.submissions import discover, open_submission

ASSIGNMENT = "small"
MODEL = 0
"""The student whose score and call log are copied; the one with a wrong answer must be graded."""
_AT_ONCE = 500


def main() -> None:
    """Fill the records of `course/` with the class in `modules/`, and check the total of each submission."""
    parser = argparse.ArgumentParser(prog="python -m bench.class_records", description=__doc__)
    parser.add_argument("count", type=int, help="submissions in the class")
    options = parser.parse_args()
    course = load_course(Path("course"))
    with Records.open(course.records or "", course.root) as records:
        fill(records, Path("modules"))
        check(records, options.count)


def fill(records: Records, class_folder: Path) -> int:
    """Store a score and a call log for every submission that has none; return how many there were.

    Args:
        records: hold at least the scores of the first two students.
        class_folder: holds the submissions.
    """
    there = {each.name for each in records.list_current(ASSIGNMENT)}
    (graded,) = records.current(ASSIGNMENT, name_of(MODEL))
    call_log = records.call_log(graded.call_log_id)
    missing = [path for path in discover([class_folder]) if path.name not in there]
    for start in range(0, len(missing), _AT_ONCE):
        _store(records, missing[start : start + _AT_ONCE], graded, call_log)
    return len(missing)


def _store(records: Records, paths: Sequence[Path], graded: StoredScore, call_log: bytes) -> None:
    opened = [open_submission(path, str(path)) for path in paths]
    attempts = [Attempt(path.name, path.absolute(), (Student(path.name),)) for path in paths]
    hashes = [submission.content_hash for submission in opened]
    numbers = records.add_attempts(ASSIGNMENT, zip(attempts, hashes, strict=True))
    for number, submission in zip(numbers, opened, strict=True):
        score = replace(graded.scored.score, submission=submission.name, content_hash=submission.content_hash)
        log = _of_submission(call_log, submission)
        records.add_score(number, score, graded.conditions, Reason("bench"), call_log=log)


def _of_submission(call_log: bytes, submission: Submission) -> bytes:
    """Return a call log as that of another submission, whose file is put into its boxes."""
    (file,) = submission.files
    put = question_of("put", {"path": file.path, "data": file.data})
    log = CallLog.from_bytes(call_log)
    log.loads = [[replace(first, question=put), *others] for first, *others in log.loads]
    return log.to_bytes()


def check(records: Records, count: int) -> None:
    """Check that every submission has its total.

    Raises:
        SystemExit: one has another total, or none.
    """
    kept = {kept.scored.attempt.name: kept.scored.score.earned for kept in records.each_current(ASSIGNMENT)}
    wrong = [n for n in range(count) if kept.get(name_of(n)) != total_of(n)]
    if wrong or len(kept) != count:
        raise SystemExit(f"{len(kept)} scores for {count}; wrong or missing: {wrong[:10]}")


if __name__ == "__main__":
    main()

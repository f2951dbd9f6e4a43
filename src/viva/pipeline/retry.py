"""Try a submission twice: what ends an examiner in the middle of one is often not the submission's fault."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from viva.model.errors import EXPECTED_ERRORS, GraderError
from viva.model.grade_request import Graded

ENDED: Final = "the examiner ended"


def at_most_twice(attempt: Callable[[], Graded], stopped: Callable[[], bool]) -> Graded:
    """Grade one submission; if its examiner ends in the middle, start over once with a fresh one.

    Args:
        attempt: grades it; starts an examiner if none is running.
        stopped: whether the examiner was ended because no one waits for the score.

    Raises:
        UsageError, GraderError: no examiner could be started.
    """
    graded: Graded | None = None
    try:
        graded = attempt()
    except GraderError:  # it ended before it was ready
        if stopped():
            raise
    if graded is not None and (not graded.ended or stopped()):
        return graded
    try:
        again = attempt()
    except EXPECTED_ERRORS as error:
        if graded is None:
            raise
        return replace(graded, remarks=[*graded.remarks, f"{ENDED}, and no other could be started: {error}"])
    how = "; a fresh one graded this from the start" if again.finished else ", and so did a fresh one"
    return replace(again, remarks=[*again.remarks, f"{ENDED}{how}"])

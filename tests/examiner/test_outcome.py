"""What an exception in the body of a test says about whose fault it was."""

import errno
import os

import pytest

from viva.examiner import outcome
from viva.examiner.outcome import judge
from viva.model import Status


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENOMEM, errno.EIO])
def test_a_machine_that_is_short_of_something_takes_no_points(code: int, answered: bool) -> None:
    """With an answer there it counted as the answer's fault."""
    assert judge(OSError(code, os.strerror(code)), answered=answered).status is Status.GRADER_ERROR


@pytest.mark.parametrize(
    "error", [FileNotFoundError(errno.ENOENT, "no such file"), OSError("of no number"), KeyError(1)]
)
def test_other_exceptions_after_an_answer_are_its_form(error: Exception) -> None:
    assert judge(error, answered=True).status is Status.FAILED
    assert judge(error, answered=False).status is Status.GRADER_ERROR


def test_memory_that_only_the_answer_asked_for_is_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge(MemoryError(), answered=True).status is Status.FAILED
    monkeypatch.setattr(outcome, "ROOM_BYTES", 1 << 60)  # no machine has it: as if this one had no more
    assert judge(MemoryError(), answered=True).status is Status.GRADER_ERROR

"""Grade from a call log, without a box."""

from dataclasses import replace
from typing import Final

from viva.model import Submission
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.plugins.records import CALL_LOG
from viva.plugins.records.call_log import unpack_changed

RECORDED: Final = GradeOptions(interceptor=CALL_LOG)
"""Options that bring back a call log."""


def replay_of(submission: Submission, call_log: bytes, options: GradeOptions = RECORDED) -> GradeRequest:
    """The request that is answered from a call log."""
    return GradeRequest(submission, replace(options, interceptor=CALL_LOG), interceptor_input=call_log)


def changed(graded: Graded) -> list[str]:
    """The tests that the call log did not answer."""
    return unpack_changed(graded.interceptor_output)

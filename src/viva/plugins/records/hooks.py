"""What this plugin adds: a store of scores, boxes whose exchanges are recorded or replayed, and commands."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from viva.hooks import Command, DoctorCheck, DoctorRequest, hookimpl
from viva.plugins.records import CALL_LOG

if TYPE_CHECKING:
    from viva.examiner.catalog import TestFunction
    from viva.examiner.interceptor import Interceptor
    from viva.pipeline.score_store import StoreRequest, Stores

_COMMANDS: Final = "viva.plugins.records.commands"


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    return [
        Command("regrade", f"{_COMMANDS}.regrade", "Grade a class again after tests or points changed.", "Grade"),
        Command("history", f"{_COMMANDS}.history", "Show every score of a student, and why.", "Look"),
        Command("override", f"{_COMMANDS}.override", "Set the points of one test, with a reason.", "Grade by hand"),
        Command("student", f"{_COMMANDS}.student", "Export or delete the records of a student.", "Hand back"),
    ]


@hookimpl
def viva_interceptor(name: str, data: bytes, tests: "Sequence[TestFunction]") -> "Interceptor | None":
    """Return a recorder, or a replay if there is a call log."""
    if name != CALL_LOG:
        return None
    from viva.plugins.records.call_log import BoxRecorder, BoxReplay, CallLog

    return BoxReplay(CallLog.from_bytes(data), tests) if data else BoxRecorder()


@hookimpl
def viva_score_store(request: "StoreRequest") -> "AbstractContextManager[Stores]":
    """Return the records of the course, or the decisions in the folder of results."""
    from viva.plugins.records.grading_stores import open_stores

    return open_stores(request)


@hookimpl
def viva_doctor_checks() -> Sequence[DoctorCheck]:
    """Return the check of the file that keeps the scores."""
    return [DoctorCheck("records", "Look for damage in the course's records.", _check_records)]


def _check_records(request: DoctorRequest) -> int:
    from viva.plugins.records.check_records import check_records

    return check_records(request.course_dir)

"""Turn what a test's body did into a status and messages for student and staff."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import pytest

from viva.compare import Disagreement
from viva.compare.answers.unreadable import Unreadable
from viva.grading.signals import NeedsReview
from viva.model import Status
from viva.model.errors import (
    OF_THE_MACHINE,
    BoxDied,
    BoxTimeout,
    BoxUnavailable,
    Frame,
    GpuUnavailable,
    GraderError,
    LoadFailed,
    MissingAttribute,
    MissingName,
    NotAskedAgain,
    ProtocolViolation,
    StudentRaised,
    TimeSpent,
)
from viva.model.hand_grading import AFTER_GRADING, NOT_GRADED_YET, NOTHING_WRITTEN, UNREADABLE

HIDDEN: Final = "This test is hidden: what it asks and what went wrong is not shown."
UNEXPECTED_FORM: Final = "Your answer has an unexpected form: the test could not work with it."
GRADER_FAULT: Final = "Something went wrong on the grader's side; no points are lost, and this test will be run again."
NOT_LOADED: Final = "Not asked: your submission could not be loaded. The reason is at the top of the results."
OUTPUT_CAP: Final = 4000
ROOM_BYTES: Final = 256 << 20
"""Bytes that must be free after a MemoryError, or else the examiner itself is short: the most one answer may hold."""
NOT_REPEATABLE: Final = "does not have a deterministic implementation"
"""A part of what torch raises for an operation that has no deterministic algorithm on a GPU."""
_NOT_REPEATABLE_TEXT: Final = (
    "the code uses an operation of torch whose result on a GPU cannot be repeated exactly, which this test forbids"
)
_DISTRIBUTIONS: Final = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Libraries whose packages have another name."""
_CALLERS: Final = ("pluggy", "_pytest", "viva")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one case of a test."""

    status: Status
    message: str = ""
    staff_message: str = ""
    share: Fraction | None = None
    """The share of the points earned; None means all for `passed`, none otherwise."""
    written: str = ""
    rubric: str = ""
    doubtful: bool = False
    """Whether a busy machine may be the cause: the test is asked once more before it costs a point."""


def judge(  # noqa: C901, PLR0912  # one case per kind of error
    error: BaseException | None, *, answered: bool, incomplete: bool = False, on_gpu: bool = False
) -> Outcome:
    """Return the outcome of a test's body that ended with `error`.

    Args:
        error: what the body raised; None if it completed.
        answered: whether a value from the student's code had arrived before; then an unforeseen exception is due to the
            form of the student's answer, else it is the grader's fault.
        incomplete: whether a time limit had stopped a part of the load; then a missing name may be in that part.
        on_gpu: whether the test ran on a GPU, where viva has told torch to use deterministic algorithms.
    """
    match error:
        case None:
            return Outcome(Status.PASSED)
        case NeedsReview():
            return Outcome(Status.NEEDS_REVIEW, _review_text(error), written=error.text, rubric=error.rubric)
        case Disagreement() if error.is_unreadable:
            return judge(NeedsReview(error.actual, UNREADABLE, (str(error),)), answered=answered)
        case Unreadable():
            return judge(
                NeedsReview(error.answer, UNREADABLE, (f"Your answer cannot be read: {error}.",)), answered=answered
            )
        case Disagreement():
            status = Status.PARTIAL if error.share else Status.FAILED
            feedback = f"{AFTER_GRADING}{error.feedback}" if error.feedback else ""
            return Outcome(status, str(error), feedback, share=error.share)
        case StudentRaised() if on_gpu and NOT_REPEATABLE in error.message:
            return judge(NeedsReview("", "", (_NOT_REPEATABLE_TEXT,)), answered=answered)
        case StudentRaised():
            late = error.limit == "time"
            return Outcome(Status.TIMEOUT if late else Status.ERROR, describe(error), doubtful=late)
        case MissingName():
            return Outcome(Status.FAILED, str(error), doubtful=incomplete)
        case LoadFailed():
            status = Status.TIMEOUT if isinstance(error.cause, BoxTimeout) else Status.ERROR
            return Outcome(status, NOT_LOADED)
        case TimeSpent():
            return Outcome(Status.TIMEOUT, str(error))
        case BoxTimeout():
            message = f"{error} Your program was stopped; look for a loop that never ends."
            return Outcome(Status.TIMEOUT, message, doubtful=not isinstance(error, NotAskedAgain))
        case BoxDied():
            message = f"Your program ended while it was asked: {error.reason}."
            return Outcome(Status.ERROR, message, doubtful=not error.by_limit)
        case GpuUnavailable():
            message = f"{NOT_GRADED_YET}: this test needs a GPU, and {error}."
            return Outcome(Status.DEFERRED, message, error.reason)
        case BoxUnavailable() | GraderError():
            return Outcome(Status.GRADER_ERROR, GRADER_FAULT, str(error))
        case ProtocolViolation():
            return Outcome(Status.ERROR, "Your program broke the connection to the grader and was stopped.", str(error))
        case pytest.skip.Exception():
            return Outcome(Status.SKIPPED, str(error) or "Skipped by the test itself.")
        case AssertionError():
            return Outcome(Status.FAILED, _assertion_text(error), _trace(error))
        case _ if _host_is_short(error):
            return Outcome(Status.GRADER_ERROR, GRADER_FAULT, _trace(error))
        case _ if answered:
            return Outcome(Status.FAILED, UNEXPECTED_FORM, _trace(error))
        case _:
            return Outcome(Status.GRADER_ERROR, GRADER_FAULT, _trace(error))


def with_second_calls(outcome: Outcome, names: Sequence[str]) -> Outcome:
    """Return an outcome whose message says which functions did not answer a second call as they did the first.

    A function that draws at random may do so, which is why it costs nothing by itself.
    """
    if not names or not outcome.status.is_lost:
        return outcome
    said = (
        f"`{names[0]}` was called twice with the same arguments, and did not answer the second time as it did the "
        "first: does it keep something between calls?"
    )
    return replace(outcome, message=f"{outcome.message}\n{said}"[:OUTPUT_CAP])


def _host_is_short(error: BaseException | None) -> bool:
    """Return whether this machine lacks disk, descriptors or memory. Values from a student's code never cause it.

    A student's number can ask for more memory than there is; then there is still room for what tests need.
    """
    if isinstance(error, MemoryError):
        try:
            bytearray(ROOM_BYTES)
        except MemoryError:
            return True
    return isinstance(error, OSError) and error.errno in OF_THE_MACHINE


def describe(error: StudentRaised) -> str:
    """Return the student's own exception with their own lines, as they would see it at home."""
    if error.missing_module and error.missing_attribute is None:
        return f"Your code needs the module `{error.missing_module}`, {not_found(error.missing_module)}"
    detail = error.message.partition("; ")[2]
    more = f" {detail[:1].upper()}{detail[1:]}." if detail else ""
    head = {
        "time": "Your code did not finish in time and was stopped." + more,
        "memory": "Your code asked for more memory than it may use.",
        "recursion": "Your code called itself too often (RecursionError).",
    }.get(error.limit or "", f"Your code raised {str(error).rstrip('.')}.")
    if error.missing_attribute is not None:
        head = f"{_other_version(error.missing_attribute)}\n{head}"
    return "\n".join([head, *(_line(f) for f in error.frames[-6:])])[:OUTPUT_CAP]


def not_found(module: str) -> str:
    """Return what to do about a module that an import did not find, as the end of a sentence that names it."""
    top = module.partition(".")[0]
    return (
        f"which is neither in your submission nor installed where it was graded. If it is yours, submit `{top}.py`; if "
        f"it is a library, it needs `pip install {_DISTRIBUTIONS.get(top, top)}` there: ask the course staff."
    )


def _other_version(missing: MissingAttribute) -> str:
    return (
        f"Your code was graded with {missing.where}, which has no `{missing.name}`: "
        "it was written for another version, or the name is misspelled."
    )


def _line(frame: Frame) -> str:
    place = f"  {frame.file}, line {frame.line}" + (f", in {frame.function}" if frame.function else "")
    return f"{place}\n    {frame.source.strip()}" if frame.source.strip() else place


def _review_text(signal: NeedsReview) -> str:
    if not signal.rubric:
        # For a hidden test, students see the first line alone.
        return f"{NOT_GRADED_YET}: a person decides this test.\nThe reason: {'; '.join(signal.findings)}."[:OUTPUT_CAP]
    if signal.rubric == UNREADABLE:
        return "\n".join([f"{NOT_GRADED_YET}: a person reads this answer.", *signal.findings])[:OUTPUT_CAP]
    state = (
        f"{NOT_GRADED_YET}: a person grades this answer."
        if signal.text.strip()
        else f"{NOT_GRADED_YET}: a person grades this question. {NOTHING_WRITTEN}"
    )
    if not signal.findings:
        return state
    return "\n".join([state, "Noticed, without taking points:", *(f"- {f}" for f in signal.findings)])[:OUTPUT_CAP]


def _assertion_text(error: AssertionError) -> str:
    text = str(error).strip()
    first = text.splitlines()[0] if text else ""
    return (first or "Your answer does not meet what the question asks.")[:OUTPUT_CAP]


def _trace(error: BaseException) -> str:
    """Return the traceback from the author's test on: how pytest came to call it does not matter."""
    first = error.__traceback__
    while first is not None and first.tb_frame.f_globals.get("__name__", "").split(".")[0] in _CALLERS:
        first = first.tb_next
    trace = traceback.format_exception(type(error), error, first or error.__traceback__, limit=-6)
    return "".join(trace)[-OUTPUT_CAP:]

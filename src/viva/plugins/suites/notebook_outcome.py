"""Turns what the box reports about a cell or a test into its outcome, by the rules of the tool it was written for."""

import math
import re
from fractions import Fraction
from typing import Final

from viva.examiner.outcome import OUTPUT_CAP, Outcome, describe, judge
from viva.model import Status, untrusted
from viva.model.errors import BoxError, StudentRaised
from viva.plugins.suites.unittests.suite_outcome import without_suite

_LONGEST: Final = 400
_NUMPY_NUMBER: Final = re.compile(r"np\.\w+\((.*)\)")
"""How numpy 2 shows a number: `np.float64(0.5)`."""
TEST_LACKS: Final = (
    "The test needs the module `{module}`, which is not installed where it was graded. Your code is not the cause: "
    "tell the course staff."
)
ERROR_OUTPUT: Final = "The tests wrote to the error output, which loses their points:"


def judge_error(error: BoxError | StudentRaised) -> Outcome:
    """Return the outcome of a test that did not run to its end."""
    return judge(error, answered=True)


def judge_cell(reply: object, points: Fraction) -> Outcome:
    """Return the outcome of a cell of tests, by nbgrader's rule.

    The first output decides that is an error or text on stderr (no points), or the cell's value (that many points if it
    is a number from zero to the points, else all); a cell without any such output earns everything.
    """
    cell = untrusted.table(reply)
    for output in map(untrusted.table, untrusted.rows(cell.get("outputs"))):
        kind = output.get("output_type")
        if kind == "error" or (kind == "stream" and output.get("name") == "stderr"):
            return _lost(cell, output)
        if kind == "execute_result":
            return _part(untrusted.text(untrusted.table(output.get("data")).get("text/plain"), _LONGEST), points)
    return Outcome(Status.PASSED) if cell.get("status") == "ok" else _lost(cell, {})


def judge_case(reply: object, *, success: str, failure: str) -> Outcome:
    """Return the outcome of a case by otter's rule: it passes or fails, and the author's text for either is shown."""
    case = untrusted.table(reply)
    if case.get("passed") is True:
        return Outcome(Status.PASSED, success)
    raised = untrusted.table(case.get("raised"))
    error = StudentRaised.from_wire(raised) if raised else None
    timed_out = error is not None and error.limit == "time"
    status = Status.TIMEOUT if timed_out else Status.FAILED
    message = _error_text(error) if error is not None else untrusted.text(case.get("words"), OUTPUT_CAP).strip("\n* ")
    return Outcome(status, "\n".join(t for t in (failure, message or "Test failed.") if t)[:OUTPUT_CAP])


def _part(text: str, points: Fraction) -> Outcome:
    if not points:
        return Outcome(Status.PASSED)
    numpy_number = _NUMPY_NUMBER.fullmatch(text)
    try:
        value = float(numpy_number[1] if numpy_number else text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= points:
        note = f"The cell's value {text[:40]} is not a number from 0 to {float(points):g} points: it counts as all."
        return Outcome(Status.PASSED, staff_message=note)
    share = Fraction(str(value)) / points
    if share == 1:
        return Outcome(Status.PASSED)
    message = f"Your answer earns {value:g} of {float(points):g} points."
    return Outcome(Status.PARTIAL if share else Status.FAILED, message, share=share)


def _lost(cell: dict[object, object], output: dict[object, object]) -> Outcome:
    raised = untrusted.table(cell.get("raised"))
    if raised:
        error = StudentRaised.from_wire(raised)
        if error.limit == "time":
            return Outcome(Status.TIMEOUT, describe(error), doubtful=True)
        failed = error.type_name == "AssertionError"
        return Outcome(Status.FAILED if failed else Status.ERROR, _error_text(error))
    output_text = untrusted.text(output.get("text"), _LONGEST).strip()
    if output.get("name") == "stderr":
        return Outcome(Status.FAILED, f"{ERROR_OUTPUT}\n{output_text}")
    late = cell.get("status") == "timeout"
    return Outcome(Status.TIMEOUT if late else Status.ERROR, output_text or "Test failed.", doubtful=late)


def _error_text(error: StudentRaised) -> str:
    """Return what a failed assertion says; any other exception with the student's own lines."""
    if error.missing_module and len(error.frames) <= 1:  # no function of the student's was running
        return TEST_LACKS.format(module=error.missing_module)
    if error.type_name == "AssertionError":
        return f"Test failed: {error.message}" if error.message else "Test failed."
    return describe(without_suite(error))

"""Turns what the box reports about a test of a suite into its outcome; the points are always the author's."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import OUTPUT_CAP, Outcome, describe
from viva.examiner.points import exact_points
from viva.model import Status, untrusted
from viva.model.errors import StudentRaised
from viva.plugins.suites.unittests.suite_reading import FOLDER

MOST_EVENTS: Final = 50
"""The most failed subtests that are reported."""
_LOST: Final = ("error", "failure", "unexpected_success")
_WON: Final = ("success", "expected_failure")
NOT_IMPORTED: Final = (
    "Not asked: {file} could not be imported together with your submission. The reason is at the top of the results."
)
NOT_THERE: Final = "Not asked: with your submission the suite has no such test."
NOTHING_SAID: Final = "The test ended without saying how."


def of_test(reply: dict[object, object], function: TestFunction) -> Outcome:
    """Return the outcome of a test that ran.

    Failures decide it; points given by `set_score` are kept, clamped to the test's points.
    """
    events = [
        event for event in map(untrusted.rows, untrusted.rows(reply.get("events"))[:MOST_EVENTS]) if len(event) == 3
    ]
    kinds = [event[0] if type(event[0]) is str else "" for event in events]
    printed_text = untrusted.text(reply.get("printed"), OUTPUT_CAP).strip("\n")
    lost = [event for event, kind in zip(events, kinds, strict=True) if kind in _LOST]
    status = _status(kinds, lost)
    known = any(kind in (*_LOST, *_WON) for kind in kinds)
    if status is Status.SKIPPED:
        reason = next(
            untrusted.text(event[1], 300) for event, kind in zip(events, kinds, strict=True) if kind == "skip"
        )
        return Outcome(status, f"Skipped by the test itself: {reason}" if reason else "Skipped by the test itself.")
    words = [_event_text(event, for_staff=False) for event in lost] or (
        [NOTHING_SAID] if status is Status.ERROR else []
    )
    staff = [_event_text(event, for_staff=True) for event in lost]
    hides_output = function.hidden or function.hide_errors is not None
    shown = "\n\n".join(t for t in ("" if hides_output else printed_text, "\n".join(words)) if t)[:OUTPUT_CAP]
    staff_text = "\n".join(
        t for t in ("\n".join(staff) if staff != words else "", printed_text if hides_output else "") if t
    )[:OUTPUT_CAP]
    outcome = Outcome(status, shown, staff_text, doubtful=status is Status.TIMEOUT)
    return _with_points(outcome, reply.get("score"), function) if known else outcome


def of_fixture(error: StudentRaised | None, events: object) -> Outcome:
    """Return the outcome of every test of a class or module whose setUpClass or setUpModule failed."""
    if error is not None:
        late = error.limit == "time"
        message = f"While the tests were set up: {describe(without_suite(error))}"
        return Outcome(Status.TIMEOUT if late else Status.ERROR, message, describe(error), doubtful=late)
    rows = [event for event in map(untrusted.rows, untrusted.rows(events)) if len(event) == 3]
    if rows and all(event[0] == "skip" for event in rows):
        return Outcome(Status.SKIPPED, f"Skipped by the tests themselves: {untrusted.text(rows[0][1], 300)}")
    raised = next((StudentRaised.from_wire(untrusted.table(event[2])) for event in rows if event[2]), None)
    return of_fixture(raised, []) if raised is not None else Outcome(Status.ERROR, NOTHING_SAID)


def without_suite(error: StudentRaised) -> StudentRaised:
    """Return the same error without the author's own lines, which say what is expected."""
    frames = [frame for frame in error.frames if not frame.file.startswith(f"{FOLDER}/")]
    return StudentRaised(
        error.type_name, error.message, frames, error.missing_module, error.limit, error.missing_attribute
    )


def _status(kinds: Sequence[str], lost: Sequence[list[object]]) -> Status:
    if any(untrusted.table(event[2]).get("limit") == "time" for event in lost):
        return Status.TIMEOUT
    if "error" in kinds:
        return Status.ERROR
    if lost:
        return Status.FAILED
    if "skip" in kinds:
        return Status.SKIPPED
    return Status.PASSED if any(kind in _WON for kind in kinds) else Status.ERROR


def _with_points(outcome: Outcome, given: object, function: TestFunction) -> Outcome:
    """Return the outcome with the points given to `set_score`, clamped; a test worth nothing has no share."""
    if given is None or not function.points:
        return outcome
    try:
        share = min(max(exact_points(given, "the test") / function.points, Fraction(0)), Fraction(1))
    except ValueError as error:
        return replace(outcome, status=Status.FAILED, message=f"{outcome.message}\n{error}".strip())
    if outcome.status is Status.PASSED and share < 1:
        return replace(outcome, status=Status.PARTIAL if share else Status.FAILED, share=share)
    return replace(outcome, share=share)


def _event_text(event: list[object], *, for_staff: bool) -> str:
    kind, label, raised = event
    if kind == "unexpected_success":
        return "This test was expected to fail, and did not."
    error = StudentRaised.from_wire(untrusted.table(raised))
    shown = error if for_staff else without_suite(error)
    text = describe(shown)
    if kind == "failure" and not for_staff:
        text = f"Test failed: {error.message}" if error.message else "Test failed."
    return f"{untrusted.text(label, 200)} {text}" if label else text

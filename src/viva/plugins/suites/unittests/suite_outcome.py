"""Turns what the box reports about a test of a suite into its outcome; the points are always the author's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from viva.examiner.catalog import TestFunction
from viva.examiner.outcome import OUTPUT_CAP, Outcome, describe
from viva.examiner.points import exact_points
from viva.model import Status, untrusted
from viva.model.errors import StudentRaised
from viva.plugins.suites.unittests.suite_reading import FOLDER

MAX_EVENTS: Final = 50
"""The most failed subtests that are reported."""
_LOST: Final = ("error", "failure", "unexpected_success")
_WON: Final = ("success", "expected_failure")
NOT_IMPORTED: Final = (
    "Not asked: {file} could not be imported together with your submission. The reason is at the top of the results."
)
NOT_THERE: Final = "Not asked: with your submission the suite has no such test."
NOTHING_SAID: Final = "The test ended without saying how."


@dataclass(frozen=True, slots=True)
class _Event:
    """What the runner of the suite reported: a success, a failure, a skip, of the test or of a subtest."""

    kind: str
    label: object
    """The subtest; for a skip, its reason."""
    raised: object

    def describe(self, *, for_staff: bool) -> str:
        """Return a text about a lost test."""
        if self.kind == "unexpected_success":
            return "This test was expected to fail, and did not."
        error = StudentRaised.from_wire(untrusted.table(self.raised))
        text = describe(error if for_staff else without_suite(error))
        if self.kind == "failure" and not for_staff:
            text = f"Test failed: {error.message}" if error.message else "Test failed."
        return f"{untrusted.text(self.label, 200)} {text}" if self.label else text


def judge_test(reply: dict[object, object], function: TestFunction) -> Outcome:
    """Return the outcome of a test that ran.

    Failures decide it; points given by `set_score` are kept, clamped to the test's points.
    """
    events = _read_events(reply.get("events"))
    lost = [event for event in events if event.kind in _LOST]
    status = _find_status(events)
    if status is Status.SKIPPED:
        reason = next(untrusted.text(event.label, 300) for event in events if event.kind == "skip")
        return Outcome(status, f"Skipped by the test itself: {reason}" if reason else "Skipped by the test itself.")
    printed = untrusted.text(reply.get("printed"), OUTPUT_CAP).strip("\n")
    words = "\n".join(event.describe(for_staff=False) for event in lost)
    staff = "\n".join(event.describe(for_staff=True) for event in lost)
    if status is Status.ERROR and not words:
        words = NOTHING_SAID
    if staff == words:
        staff = ""
    if function.hidden or function.hide_errors is not None:
        shown, staff = words, "\n".join(filter(None, (staff, printed)))
    else:
        shown = "\n\n".join(filter(None, (printed, words)))
    outcome = Outcome(status, shown[:OUTPUT_CAP], staff[:OUTPUT_CAP], doubtful=status is Status.TIMEOUT)
    is_known = any(event.kind in (*_LOST, *_WON) for event in events)
    return _add_points(outcome, reply.get("score"), function) if is_known else outcome


def judge_set_up(error: StudentRaised | None, events: object) -> Outcome:
    """Return the outcome of every test of a class or module whose setUpClass or setUpModule failed."""
    found = _read_events(events)
    raised = [StudentRaised.from_wire(untrusted.table(event.raised)) for event in found if event.raised]
    if error is None and found and all(event.kind == "skip" for event in found):
        return Outcome(Status.SKIPPED, f"Skipped by the tests themselves: {untrusted.text(found[0].label, 300)}")
    if error is None and not raised:
        return Outcome(Status.ERROR, NOTHING_SAID)
    error = error or raised[0]
    timed_out = error.limit == "time"
    message = f"While the tests were set up: {describe(without_suite(error))}"
    return Outcome(Status.TIMEOUT if timed_out else Status.ERROR, message, describe(error), doubtful=timed_out)


def without_suite(error: StudentRaised) -> StudentRaised:
    """Return the same error without the author's own lines, which say what is expected."""
    frames = [frame for frame in error.frames if not frame.file.startswith(f"{FOLDER}/")]
    return StudentRaised(
        error.type_name, error.message, frames, error.missing_module, error.limit, error.missing_attribute
    )


def _read_events(reply: object) -> list[_Event]:
    rows = [row for row in map(untrusted.rows, untrusted.rows(reply)[:MAX_EVENTS]) if len(row) == 3]
    return [_Event(kind if isinstance(kind, str) else "", label, raised) for kind, label, raised in rows]


def _find_status(events: Sequence[_Event]) -> Status:
    kinds = {event.kind for event in events}
    if any(event.kind in _LOST and untrusted.table(event.raised).get("limit") == "time" for event in events):
        return Status.TIMEOUT
    if "error" in kinds:
        return Status.ERROR
    if kinds & {*_LOST}:
        return Status.FAILED
    if "skip" in kinds:
        return Status.SKIPPED
    return Status.PASSED if kinds & {*_WON} else Status.ERROR


def _add_points(outcome: Outcome, given: object, function: TestFunction) -> Outcome:
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

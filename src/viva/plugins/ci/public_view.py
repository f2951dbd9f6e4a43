"""The part of a result that everyone who can read a CI log may see: every format of this folder shows only that.

The student can read logs, summaries and artifacts of their repository. So a report has only the visible tests, and
says how many others there are. With `hidden=True` it has all of them, with the fixed sentence that a hidden test has
in results.json; staff messages and the cases of hidden tests are never in it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from viva.formats import escaping
from viva.formats.decimal_points import show, total_in_words
from viva.formats.results_json import Results, TestResult
from viva.model import Status
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.model.totals import Totals

MESSAGE: Final = {"characters": escaping.MOST_CHARACTERS + 100, "lines": escaping.MOST_LINES + 1}
"""Limits above those of a message that was cut already, so that escaping it does not cut it again."""
_TITLE: Final = 200
_MOST: Final = 10**9
"""Points and seconds; no real result has more, and floats would lose precision."""


@dataclass(frozen=True, slots=True)
class ReportedCase:
    """One case of a test function."""

    name: str
    """Unique within the report, names of tests included."""
    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class ReportedTest:
    """One test function."""

    name: str
    """Number and title on one line; unique within the report."""
    number: str
    title: str
    test_id: str
    status: Status
    earned: Fraction
    points: Fraction
    message: str
    """What the student reads. It may be text from the student's program: every format escapes it in its own way."""
    wall_s: float
    tags: tuple[str, ...]
    cases: tuple[ReportedCase, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One result, as far as it is shown."""

    submission: str
    assignment: str
    tests: tuple[ReportedTest, ...]
    left_out: int
    """Tests that are not in the report, because they are not visible."""
    left_out_points: Fraction
    notes: str
    """The text above the tests, which the student's program may have made."""
    environment: tuple[str, ...]
    complete: bool
    tier: str
    """The isolation in which the code ran: `T3`."""
    missing: tuple[str, ...]
    """Isolation layers that were missing."""
    viva: str
    """Version that graded; empty where the result does not have it."""
    wall_s: float

    @property
    def title(self) -> str:
        """Return the submission's name; for a whole working folder, which has none, the assignment's."""
        return self.assignment if self.submission == "." else self.submission

    @property
    def totals(self) -> Totals:
        """Return what the tests add up to."""
        return Totals.add_up(self.tests)

    @property
    def decided(self) -> tuple[ReportedTest, ...]:
        """Return the tests that are graded."""
        return tuple(test for test in self.tests if not test.status.is_open)

    @property
    def has_grader_error(self) -> bool:
        """True when something went wrong on the grader's side: those tests are unscored until they are run again."""
        return not self.complete or any(test.status.is_fault for test in self.tests)

    @property
    def total(self) -> str:
        """Return the total in words: `38 of 45 points, 5 more pending`."""
        return total_in_words(self.totals)

    @property
    def hidden_line(self) -> str:
        """Return a sentence about tests that are not shown; empty if all are."""
        if not self.left_out:
            return ""
        tests = counted(self.left_out, "test")
        return f"Not shown here: {tests} worth {show(self.left_out_points)} points that are not visible yet."


def report_of(results: Results, *, hidden: bool = False) -> Report:
    """Select what is shown of a result.

    Args:
        hidden: include names and points of hidden tests, for teachers' own machines and gradebooks.

    Raises:
        UsageError: its numbers are larger than those of any real result.
    """
    exact = results.extra_data
    seconds = [results.execution_time, *(test.extra_data.wall_s for test in results.tests)]
    if Fraction(exact.points) > _MOST or max(seconds) > _MOST:
        raise UsageError(
            f"{escaping.line(exact.submission)}: more than {_MOST:,} points or seconds; viva graded no such."
        )
    everything = results.visibility == "visible"
    shown: list[TestResult] = []
    left_out: list[TestResult] = []
    for test in results.tests:
        (shown if hidden or (everything and test.visibility == "visible") else left_out).append(test)
    unique = _unique()
    return Report(
        submission=escaping.line(exact.submission) or "submission",
        assignment=escaping.line(exact.assignment) or "assignment",
        tests=tuple(_test(test, unique) for test in shown),
        left_out=len(left_out),
        left_out_points=sum((Fraction(test.extra_data.points) for test in left_out), Fraction(0)),
        notes=escaping.terminal(results.output, **MESSAGE) if everything else "",
        environment=tuple(exact.environment) if everything else (),
        complete=exact.complete,
        tier=escaping.line(exact.isolation.tier, characters=20),
        missing=tuple(escaping.line(layer, characters=100) for layer in exact.isolation.missing),
        viva=escaping.line(exact.signature.get("viva", ""), characters=40),
        wall_s=results.execution_time,
    )


def _test(test: TestResult, unique: Callable[[str], str]) -> ReportedTest:
    exact, number = test.extra_data, escaping.line(test.number or "", characters=40)
    title = escaping.line(test.name, characters=_TITLE) or escaping.line(exact.test_id, characters=_TITLE) or "test"
    name = unique(f"{number} {title}".lstrip())
    is_open = Status(exact.status).is_open
    visible = test.visibility == "visible"
    message = escaping.terminal(test.output, **MESSAGE)
    messages = messages_of_cases(message, [case.label for case in exact.cases])
    return ReportedTest(
        name=name,
        number=number,
        title=title,
        test_id=escaping.line(exact.test_id),
        status=Status(exact.status),
        earned=Fraction(0) if is_open else Fraction(exact.earned),
        points=Fraction(exact.points),
        message=message,
        wall_s=exact.wall_s,
        tags=tuple(escaping.line(tag, characters=100) for tag in test.tags),
        cases=tuple(
            ReportedCase(unique(f"{name} [{escaping.line(case.label, characters=100)}]"), _status(case.status), message)
            for case, message in (zip(exact.cases, messages, strict=True) if visible else ())
        ),
    )


def messages_of_cases(output: str, labels: Sequence[str]) -> list[str]:
    """Split a test's message into the parts of its cases.

    A message is `label: text` for one case after the other. Text that looks like another case's label can only move
    words from one case of the same test to another; no format reads a verdict from it.
    """
    index = {label: i for i, label in reversed(list(enumerate(labels))) if label}
    parts: dict[int, list[str]] = {}
    here: list[str] = []
    for line in output.split("\n"):
        beginnings = (line[: found.start()] for found in re.finditer(": ", line))
        label = next((begin for begin in beginnings if begin in index and index[begin] not in parts), None)
        if label is None:
            here.append(line)
        else:
            here = parts[index[label]] = [line[len(label) + 2 :]]
    return ["\n".join(parts.get(i, [])).rstrip("\n") for i in range(len(labels))]


def _status(word: str) -> Status:
    """Return a case's status; a word in the file that is not a status counts as failed."""
    return Status.read(word, Status.FAILED)


def _unique() -> Callable[[str], str]:
    """Return a function that makes each name unique: `name`, `name (2)`, `name (3)`."""
    taken: set[str] = set()
    counts: dict[str, int] = {}

    def unique(name: str) -> str:
        candidate = name
        while candidate in taken:
            counts[name] = counts.get(name, 1) + 1
            candidate = f"{name} ({counts[name]})"
        taken.add(candidate)
        return candidate

    return unique

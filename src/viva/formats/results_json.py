"""Gradescope's results.json as a strict model: written from a Score, and read back.

Source of the keys: docs/specs.md of gradescope/autograder_samples. A test that is not graded yet (deferred,
needs_review, grader_error) has a maximum and no score, so that it never counts as lost.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from viva.formats import escaping
from viva.formats.decimal_points import UNIT, decimal, scores_and_maxima, show, total_units, units_of
from viva.formats.escaping import MAX_NOTE_LINES, short_notes
from viva.model import Case, Entry, Score, Status
from viva.model.errors import UsageError
from viva.model.gpu import GpuUse
from viva.model.hand_grading import NOT_GRADED_YET
from viva.model.isolation import Isolation
from viva.model.score import Curve
from viva.model.status import StatusWord
from viva.model.totals import Totals

FORMAT: Final = 1
"""Version of the contents of `extra_data`."""
MOST_BYTES: Final = 64 << 20
MOST_VALUES: Final = 200_000
"""A test has about thirty values. Each value of a wrong type becomes an error, many times as large."""
_TEXT: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)

Visibility = Literal["visible", "hidden", "after_due_date", "after_published"]
TextFormat = Literal["text", "html", "simple_format", "md", "ansi"]
Points = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Signed = Annotated[float, Field(allow_inf_nan=False)]
Exact = Annotated[str, Field(pattern=r"^[0-9]{1,200}(/[1-9][0-9]{0,199})?$")]
SignedExact = Annotated[str, Field(pattern=r"^-?[0-9]{1,200}(/[1-9][0-9]{0,199})?$")]
NOT_FINISHED: Final = "Grading is not finished: this result is not complete."


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class CaseData(_Strict):
    """One case of a test function."""

    label: str
    """The case's parameters, in words."""
    status: str
    """One of the nine statuses."""
    earned: SignedExact
    """Exact points."""
    points: Exact
    """Exact points that can be earned."""


class UnmarkedData(_Strict):
    """A test as it was before a person graded its prose, so that the decision can be undone."""

    output: str
    """The message before the decision."""
    earned: SignedExact
    """Exact points before the decision."""
    cases: list[CaseData]
    """The cases before the decision."""


class TestData(_Strict):
    """What viva adds to a test, under `extra_data`."""

    test_id: str
    """A stable, unique name: the file and the function."""
    status: StatusWord
    """One of the nine statuses."""
    earned: SignedExact
    """Exact points, such as `25/3`; the test's `score` is their decimal."""
    points: Exact
    """Exact points that can be earned."""
    wall_s: Points
    """Seconds; 0 for a hidden test, because a program could tell its student by them what it was asked."""
    cases: list[CaseData] = Field(default_factory=list)
    """The parametrized cases, if there are several."""
    rubric: str | None = None
    """The rubric question by which it is graded."""
    written: str | None = None
    """The student's prose that a person grades."""
    unmarked: UnmarkedData | None = None
    """Missing unless a person has graded it; without that it needs a review."""
    staff: str | None = None
    """What only staff may read; written only on request."""


class TestResult(_Strict):
    """One test function."""

    name: str
    """The first sentence of the test's docstring."""
    number: str | None = None
    """The question's number."""
    score: Signed | None = None
    """Missing while the test is not graded yet; below zero for a deduction."""
    max_score: Points
    """The points that can be earned."""
    status: Literal["passed", "failed"] | None = None
    """`passed` only with full points; missing while the test is not graded yet."""
    output: str = ""
    """The message for the student."""
    output_format: TextFormat = "text"
    """The format of the message; viva writes plain text."""
    visibility: Visibility = "visible"
    """When students see the test."""
    tags: list[str] = Field(default_factory=list)
    """The labels of the test."""
    extra_data: TestData
    """What viva adds."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.score is not None and self.score > self.max_score:
            raise ValueError("score is larger than max_score")
        is_open = Status(self.extra_data.status).is_open
        if is_open != (self.score is None) or is_open != (self.status is None):
            raise ValueError("a test has a score and a status exactly when it is graded")
        if is_open and self.extra_data.unmarked is not None:
            raise ValueError("a test that is not graded yet cannot say `unmarked`")
        won, most = Fraction(self.extra_data.earned), Fraction(self.extra_data.points)
        if won > most:
            raise ValueError("extra_data.earned is more than extra_data.points")
        if self.score is not None and abs(Fraction(str(self.score)) - won) > Fraction(1, UNIT):
            raise ValueError("score and extra_data.earned do not agree")
        if abs(Fraction(str(self.max_score)) - most) > Fraction(2, UNIT):
            raise ValueError("max_score and extra_data.points do not agree")
        return self


class LeaderboardEntry(_Strict):
    """One value of the leaderboard."""

    name: str
    """The column's title."""
    value: Annotated[float | int | str, Field(union_mode="left_to_right")]
    """The value that a test has set."""
    order: Literal["asc", "desc"] = "desc"
    """`desc` if more is better."""


class ThresholdData(_Strict):
    """The value that is required after an epoch."""

    epoch: int
    """The number of the epoch, from 1."""
    value: float
    """The value that is required after it."""


class CurveData(_Strict):
    """One quantity over the epochs of a training."""

    test_id: str
    """The test that measured it."""
    name: str
    """What was measured."""
    values: list[float]
    """After each epoch, from the first."""
    thresholds: list[ThresholdData] = Field(default_factory=list)
    """The values that are required."""


class Provenance(_Strict):
    """`extra_data` of the whole result: how it was produced."""

    format: Literal[1]
    """The version of this extension."""
    complete: bool
    """False while grading runs, or if it was interrupted."""
    submission: str
    """The path of the submission, as it was given."""
    content_hash: str
    """SHA-256 over the names and bytes of the graded files."""
    assignment: str
    """The assignment's name."""
    version: int
    """The assignment's version."""
    earned: Exact
    """Exact points earned so far."""
    points: Exact
    """Exact points that can be earned."""
    still_open: Exact
    """Exact points that are not graded yet."""
    choice: str | None = None
    """Which file counts, and why; missing where names of files decide."""
    environment: list[str] = Field(default_factory=list)
    """Missing packages and incompatible versions of libraries where it was graded."""
    notes: list[str] | None = None
    """What `output` shortens, in full; missing where it shows everything."""
    curves: list[CurveData] | None = None
    """What visible tests measured during training; missing where none trained."""
    gpu: GpuUse | None = None
    """Missing where no test was run on a GPU."""
    isolation: Isolation
    """The isolation in which the program ran."""
    signature: dict[str, str]
    """Everything that the score was made with: assignment, seed, versions."""


class Results(_Strict):
    """The whole file."""

    score: Points
    """The points earned so far: the sum of the tests' scores, never below zero."""
    execution_time: Points
    """Wall seconds for the submission, without those of hidden tests."""
    output: str = ""
    """The text above the tests."""
    output_format: TextFormat = "text"
    """The format of that text; viva writes plain text."""
    test_output_format: TextFormat = "text"
    """The format of the tests' messages."""
    test_name_format: TextFormat = "text"
    """The format of the tests' names."""
    visibility: Visibility = "visible"
    """When students see the result."""
    stdout_visibility: Visibility = "hidden"
    """When students see what the autograder printed."""
    extra_data: Provenance
    """What viva adds: how the result was made."""
    tests: list[TestResult]
    """One entry for each test function, visible ones first."""
    leaderboard: list[LeaderboardEntry] = Field(default_factory=list)
    """The values that tests have set for the leaderboard."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        total = total_units(units_of(test.score) for test in self.tests if test.score is not None)
        if total != units_of(self.score):
            raise ValueError(f"score is {self.score}, and the tests add up to {decimal(total)}")
        exact, sums = self.extra_data, totals(self.tests)
        written = Fraction(exact.earned), Fraction(exact.points), Fraction(exact.still_open)
        if written != (sums.earned, sums.points, sums.still_open):
            raise ValueError("earned, points and still_open of extra_data are not what the tests add up to")
        return self


def results_of(
    score: Score, *, complete: bool = True, hidden_as: str = "after_published", staff: bool = False
) -> Results:
    """Return the results of a score.

    Args:
        complete: False while grading runs.
        hidden_as: the visibility of hidden tests; Gradescope's own `hidden` hides the total from the student.
        staff: include what only staff may read, for files that no student gets.
    """
    earned = [Fraction(0) if entry.status.is_open else entry.earned for entry in score.entries]
    units = scores_and_maxima(earned, [entry.points for entry in score.entries])
    tests = [_test(entry, *pair, hidden_as, staff=staff) for entry, pair in zip(score.entries, units, strict=True)]
    return Results(
        score=decimal(total_units(won for won, _ in units)),
        execution_time=round(max(score.wall_s - _untold_s(score, staff=staff), 0.0), 3),
        output=_summary(score, complete=complete),
        tests=tests,
        leaderboard=[_leader(x.name, x.value, x.order) for x in score.leaderboard],
        extra_data=_provenance(score, complete=complete),
    )


def to_json(score: Score, *, complete: bool = True, hidden_as: str = "after_published", staff: bool = False) -> bytes:
    """Return the bytes of results.json: no NaN, keys without a value left out. Arguments as `results_of`."""
    return to_bytes(results_of(score, complete=complete, hidden_as=hidden_as, staff=staff))


def to_bytes(results: Results) -> bytes:
    """Return the file as it is written."""
    return results.model_dump_json(indent=1, exclude_none=True).encode("utf-8") + b"\n"


class _Graded(NamedTuple):
    """A test of a file with exact points."""

    status: Status
    earned: Fraction
    points: Fraction
    tags: Sequence[str]


def totals(tests: Iterable[TestResult]) -> Totals:
    """Return the exact sums of some tests."""
    return Totals.add_up(map(_graded, tests))


def with_totals(results: Results, tests: Sequence[TestResult]) -> Results:
    """Return a result with these tests, with their scores as decimals that add up, and with recomputed totals."""
    sums = totals(tests)
    earned = [Fraction(0) if test.score is None else Fraction(test.extra_data.earned) for test in tests]
    units = scores_and_maxima(earned, [Fraction(test.extra_data.points) for test in tests])
    exact = {"earned": str(sums.earned), "points": str(sums.points), "still_open": str(sums.still_open)}
    scored = [
        test.model_copy(update={"score": None if test.score is None else decimal(won), "max_score": decimal(most)})
        for test, (won, most) in zip(tests, units, strict=True)
    ]
    total = decimal(total_units(won for won, _ in units))
    extra_data = results.extra_data.model_copy(update=exact)
    return results.model_copy(update={"score": total, "tests": scored, "extra_data": extra_data})


def _graded(test: TestResult) -> _Graded:
    exact = test.extra_data
    return _Graded(Status(exact.status), Fraction(exact.earned), Fraction(exact.points), test.tags)


OPEN_LINE: Final = (f"{NOT_GRADED_YET}: ", " more. They are not lost.")
"""What surrounds the numbers in the line that `open_points` makes."""


def open_points(still_open: Fraction) -> list[str]:
    """Return the line above the tests that says how many points are not graded yet; empty where all are."""
    if not still_open:
        return []
    before, behind = OPEN_LINE
    return [f"{before}{show(still_open)}{behind}"]


def load_results(path: Path) -> Results:
    """Read a results.json that viva wrote.

    Raises:
        UsageError: it is missing, unreadable, or not in the form that viva writes.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB; viva writes no such results.")
    if _parts(data) > MOST_VALUES and _parts(_TEXT.sub(b"", data)) > MOST_VALUES:
        raise UsageError(f"{path} holds more than {MOST_VALUES:,} values; viva writes no such results.")
    try:
        return Results.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = escaping.line(".".join(str(step) for step in first["loc"]))
        raise UsageError(
            f"{path} is not a results.json of viva: {where + ': ' if where else ''}{first['msg']}."
        ) from None


def _parts(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Results.model_json_schema()}


def _untold_s(score: Score, *, staff: bool) -> float:
    """Return how long the hidden tests took, which the total must not tell a student either."""
    hidden = (entry for entry in score.entries if entry.visibility != "visible" and not staff)
    return sum(case.wall_s for entry in hidden for case in entry.cases)


def _test(entry: Entry, won: int, most: int, hidden_as: str, *, staff: bool) -> TestResult:
    is_open = entry.status.is_open
    wall_s = sum(case.wall_s for case in entry.cases) if staff or entry.visibility == "visible" else 0.0
    return TestResult(
        name=escaping.line(entry.name),
        number=escaping.line(entry.number, characters=40) or None,
        score=None if is_open else decimal(won),
        max_score=decimal(most),
        status=entry.status.gradescope,
        output=escaping.terminal(entry.message) or (f"{NOT_GRADED_YET}." if is_open else ""),
        visibility=_visibility(entry.visibility, hidden_as),
        tags=[escaping.line(tag, characters=100) for tag in entry.tags],
        extra_data=TestData(
            test_id=escaping.line(entry.test_id),
            status=entry.status.value,
            earned=str(entry.earned),
            points=str(entry.points),
            wall_s=round(max(wall_s, 0.0), 6),
            cases=[_case(case) for case in entry.cases] if len(entry.cases) > 1 else [],
            rubric=escaping.line(entry.rubric) or None,
            written=escaping.terminal(entry.written, characters=100_000, lines=5000) or None,
            staff=(escaping.terminal(entry.staff_message) or None) if staff else None,
        ),
    )


def _visibility(visibility: str, hidden_as: str) -> Any:
    """Return the visibility to write; the model checks that it is one of the four words."""
    return hidden_as if visibility == "hidden" else visibility


def _case(case: Case) -> CaseData:
    return CaseData(
        label=escaping.line(case.label, characters=100),
        status=case.status.value,
        earned=str(case.earned),
        points=str(case.points),
    )


def _leader(name: str, value: float | str, order: str) -> LeaderboardEntry:
    shown = escaping.line(value, characters=100) if isinstance(value, str) else value
    return LeaderboardEntry(
        name=escaping.line(name, characters=100), value=shown, order="asc" if order == "asc" else "desc"
    )


def _curve(curve: Curve) -> CurveData:
    return CurveData(
        test_id=escaping.line(curve.test_id),
        name=escaping.line(curve.name, characters=100),
        values=[round(value, 6) for value in curve.values],
        thresholds=[ThresholdData(epoch=epoch, value=round(value, 6)) for epoch, value in curve.thresholds],
    )


def _gpu(use: GpuUse) -> GpuUse:
    return replace(use, name=escaping.line(use.name), driver=escaping.line(use.driver, characters=40))


def _summary(score: Score, *, complete: bool) -> str:
    """Return the text above the tests."""
    lines = short_notes(score.notes)
    if not complete:
        lines.append(NOT_FINISHED)
    return escaping.terminal("\n".join([*lines, *open_points(score.still_open)]))


def _notes_left_out(score: Score) -> list[str] | None:
    lines = [line for note in score.notes for line in note.splitlines()]
    return [escaping.terminal(note) for note in score.notes] if len(lines) > MAX_NOTE_LINES else None


def _provenance(score: Score, *, complete: bool) -> Provenance:
    return Provenance(
        format=FORMAT,
        complete=complete,
        submission=escaping.line(score.submission),
        content_hash=score.content_hash,
        assignment=score.assignment,
        version=score.version,
        earned=str(score.earned),
        points=str(score.points),
        still_open=str(score.still_open),
        choice=escaping.line(score.choice) or None,
        environment=[escaping.line(difference) for difference in score.environment],
        notes=_notes_left_out(score),
        curves=[_curve(curve) for curve in score.curves] or None,
        gpu=_gpu(score.gpu) if score.gpu else None,
        isolation=score.isolation,
        signature=dict(score.signature),
    )


def results_below(folder: Path) -> list[Path]:
    """List the paths of all results below a folder, relative to it, sorted.

    Raises:
        UsageError: the folder does not exist, or has no results.
    """
    if not folder.exists():
        raise UsageError(f"{folder}: no such file or folder; give the folder that `viva grade -o` wrote.")
    found = [path.relative_to(folder) for path in sorted(folder.rglob("results.json")) if path.is_file()]
    if not found:
        raise UsageError(f"{folder} holds no results.json; give the folder that `viva grade -o` wrote.")
    return found

"""A results.json that was read becomes a Score again: exact points and statuses, and what students were told."""

from collections.abc import Sequence
from fractions import Fraction

from viva.formats.results_json import CaseData, Results, TestResult
from viva.model import Case, Entry, Isolation, Score, Status


def score_of(results: Results) -> Score:
    """The score of a result; messages stand with the only case, because the file has one text for each test."""
    exact = results.extra_data
    walls = exact.isolation
    return Score(
        submission=exact.submission,
        content_hash=exact.content_hash,
        assignment=exact.assignment,
        version=exact.version,
        entries=tuple(_entry(test) for test in results.tests),
        notes=(results.output,) if results.output else (),
        isolation=Isolation(walls.tier, walls.layers, walls.probes, tuple(walls.missing)),
        signature=exact.signature,
        environment=tuple(exact.environment),
        wall_s=results.execution_time,
    )


def _entry(test: TestResult) -> Entry:
    exact = test.extra_data
    status, earned, points = Status(exact.status), Fraction(exact.earned), Fraction(exact.points)
    only = Case("", status, earned, points, test.output, exact.staff or "", exact.wall_s)
    return Entry(
        test_id=exact.test_id,
        name=test.name,
        number=test.number or "",
        visibility=test.visibility,
        status=status,
        earned=earned,
        points=points,
        cases=_cases(exact.cases, only),
        tags=tuple(test.tags),
        written=exact.written or "",
        rubric=exact.rubric or "",
    )


def _cases(cases: Sequence[CaseData], only: Case) -> tuple[Case, ...]:
    if not cases:
        return (only,)
    return tuple(Case(c.label, Status(c.status), Fraction(c.earned), Fraction(c.points), "") for c in cases)

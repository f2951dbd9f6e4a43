"""Load the submissions and scores of a report from a folder of results."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Final

from viva.formats import escaping
from viva.formats.results_json import NOT_FINISHED, OPEN_LINE, Results, TestResult, load_results, results_below
from viva.model import Case, Entry, Score, Status
from viva.model.attempt import Attempt, ScoredAttempt
from viva.model.errors import UsageError
from viva.model.score import Curve, Leader
from viva.plugins.ci.public_view import messages_of_cases

_MAX: Final = 10**9
"""The maximum of points and seconds that is read; far beyond anything that is graded."""


def load_attempts(
    folder: Path, submissions: Path = Path(), reduced: Callable[[ScoredAttempt], ScoredAttempt] = lambda one: one
) -> list[tuple[ScoredAttempt, Path]]:
    """Load every result below a folder, with the folder of its file, in the order of the paths.

    A folder of results does not name students, so each submission counts as one student.

    Args:
        folder: what `viva grade -o` wrote.
        submissions: the folder in which grading was started; the results name their submissions relative to it.

        reduced: returns what is kept of each result.

    Raises:
        UsageError: there are no results, or one is not a valid results.json of viva.
    """
    files = results_below(folder)
    found = []
    for file in files:
        score = read_score(load_results(folder / file))
        name = file.parent.as_posix()
        if name == ".":
            name = PurePosixPath(score.submission).name or "submission"
        found.append(reduced(ScoredAttempt(Attempt(name, submissions / score.submission, ()), score)))
    return list(zip(_remove_common_folder(found), [folder / file.parent for file in files], strict=True))


def read_score(results: Results) -> Score:
    """Return the score that a results.json was written from, as far as the file contains it.

    Messages for staff are present only if the file has them. The time of a test is divided equally among its cases.

    Raises:
        UsageError: its numbers exceed anything that is graded.
    """
    exact = results.extra_data
    seconds = [results.execution_time, *(test.extra_data.wall_s for test in results.tests)]
    if Fraction(exact.points) > _MAX or max(seconds) > _MAX:
        raise UsageError(
            f"{escaping.line(exact.submission)}: more than {_MAX:,} points or seconds; so viva did not write it."
        )
    notes = [line for line in results.output.split("\n") if line and not line.startswith(OPEN_LINE[0])]
    return Score(
        submission=exact.submission,
        content_hash=exact.content_hash,
        assignment=exact.assignment,
        version=exact.version,
        entries=tuple(_read_entry(test, results.visibility) for test in results.tests),
        notes=tuple(line for line in notes if line != NOT_FINISHED or not exact.complete),
        isolation=exact.isolation,
        signature=exact.signature,
        leaderboard=tuple(Leader(x.name, x.value, x.order) for x in results.leaderboard),
        choice=exact.choice or "",
        environment=tuple(exact.environment),
        wall_s=results.execution_time,
        curves=tuple(
            Curve(c.test_id, c.name, tuple(c.values), tuple((t.epoch, t.value) for t in c.thresholds))
            for c in exact.curves or ()
        ),
        gpu=exact.gpu,
    )


def _read_entry(test: TestResult, of_all: str) -> Entry:
    exact = test.extra_data
    status = Status(exact.status)
    visibility = of_all if test.visibility == "visible" else test.visibility
    earned, points, staff = Fraction(exact.earned), Fraction(exact.points), exact.staff or ""
    cases: tuple[Case, ...] = (Case("", status, earned, points, test.output, staff, exact.wall_s),)
    if exact.cases:
        messages = messages_of_cases(test.output, [case.label for case in exact.cases])
        cases = tuple(
            Case(
                case.label,
                Status.read(case.status, status),
                Fraction(case.earned),
                Fraction(case.points),
                message,
                staff if index == 0 else "",
                exact.wall_s / len(exact.cases),
            )
            for index, (case, message) in enumerate(zip(exact.cases, messages, strict=True))
        )
    return Entry(
        test_id=exact.test_id,
        name=test.name,
        number=test.number or "",
        visibility=visibility,
        status=status,
        earned=earned,
        points=points,
        cases=cases,
        tags=tuple(test.tags),
        written=exact.written or "",
        rubric=exact.rubric or "",
    )


def _remove_common_folder(found: list[ScoredAttempt]) -> list[ScoredAttempt]:
    """Remove the leading folders that all names share, as long as each name keeps at least one part."""
    parts = [PurePosixPath(graded.attempt.name).parts for graded in found]
    if len(found) < 2:
        return found
    common = 0
    while all(len(p) > common + 1 for p in parts) and len({p[common] for p in parts}) == 1:
        common += 1
    return [
        replace(graded, attempt=replace(graded.attempt, name="/".join(p[common:])))
        for graded, p in zip(found, parts, strict=True)
    ]

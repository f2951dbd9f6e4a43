"""Compare two gradings of a class: points of each test of each result."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.formats.decimal_points import in_decimals, signed
from viva.formats.results_json import Results, TestResult

COLUMNS: Final = ("result", "test", "status_before", "status_after", "points_before", "points_after", "change")
_TOTAL: Final = "total"


@dataclass(frozen=True, slots=True)
class Change:
    """One test of one result whose status or points have changed."""

    test_id: str
    before: TestResult | None
    after: TestResult | None

    @property
    def points(self) -> Fraction:
        """Return the points gained; negative where points were lost."""
        return _earned(self.after) - _earned(self.before)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two results of one submission; one of them may be missing."""

    name: str
    before: Results | None
    after: Results | None
    tests: tuple[Change, ...]

    @property
    def points(self) -> Fraction:
        """Return how many more points the second result has; 0 if one of them is missing."""
        if self.before is None or self.after is None:
            return Fraction(0)
        return Fraction(self.after.extra_data.earned) - Fraction(self.before.extra_data.earned)


def difference(name: str, before: Results | None, after: Results | None) -> Difference:
    """Compare test by test, in the order of the first result; tests that only the second one has come last."""
    if before is None or after is None:
        return Difference(name, before, after, ())
    olds = {test.extra_data.test_id: test for test in before.tests}
    news = {test.extra_data.test_id: test for test in after.tests}
    changes = [Change(test_id, olds.get(test_id), news.get(test_id)) for test_id in dict.fromkeys([*olds, *news])]
    return Difference(name, before, after, tuple(each for each in changes if _state(each.before) != _state(each.after)))


def by_change(differences: Iterable[Difference]) -> list[Difference]:
    """Sort by the size of the change, the largest first; equal ones by name."""
    return sorted(differences, key=lambda each: (-abs(each.points), each.name))


def summary(differences: Sequence[Difference]) -> list[str]:
    """Summarise a class: each test with its number of changes, then how many have more and fewer points."""
    tests: dict[str, list[Fraction]] = {}
    for each in differences:
        for change in each.tests:
            tests.setdefault(change.test_id, []).append(change.points)
    busiest = sorted(tests.items(), key=lambda item: (-len(item[1]), item[0]))
    lines = [f"{test_id}: changed for {len(points)}, {_sums(points)}" for test_id, points in busiest]
    totals = [each.points for each in differences if each.before is not None and each.after is not None]
    more, fewer = sum(p > 0 for p in totals), sum(p < 0 for p in totals)
    return [*lines, f"{more} with more points, {fewer} with fewer, {_sums(totals)}."] if totals else lines


def to_csv(differences: Iterable[Difference]) -> bytes:
    """Write a table for people: a row for each changed test, and one for each total; no cell is a formula."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for each in differences:
        for row in [_total_row(each), *(_row(each.name, change) for change in each.tests)]:
            writer.writerow([escaping.csv_cell(cell) for cell in row])
    return out.getvalue().encode("utf-8")


def write_csv(path: Path, differences: Iterable[Difference]) -> None:
    """Write that table to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, to_csv(differences))


def _row(name: str, change: Change) -> list[str]:
    before, after = change.before, change.after
    statuses = [test.extra_data.status if test else "" for test in (before, after)]
    points = [in_decimals(_earned(test)) if test else "" for test in (before, after)]
    return [name, change.test_id, *statuses, *points, _exact(change.points)]


def _total_row(each: Difference) -> list[str]:
    points = [in_decimals(Fraction(r.extra_data.earned)) if r else "" for r in (each.before, each.after)]
    statuses = ["" if r else "no result" for r in (each.before, each.after)]
    return [each.name, _TOTAL, *statuses, *points, _exact(each.points) if all(points) else ""]


def _exact(points: Fraction) -> str:
    return f"{'-' if points < 0 else ''}{in_decimals(abs(points))}"


def _sums(points: Iterable[Fraction]) -> str:
    """Format the sums of points gained and lost."""
    points = list(points)
    won = sum((p for p in points if p > 0), Fraction(0))
    lost = sum((p for p in points if p < 0), Fraction(0))
    parts = [signed(p) for p in (won, lost) if p]
    return f"{' and '.join(parts)} points" if parts else "no points"


def _earned(test: TestResult | None) -> Fraction:
    return Fraction(0) if test is None or test.score is None else Fraction(test.extra_data.earned)


def _state(test: TestResult | None) -> tuple[str, str, str] | None:
    return None if test is None else (test.extra_data.status, test.extra_data.earned, test.extra_data.points)

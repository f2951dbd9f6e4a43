"""Find out which rows are separate attempts, and which replace an earlier row."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from viva.plugins.records.row_packing import moment_from

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRow

_UNKNOWN: Final = datetime.min.replace(tzinfo=UTC)


def current_scores(rows: "Iterable[StoredRow]") -> list[int]:
    """Return the ids of the scores that count: every attempt of each name, in order, sorted by name.

    Two submissions of one name are the same attempt if they have the same number and no two different times: a folder
    that was changed, or an export that was moved. The later score counts.

    Args:
        rows: `id`, `name`, `number`, `submitted_at` of the latest score of each submission, from the first score on.
    """
    of_name: dict[str, list[StoredRow]] = {}
    for row in rows:
        before = of_name.setdefault(row.name, [])
        before[:] = [*(other for other in before if not _is_same(other, row)), row]
    return [row.id for name in sorted(of_name) for row in _in_order(of_name[name])]


def _is_same(one: "StoredRow", two: "StoredRow") -> bool:
    return one.number == two.number and len({_instant(row) for row in (one, two)} - {_UNKNOWN}) < 2


def _in_order(rows: "Iterable[StoredRow]") -> "list[StoredRow]":
    return sorted(rows, key=lambda row: (row.number, _instant(row), row.id))


def _instant(row: "StoredRow") -> datetime:
    """Return when it was submitted; times without a zone are only compared with each other."""
    moment = moment_from(row.submitted_at)
    if moment is None:
        return _UNKNOWN
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)

"""The order of the rows of a file, according to a column of ids."""

import re
from collections.abc import Hashable, Sequence
from typing import Final

from viva.compare.show import show
from viva.grading.artifacts.table_cells import read_cell
from viva.grading.artifacts.unusable import Unusable

_WORD: Final = re.compile(r"[\W_]+")
_COUNTS: Final = {"index", "idx", "unnamed0"}
"""Names of a library's own count of rows, which may restart with each batch."""
_IDS: Final = _COUNTS | {
    "id", "ids", "rowid", "row", "rows", "number", "no", "nr", "example", "exampleid", "guid", "qid", "uid",
}  # fmt: skip


def key(name: str) -> str:
    """Return a column's name as it is compared: "Predicted_Label" is "predictedlabel"."""
    return _WORD.sub("", name[:100].lower())


def is_id(name: str) -> bool:
    """Return whether a column of this name holds ids."""
    return key(name) in _IDS


def is_strict(name: str) -> bool:
    """Return whether ids under this name must be complete."""
    return key(name) in _IDS - _COUNTS


def order_of(column: Sequence[object], ids: Sequence[Hashable] | None, n: int, *, strict: bool) -> list[int] | None:
    """Return the position of each row in the file; None if the column does not determine it.

    Without ids from the author, a column of 0 … n−1 or of 1 … n gives the order. One that is called an id and repeats
    such numbers is refused; others (hashes, the counts of batches) do not determine an order.
    """
    cells = [_id(cell) for cell in column]
    if ids is not None:
        places = {cell: at for at, cell in enumerate(cells)}
        wanted = [_id(one) for one in ids]
        if missing := [one for one in wanted if one not in places]:
            if not strict and len(missing) == len(wanted):
                return None
            raise Unusable(f"has no row with the id {show(missing[0])}, and {len(missing):,} of {n:,} ids are missing.")
        if len(places) < n:
            raise Unusable("has an id more than once: submit one row for each id.")
        return [places[one] for one in wanted]
    if not all(type(cell) is int and 0 <= cell <= n for cell in cells):
        return None
    first = 0 if 0 in cells else 1
    places = {cell: at for at, cell in enumerate(cells)}
    if all(first + at in places for at in range(n)):
        return [places[first + at] for at in range(n)]
    if not strict:
        return None
    absent = next(first + at for at in range(n) if first + at not in places)
    raise Unusable(f"has no row with the id {absent} (ids from {first} to {first + n - 1}): one row for each id.")


def _id(cell: object) -> int | str:
    """Return an id in a form that can be compared: "7", 7 and 7.0 are the same."""
    value = read_cell(cell)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 62:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return cell.strip() if isinstance(cell, str) else repr(cell)[:200]

"""Tables of 0 and 1, such as attention masks written by hand, compared cell by cell."""

from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import Final

import numpy as np

from viva.compare.answers.one_for_all import refuse_one_for_all
from viva.compare.answers.table_text import Table, label_key, read_table
from viva.compare.answers.unreadable import Unreadable, refusal
from viva.compare.disagreement import Difference, Disagreement
from viva.compare.masks import find_convention, visible
from viva.compare.normalize import Array
from viva.compare.show import as_written
from viva.model.counting import counted

WHAT: Final = "a table"
SYMMETRIES: Final = ("polarity",)


def agree_table(
    actual: object,
    expected: object,
    *,
    up_to: str | Collection[str] = ("polarity",),
    partial: bool = True,
    beside: Iterable[object] = (),
    name: str = "your answer",
) -> None:
    """Pass if every cell is right. Rows and columns with labels may be in another order than the expected ones.

    Args:
        actual: rows of digits, Markdown, CSV, a list of rows, or an array. What is no table of this size is left to a
            person.
        expected: the same, or an array of 0 and 1.
        up_to: "polarity" (the default) lets 1 mean masked or visible, as the diagonal says: a token sees itself.
        partial: whether part of the points is earned when some cells are wrong: the share of right cells beyond those
            that a table of one value gets right.
        beside: the answers to the other questions of this kind; one table for all of them earns nothing.
        name: what the message calls the answer.

    Raises:
        Disagreement: wrong cells, with their number; or no table of the expected size.
        ValueError: the author passed a wrong argument.
    """
    flip = _polarity(up_to)
    right = _read_expected(expected)
    try:
        table = read_table(actual)
        if table.shape != right.shape:
            raise Unreadable(f"it has {_size(table.shape)}; expected {_size(right.shape)}")
        given, wanted = _aligned(table, right, flip=flip)
    except Unreadable as why:
        raise refusal(name, actual, WHAT, why, shown=False) from None
    refuse_one_for_all(table.cells, beside, lambda other: read_table(other).cells, name)
    wrong = given != wanted
    count = int(np.count_nonzero(wrong))
    if not count:
        return
    row, column = (int(i) for i in np.argwhere(wrong)[0])
    place = (
        f"{_place('row', row, right.rows or table.rows)}, {_place('column', column, right.columns or table.columns)}"
    )
    text = f"is right in {wrong.size - count} of {wrong.size} cells."
    by_chance = max(int(np.count_nonzero(wanted)), int(np.count_nonzero(~wanted)))
    beyond = Fraction(wrong.size - count - by_chance, max(wrong.size - by_chance, 1))
    share = None
    if partial:
        share = max(beyond, Fraction(0))
    raise Disagreement(Difference(text).sentence(name), share=share, feedback=f"The first wrong cell is in {place}.")


def _polarity(up_to: str | Collection[str]) -> bool:
    chosen = {up_to} if isinstance(up_to, str) else set(up_to)
    if unknown := sorted(chosen.difference(SYMMETRIES)):
        raise ValueError(f"agree_table: up_to={unknown[0]!r}; expected polarity or nothing.")
    return bool(chosen)


def _read_expected(expected: object) -> Table:
    try:
        table = read_table(expected)
    except Unreadable as why:
        raise ValueError(f"agree_table: the expected table cannot be read: {why}.") from None
    if not all(cell in ("0", "1") for row in table.cells for cell in row):
        raise ValueError("agree_table: the expected table holds other cells than 0 and 1.")
    return table


def _aligned(table: Table, right: Table, *, flip: bool) -> tuple[Array, Array]:
    """Return both tables as bool arrays in the same order of labels: visible or not if `flip`, else 1 or not."""
    wanted = np.array([[cell == "1" for cell in row] for row in right.cells], dtype=bool).reshape(right.shape)
    given = _numbers(table, flip=flip)
    given = given[_order(table.rows, right.rows, len(given)), :]
    given = given[:, _order(table.columns, right.columns, given.shape[1])]
    if not flip:
        return given == 1, wanted
    convention = find_convention(given, wanted)
    seen, sought = (
        visible(given, one_is_visible=convention.actual_one_is_visible),
        visible(wanted, one_is_visible=convention.expected_one_is_visible),
    )
    return (seen, sought) if seen is not None and sought is not None else (given, wanted)


def _numbers(table: Table, *, flip: bool) -> Array:
    """Return cells as 0 and 1 (or 0 and -inf); if the diagonal tells them apart, any two symbols are accepted."""
    marks = sorted({cell for row in table.cells for cell in row})
    values: dict[str, float] = {"0": 0.0, "1": 1.0, "-inf": -np.inf if flip else 1.0}
    if not set(marks) <= set(values):
        if not flip or len(marks) > 2:
            raise Unreadable(_unknown_cell(table, values))
        values = {cell: float(position) for position, cell in enumerate(marks)}
    return np.array([[values[cell] for cell in row] for row in table.cells], dtype=float).reshape(table.shape)


def _unknown_cell(table: Table, values: Collection[str]) -> str:
    for i, row in enumerate(table.cells):
        for j, cell in enumerate(row):
            if cell not in values:
                place = f"{_place('row', i, table.rows)}, {_place('column', j, table.columns)}"
                holds = f"holds `{as_written(cell[:20])}`; write 0 or 1 in every cell" if cell else "is empty"
                return f"{place} {holds}"
    return "write 0 or 1 in every cell"


def _order(given: tuple[str, ...], wanted: tuple[str, ...], count: int) -> list[int]:
    """Return each wanted row's place in the answer, if both have the same labels; equal labels keep their order."""
    keys, sought = [label_key(label) for label in given], [label_key(label) for label in wanted]
    if sorted(keys) != sorted(sought) or len(keys) != count:
        return list(range(count))
    places: dict[str, list[int]] = {}
    for position, key in enumerate(keys):
        places.setdefault(key, []).append(position)
    return [places[key].pop(0) for key in sought]


def _place(what: str, position: int, labels: tuple[str, ...]) -> str:
    label = f" ({as_written(labels[position])})" if position < len(labels) else ""
    return f"{what} {position + 1}{label}"


def _size(shape: tuple[int, ...]) -> str:
    rows, columns = shape
    return f"{counted(rows, 'row')} and {counted(columns, 'column')}"

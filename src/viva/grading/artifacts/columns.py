"""Which columns of a file are the predictions, and the order of its rows."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from viva.compare.show import show
from viva.grading.artifacts.numpy_files import Array
from viva.grading.artifacts.prediction_tables import Columns, NamedColumns, wrong_count
from viva.grading.artifacts.row_order import is_id, is_strict, key, order_of
from viva.grading.artifacts.table_cells import Classes, folded, read_cell, score
from viva.grading.artifacts.unusable import Unusable

Labels = NDArray[np.int64]
Scores = NDArray[np.float64]
_Read = TypeVar("_Read")

_PREDICTIONS: Final = {
    "prediction", "predictions", "pred", "preds", "predicted", "ypred", "predy", "yhat", "predictedlabel",
    "predictedlabels", "predlabel", "predlabels", "labelpred", "predictedclass", "predclass", "output", "outputs",
}  # fmt: skip
_SCORES: Final = {
    "logits", "logit", "scores", "score", "probabilities", "probability", "probs", "proba", "prob", "softmax",
}  # fmt: skip
_LABELS: Final = {
    "label", "labels", "class", "classes", "category", "y", "target", "targets", "answer", "answers", "labelids",
}  # fmt: skip
_NUMBERED: Final = re.compile(
    r"(?:probability|probabilities|proba|probs?|p|scores?|logits?|class|label|output)?(\d{1,6})"
)


def from_columns(table: Columns, n: int, classes: Classes, ids: Sequence[Hashable] | None) -> Labels | Scores:
    """Return labels (n,) or scores (n, C) from a table of n rows.

    Raises:
        Unusable: no column is clearly the predictions, or a cell cannot be read.
    """
    columns, order = _ordered(table, n, classes, ids)
    chosen = _chosen(columns, n, classes, named=table.named)
    values = chosen if order is None else [[column[at] for at in order] for column in chosen]
    return _labels(values[0], classes) if len(values) == 1 else _stacked(values, classes)


def from_arrays(arrays: dict[str, Array], n: int, classes: Classes, ids: Sequence[Hashable] | None) -> Labels | Scores:
    """Return labels (n,) or scores (n, C) from the arrays of a file.

    Raises:
        Unusable: no array is clearly the predictions, or it has another shape or type.
    """
    id_name = next((name for name in arrays if is_id(name) and arrays[name].ndim == 1), None)
    rest = {name: array for name, array in arrays.items() if name != id_name}
    name = _best_name(rest) if len(rest) > 1 else next(iter(rest), None)
    if name is None:
        raise Unusable(f"holds the arrays {_names(rest)}: call the one with your answers `predictions`.")
    array = _shaped(rest[name], n, classes)
    if id_name is not None and len(arrays[id_name]) == n:
        order = order_of(arrays[id_name].tolist(), ids, n, strict=is_strict(id_name))
        array = array if order is None else array[order]
    if array.ndim == 2:
        return _finite(array.astype(np.float64))
    return (
        _whole(array, classes) if array.dtype.kind in "iuf" and not classes.names else _labels(array.tolist(), classes)
    )


# --- which columns


def _ordered(
    table: Columns, n: int, classes: Classes, ids: Sequence[Hashable] | None
) -> tuple[NamedColumns, list[int] | None]:
    """Return the columns without that of the ids, and the rows in the order asked for (None: unchanged)."""
    columns = table.columns
    if table.named:
        at = next((at for at, (name, _) in enumerate(columns) if is_id(name) or not name), None)
        if at is None or len(columns) == 1:
            return columns, None
        order = order_of(columns[at][1], ids, n, strict=is_strict(columns[at][0]))
        return [*columns[:at], *columns[at + 1 :]], order
    if len(columns) not in (2, (classes.count or len(columns) - 1) + 1):
        return columns, None
    order = order_of(columns[0][1], ids, n, strict=False)
    if order is None or (len(columns) == 2 and not all(map(classes.is_class, columns[1][1]))):
        return columns, None
    if len(columns) == 2 and classes.count in (2, None) and n <= 2:
        raise Unusable('has two columns that may be ids and classes, or scores: add a header line, "id,prediction".')
    return columns[1:], order


def _chosen(columns: NamedColumns, n: int, classes: Classes, *, named: bool) -> list[Sequence[object]]:
    """Return one column of predictions, or a column of scores for each class, in the order of the classes."""
    if len(columns) == 1:
        return [columns[0][1]]
    if not named:
        return _unnamed(columns, classes)
    keys = [key(name) for name, _ in columns]
    for at, called in enumerate(keys):
        if called in _PREDICTIONS:
            return [columns[at][1]]
    if scores := _score_columns(columns, classes):
        return scores
    for names in (_SCORES, _LABELS):
        for at, called in enumerate(keys):
            if called in names:
                return [columns[at][1]]
    if len(columns) == classes.count and not all(isinstance(read_cell(cell), int) for _, c in columns for cell in c):
        return [column for _, column in columns]
    raise Unusable(f"has the columns {_names(dict(columns))}: call the one with your answers `prediction`.")


def _score_columns(columns: NamedColumns, classes: Classes) -> list[Sequence[object]]:
    """Return the columns named by class names, or by numbers that begin with 0 or 1."""
    by_name = {folded(name): column for name, column in columns}
    if classes.names and all(folded(name) in by_name for name in classes.names):
        return [by_name[folded(name)] for name in classes.names]
    numbered = {int(m[1]): column for name, column in columns if (m := _NUMBERED.fullmatch(key(name)))}
    first = min(numbered, default=0)
    right = len(numbered) == (classes.count or len(numbered)) > 1 and first in (0, 1)
    return [numbered[first + at] for at in range(len(numbered))] if right and _is_consecutive(sorted(numbered)) else []


def _unnamed(columns: NamedColumns, classes: Classes) -> list[Sequence[object]]:
    if classes.count is not None and len(columns) != classes.count:
        raise Unusable(
            f"has {len(columns)} columns without names; expected one of predictions, or {classes.count} of scores: "
            'add a header line, such as "id,prediction".'
        )
    pair = [[read_cell(cell) for cell in column] for _, column in columns] if len(columns) == 2 else []
    if (
        pair
        and all(type(cell) is int and cell in (0, 1) for column in pair for cell in column)
        and any(a == b for a, b in zip(*pair, strict=True))
    ):
        raise Unusable(
            'has two columns of classes, and no names that tell them apart: add a header line with "prediction".'
        )
    return [column for _, column in columns]


def _best_name(arrays: dict[str, Array]) -> str | None:
    for names in (_PREDICTIONS, _SCORES, _LABELS):
        found = [name for name in arrays if key(name) in names]
        if found:
            return found[0]
    return None


# --- from cells to numbers


def _labels(cells: Sequence[object], classes: Classes) -> Labels | Scores:
    values = [read_cell(cell) for cell in cells]
    if any(isinstance(value, list) for value in values):
        width = len(values[0]) if isinstance(values[0], list) else 1
        if not all(isinstance(value, list) and len(value) == width for value in values):
            raise Unusable("has lists of scores of different lengths: one score for each class in every row.")
        return _stacked([[value[at] for value in values] for at in range(width)], classes)
    return np.array([_at_row(at, cell, classes.number) for at, cell in enumerate(cells)], np.int64)


def _stacked(columns: Sequence[Sequence[object]], classes: Classes) -> Scores:
    if len(columns) != (classes.count or max(len(columns), 2)):
        raise Unusable(
            f"has {len(columns)} scores in a row; expected {classes.count or 'two or more'}, one for each class."
        )
    return np.array([[_at_row(at, cell, score) for at, cell in enumerate(c)] for c in columns], np.float64).T.copy()


def _at_row(at: int, cell: object, read: Callable[[object], _Read]) -> _Read:
    try:
        return read(cell)
    except Unusable as why:
        raise Unusable(f"in row {at + 1} {why}") from None


def _shaped(array: Array, n: int, classes: Classes) -> Array:
    """Return the array as (n,) or (n, C)."""
    if array.ndim == 2 and 1 in array.shape and n in array.shape:
        array = array.reshape(-1)
    wanted = f"({n},)" + (f" or ({n}, {classes.count})" if classes.count else f", or ({n}, classes) for scores")
    if array.ndim == 1 and len(array) != n:
        raise wrong_count(len(array), n)
    columns = array.shape[1] if array.ndim == 2 else 0
    if (
        array.ndim not in (1, 2)
        or len(array) != n
        or (array.ndim == 2 and columns != (classes.count or max(columns, 2)))
    ):
        swapped = " (rows and columns are swapped: transpose it)" if array.ndim == 2 and array.shape[1] == n else ""
        raise Unusable(f"holds an array of shape {show(array.shape)}; expected {wanted}{swapped}.")
    if array.dtype.kind not in ("biuf" if array.ndim == 2 else "biufUS"):
        raise Unusable(f"holds an array of type {array.dtype}; expected numbers.")
    return array


def _whole(array: Array, classes: Classes) -> Labels:
    """Return numbers of classes; the error names the first number that is not one."""
    most = classes.count or 1 << 62
    with np.errstate(invalid="ignore"):
        wrong = ~((array >= 0) & (array < most)) | (array != np.floor(array))
    if wrong.any():
        at = int(np.argmax(wrong))
        _at_row(at, array[at].item(), classes.number)
    return array.astype(np.int64)


def _finite(array: Scores) -> Scores:
    wrong = np.isnan(array)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise Unusable(f"in row {row + 1} holds NaN as the score of class {column}: a score must be a number.")
    return array


def _names(named: Mapping[str, object]) -> str:
    some = [show(name, 30) for name in list(named)[:5]]
    return ", ".join(some) + (f" and {len(named) - 5} more" if len(named) > 5 else "")


def _is_consecutive(numbers: list[int]) -> bool:
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))

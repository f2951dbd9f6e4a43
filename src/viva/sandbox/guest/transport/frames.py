"""Data frames and series as plain values: what crosses in place of an object of pandas.

Only the side that has an object of pandas, or is to get one, needs pandas. The examiner compares frames without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Hashable, Iterator, List, Optional, Tuple, Union

import numpy as np

from .wire_values import WireError, listed

if TYPE_CHECKING:
    from .wire_values import Array

    Column = Union[Array, List[Any]]

_MOST_EMPTY_ROWS = 100_000
"""The most rows of a frame with neither columns nor labels of rows."""
_LONGEST_TYPE = 100
"""The most letters of the name of a column's type."""
_AS_ARRAYS = "biufcmM"
"""The kinds of columns that stay arrays; all others become lists."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A data frame or a series: labels, and columns of plain values with equal lengths."""

    is_series: bool
    length: int
    """How many rows there are."""
    columns: List[Any]
    """The label of each column; the name of a series."""
    data: List[Column]
    """The columns: arrays, or lists in which None is a missing value."""
    types: List[str]
    """The name of each column's type in pandas, such as "category"."""
    index: Optional[Column] = None
    """The labels of the rows; None if they only count the rows from 0."""
    column_names: List[Any] = field(default_factory=list)
    """The names of the levels of the column labels."""
    index_names: List[Any] = field(default_factory=list)
    """The names of the levels of the row labels."""

    @property
    def shape(self) -> Tuple[int, ...]:
        """Return the number of rows and, of a data frame, of columns."""
        return (self.length,) if self.is_series else (self.length, len(self.columns))

    @property
    def row_labels(self) -> Column:
        """Return the labels of the rows, also if they only count the rows."""
        return list(range(self.length)) if self.index is None else self.index

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, label: Hashable) -> Column:
        """Return the first column with this label.

        Raises:
            KeyError: there is none.
        """
        if label not in self.columns:
            raise KeyError(label)
        return self.data[self.columns.index(label)]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.values(), dtype=dtype)

    def rows(self) -> Iterator[Tuple[Any, ...]]:
        """Yield the values of each row."""
        return zip(*self.data) if self.data else iter([()] * self.length)

    def values(self) -> List[Any]:
        """Return the values of a series, or the rows of a data frame as lists."""
        return list(self.data[0]) if self.is_series else [list(row) for row in self.rows()]

    def parts(self) -> List[Any]:
        """Return the fields in their order."""
        return [
            self.is_series, self.length, self.columns, self.data, self.types, self.index, self.column_names,
            self.index_names,
        ]  # fmt: skip

    def to_pandas(self) -> Any:
        """Make the data frame or series again, with the types that its columns had."""
        import pandas as pd

        columns = [_as_type(values, kind) for values, kind in zip(self.data, self.types)]
        if self.is_series:
            made = columns[0].rename(self.columns[0])
        else:
            made = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(self.length))
            made.columns = _index(self.columns, self.column_names)
        if self.index is not None:
            made.index = _index(self.index, self.index_names)
        elif len(self.index_names) == 1:
            made.index = pd.RangeIndex(self.length, name=self.index_names[0])
        return made


def of_data_frame(value: Any) -> Frame:
    """Take a data frame of pandas apart."""
    columns = [value.iloc[:, place] for place in range(value.shape[1])]
    return Frame(
        is_series=False,
        length=len(value),
        columns=[_label(label) for label in value.columns],
        data=[_column(column) for column in columns],
        types=[str(column.dtype) for column in columns],
        index=_row_labels(value.index),
        column_names=[_label(name) for name in value.columns.names],
        index_names=[_label(name) for name in value.index.names],
    )


def of_series(value: Any) -> Frame:
    """Take a series of pandas apart."""
    return Frame(
        is_series=True,
        length=len(value),
        columns=[_label(value.name)],
        data=[_column(value)],
        types=[str(value.dtype)],
        index=_row_labels(value.index),
        index_names=[_label(name) for name in value.index.names],
    )


def labels_of(index: Any) -> Column:
    """Return the labels of an index of pandas."""
    return [_label(label) for label in index] if index.nlevels > 1 else _column(index.to_series())


def unpacked(content: object) -> Frame:
    """Return the frame whose parts have crossed.

    Raises:
        WireError: they are not those of a frame.
    """
    frame = Frame(*listed(content, bool, int, list, list, list, None, list, list))
    count = len(frame.columns)
    if len(frame.data) != count or len(frame.types) != count or (frame.is_series and count != 1):
        raise WireError("a frame whose columns do not fit their labels")
    if not all(type(kind) is str and len(kind) <= _LONGEST_TYPE for kind in frame.types):
        raise WireError("a frame with a column of no valid type")
    for column in (*frame.data, *([] if frame.index is None else [frame.index])):
        is_line = type(column) is list or (type(column) is np.ndarray and column.ndim == 1)
        if not is_line or len(column) != frame.length:
            raise WireError("a frame with columns of different lengths")
    lines = len(frame.data) + (frame.index is not None)
    if frame.length < 0 or (not lines and frame.length > _MOST_EMPTY_ROWS):
        raise WireError("a frame of no valid length")
    labels = frame.index if type(frame.index) is list else []
    for label in (*frame.columns, *frame.column_names, *frame.index_names, *labels):
        hash(label)  # raises TypeError, which the decoder reports
    return frame


def _column(series: Any) -> Column:
    kind = series.dtype
    if isinstance(kind, np.dtype) and kind.kind in _AS_ARRAYS:
        found: Array = series.to_numpy(copy=True)
        return found
    return [None if missing else _label(item) for item, missing in zip(series.tolist(), series.isna().tolist())]


def _row_labels(index: Any) -> Optional[Column]:
    if not len(index):
        return None
    counts = index.nlevels == 1 and index.dtype.kind in "iu"
    return None if counts and np.array_equal(index.to_numpy(), np.arange(len(index))) else labels_of(index)


def _label(label: Any) -> Any:
    if type(label) is tuple:
        return tuple(map(_label, label))
    return label.item() if isinstance(label, np.generic) else label


def _index(labels: Column, names: List[Any]) -> Any:
    import pandas as pd

    if len(names) > 1:
        return pd.MultiIndex.from_tuples(labels, names=names)
    return pd.Index(labels, name=names[0] if names else None, tupleize_cols=False)


def _as_type(values: Column, kind: str) -> Any:
    import pandas as pd

    series = pd.Series(values, dtype=object if type(values) is list else None)
    zone = kind[:-1].partition(", ")[2] if kind.startswith("datetime64[") else ""
    if zone:
        return pd.to_datetime(series, utc=True).dt.tz_convert(zone)
    return series if str(series.dtype) == kind else series.astype(kind)

"""Stand-ins for `datasets.Dataset` and `DatasetDict`: what programs of this course may do with rows and columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

Columns = Mapping[str, Sequence[Any]]
Row = dict[str, Any]


class Split:
    """Rows of a data set, as columns of lists. Where the real data are longer, positions in them are scaled down."""

    def __init__(self, columns: Columns, real_rows: int = 0, tensors: Sequence[str] | None = None) -> None:
        self._columns = {name: list(values) for name, values in columns.items()}
        self._real_rows = real_rows
        self._tensors = tensors
        self.column_names = list(self._columns)

    @classmethod
    def from_dict(cls, columns: Columns) -> Split:
        """Return a data set of columns."""
        return cls(columns)

    @classmethod
    def from_list(cls, rows: Sequence[Row]) -> Split:
        """Return a data set of rows."""
        return cls({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values()), ()))

    @property
    def num_columns(self) -> int:
        """How many columns there are."""
        return len(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.num_rows, self.num_columns

    @property
    def features(self) -> dict[str, type]:
        """The columns, and what they hold."""
        return {name: type(values[0]) if values else str for name, values in self._columns.items()}

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[Row]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, wanted: Any) -> Any:
        if isinstance(wanted, str):
            return self._given({wanted: self._columns[wanted]})[wanted]
        if isinstance(wanted, (list, tuple, range)):
            return self._given(self.select(wanted)._columns)
        if isinstance(wanted, slice):
            wanted = slice(self._here(wanted.start), self._here(wanted.stop), wanted.step)
        return self._given({name: values[wanted] for name, values in self._columns.items()})

    def _given(self, values: Row) -> Row:
        """Turn columns into tensors that a program wants as tensors, and leave out those that it does not want."""
        if self._tensors is None:
            return values
        return {name: _tensor(value) for name, value in values.items() if name in self._tensors}

    def _here(self, position: int | None) -> Any:
        """Return a position in the real data, such as 8000, as one in these."""
        if position is None or abs(position) <= len(self) or not self._real_rows:
            return position
        return int(position * len(self) / self._real_rows)

    def _with(self, columns: Columns, real_rows: int = 0) -> Split:
        return Split(columns, real_rows, self._tensors)

    def _rows(self, kept: Iterable[int], real_rows: int = 0) -> Split:
        rows = list(kept)
        return self._with({name: [values[row] for row in rows] for name, values in self._columns.items()}, real_rows)

    def select(self, indices: Iterable[int], **_: Any) -> Split:
        """Some rows; those that only the real data have are left out."""
        if isinstance(indices, range) and indices.step == 1:
            indices = range(self._here(indices.start), self._here(indices.stop))
        return self._rows(index for index in map(int, indices) if index < len(self))

    def sort(self, column: str, reverse: bool = False, **_: Any) -> Split:
        """Return the rows in the order of a column."""
        values = self._columns[column]
        return self._rows(sorted(range(len(self)), key=values.__getitem__, reverse=reverse), self._real_rows)

    def iter(self, batch_size: int) -> Iterator[Row]:
        """Columns of so many rows at a time."""
        return (self[range(start, min(start + batch_size, len(self)))] for start in range(0, len(self), batch_size))

    def flatten_indices(self, **_: Any) -> Split:
        """Return the same rows; the package stores them in their order."""
        return self

    def to_pandas(self) -> Any:
        """Return the columns as a data frame."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def part(self, wanted: str) -> Split:
        """Return the rows that a name such as `train[:8000]` or `train[10%:]` has in its brackets."""
        first, last = map(self._row, wanted.strip("[] ").split(":"))
        return self._rows(range(len(self))[first:last])

    def _row(self, text: str) -> Any:
        if text.endswith("%"):
            return round(len(self) * int(text[:-1]) / 100)
        return self._here(int(text)) if text else None

    def take(self, count: int) -> Split:
        """Return the first rows."""
        return self.select(range(count))

    def skip(self, count: int) -> Split:
        """Return all but the first rows."""
        return self._rows(range(min(self._here(count), len(self)), len(self)))

    def shuffle(self, seed: int | None = None, **_: Any) -> Split:
        """Return the rows in another order."""
        return self._rows(_order(len(self), seed), self._real_rows)

    def train_test_split(
        self,
        test_size: float | None = None,
        train_size: float | None = None,
        shuffle: bool = True,
        seed: int | None = None,
        **_: Any,
    ) -> Splits:
        """Return the rows in two parts: a share is a float, a number of rows an int."""
        rows = len(self)
        if test_size is None:
            test_size = 0.25 if train_size is None else (rows if isinstance(train_size, int) else 1.0) - train_size
        here = test_size if isinstance(test_size, float) else max(1, self._here(int(test_size)))
        last = math.ceil(rows * here) if isinstance(here, float) else min(here, rows - 1)
        order = _order(rows, seed) if shuffle else list(range(rows))
        return Splits(train=self._rows(order[: rows - last]), test=self._rows(order[rows - last :]))

    def map(
        self,
        function: Callable[..., Any],
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int = 1000,
        remove_columns: str | Sequence[str] = (),
        fn_kwargs: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> Split:
        """Return the rows with what a function returns for each of them, or for each batch of them."""
        step = batch_size if batched else 1
        made: dict[str, list[Any]] = {}
        for start in range(0, len(self), step):
            rows = range(start, min(start + step, len(self)))
            batch = {name: [values[row] for row in rows] for name, values in self._columns.items()}
            asked: Row = batch if batched else {name: values[0] for name, values in batch.items()}
            indices = [list(rows) if batched else start] if with_indices else []
            found = function(*_arguments(asked, input_columns), *indices, **(fn_kwargs or {})) or {}
            for name in _listed(remove_columns):
                batch.pop(name)
            batch.update({name: list(values) if batched else [values] for name, values in dict(found).items()})
            for name, values in batch.items():
                made.setdefault(name, []).extend(values)
        return self._with(made, self._real_rows)

    def filter(
        self,
        function: Callable[..., Any],
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        **_: Any,
    ) -> Split:
        """Return the rows for which a function is true."""
        rows = [{name: values[row] for name, values in self._columns.items()} for row in range(len(self))]
        return self._rows(
            number
            for number, row in enumerate(rows)
            if function(*_arguments(row, input_columns), *([number] if with_indices else []))
        )

    def rename_column(self, old: str, new: str) -> Split:
        """Return a column under another name."""
        return self.rename_columns({old: new})

    def rename_columns(self, names: Mapping[str, str]) -> Split:
        """Columns under other names."""
        return self._with({names.get(name, name): values for name, values in self._columns.items()}, self._real_rows)

    def remove_columns(self, names: str | Sequence[str]) -> Split:
        """Return the other columns."""
        left = {name: values for name, values in self._columns.items() if name not in _listed(names)}
        return self._with(left, self._real_rows)

    def select_columns(self, names: str | Sequence[str]) -> Split:
        """These columns alone."""
        return self._with({name: self._columns[name] for name in _listed(names)}, self._real_rows)

    def add_column(self, name: str, column: Sequence[Any], **_: Any) -> Split:
        """One column more."""
        return self._with({**self._columns, name: column}, self._real_rows)

    def set_format(self, type: str | None = None, columns: Sequence[str] | None = None, **_: Any) -> None:
        """From now on, give tensors of these columns; without a type, lists of all."""
        self._tensors = (list(columns) if columns else self.column_names) if type == "torch" else None

    def with_format(self, type: str | None = None, columns: Sequence[str] | None = None, **_: Any) -> Split:
        """Return the same rows as `set_format` gives them."""
        made = self._rows(range(len(self)), self._real_rows)
        made.set_format(type, columns)
        return made

    def unique(self, column: str) -> list[Any]:
        """Return the different values of a column, in the order in which they come."""
        return list(dict.fromkeys(self._columns[column]))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns."""
        return {name: list(values) for name, values in self._columns.items()}

    def to_list(self) -> list[Row]:
        """Return the rows."""
        return [{name: values[row] for name, values in self._columns.items()} for row in range(len(self))]


class Splits(dict[str, Split]):
    """`DatasetDict`: splits by name. What is asked of it is asked of each split."""

    @property
    def num_rows(self) -> dict[str, int]:
        """How many rows each split has."""
        return {name: split.num_rows for name, split in self.items()}

    @property
    def column_names(self) -> dict[str, list[str]]:
        """The columns of each split."""
        return {name: split.column_names for name, split in self.items()}

    @property
    def shape(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each split."""
        return {name: split.shape for name, split in self.items()}

    def _each(self, method: str, *given: Any, **named: Any) -> Splits:
        return Splits({name: getattr(split, method)(*given, **named) for name, split in self.items()})

    def shuffle(self, seed: int | None = None, **_: Any) -> Splits:
        """Return each split in another order."""
        return self._each("shuffle", seed)

    def map(self, *given: Any, **named: Any) -> Splits:
        """`Split.map` of each."""
        return self._each("map", *given, **named)

    def filter(self, *given: Any, **named: Any) -> Splits:
        """`Split.filter` of each."""
        return self._each("filter", *given, **named)

    def rename_column(self, old: str, new: str) -> Splits:
        """`Split.rename_column` of each."""
        return self._each("rename_column", old, new)

    def remove_columns(self, names: str | Sequence[str]) -> Splits:
        """`Split.remove_columns` of each."""
        return self._each("remove_columns", names)

    def select_columns(self, names: str | Sequence[str]) -> Splits:
        """`Split.select_columns` of each."""
        return self._each("select_columns", names)

    def with_format(self, *given: Any, **named: Any) -> Splits:
        """`Split.with_format` of each."""
        return self._each("with_format", *given, **named)

    def set_format(self, *given: Any, **named: Any) -> None:
        """`Split.set_format` of each."""
        self._each("set_format", *given, **named)


def concatenated(splits: Sequence[Split], **_: Any) -> Split:
    """`concatenate_datasets`: the rows of several, which have the same columns."""
    rows = [row for split in splits for row in split.to_list()]
    return Split.from_list(rows)


def _order(rows: int, seed: int | None) -> list[int]:
    source = None if seed is None else torch.Generator().manual_seed(seed)
    order: list[int] = torch.randperm(rows, generator=source).tolist()
    return order


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _arguments(row: Row, columns: str | Sequence[str] | None) -> list[Any]:
    """Return what a function of rows is given: the row, or the columns that it names."""
    return [row] if columns is None else [row[name] for name in _listed(columns)]


def _tensor(value: Any) -> Any:
    """Numbers as a tensor; texts as they are."""
    first = value
    while isinstance(first, list) and first:
        first = first[0]
    return torch.tensor(value) if isinstance(first, (bool, int, float)) else value

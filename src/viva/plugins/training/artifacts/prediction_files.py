"""Predictions in the two forms that the author guide declares: a CSV table with a header, or arrays by name."""

import csv
import io
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from viva.compare.show import show
from viva.plugins.training.artifacts.array_files import NPY, ZIP, Array, UnusableFile, is_safetensors, read_arrays
from viva.submissions.decode_text import decode

Labels = NDArray[np.int64]
Scores = NDArray[np.float64]

MAX_COLUMNS: Final = 1024
MAX_LINES_PER_ROW: Final = 64
"""A quoted cell may span several lines."""
_SPARE_LINES: Final = 10_000
_ELEMENT_BYTES: Final = 16
_FORM: Final = 'a CSV file whose first line names the columns, "prediction" and, if you like, "id"'


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that a prediction may name."""

    count: int | None = None
    """None if the author does not say how many there are."""
    names: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """Return what is expected, in words: "a class from 0 to 4 or its name"."""
        if self.count is None:
            return "the number of a class, 0 or more"
        some = ", ".join(map(show, self.names[:6])) + (", …" if len(self.names) > 6 else "")
        return f"a class from 0 to {self.count - 1}" + (f" or its name ({some})" if self.names else "")

    def number(self, cell: object) -> int:
        """Return the class that a cell names, by its name or by its number.

        Raises:
            UnusableFile: it names no class.
        """
        folded = _folded(cell)
        for number, name in enumerate(self.names):
            if _folded(name) == folded:
                return number
        try:
            value = float(str(cell))
        except ValueError:
            value = -1.0
        if not value.is_integer() or not 0 <= value < (self.count or 1 << 53):
            raise UnusableFile(f"says {show(cell)}; expected {self.expected}.")
        return int(value)


def classes_of(classes: int | Sequence[str] | None) -> Classes:
    """Return the classes that the author states: how many there are, or their names in the order of their numbers.

    Raises:
        ValueError: fewer than two, or two of one name.
    """
    if classes is None:
        return Classes()
    found = Classes(classes) if isinstance(classes, int) else Classes(len(classes), tuple(classes))
    if found.count is None or found.count < 2 or len(set(map(_folded, found.names))) != len(found.names):
        raise ValueError(f"predictions(classes={classes!r}): expected two or more classes of different names.")
    return found


def read_predictions(data: bytes, n: int, classes: Classes, ids: Sequence[Hashable] | None = None) -> Labels | Scores:
    """Return the predictions in the bytes of a file; see `submitted_files.predictions`.

    Raises:
        UnusableFile: they cannot be used.
    """
    if data.startswith((NPY, ZIP, b"\x80")) or is_safetensors(data):
        return _from_arrays(read_arrays(data, _ELEMENT_BYTES * n * (classes.count or 1)), n, classes, ids)
    return _from_table(_read_table(data, n), classes, ids)


def _from_arrays(
    arrays: Mapping[str, Array], n: int, classes: Classes, ids: Sequence[Hashable] | None
) -> Labels | Scores:
    array = _array_of_predictions({name: array for name, array in arrays.items() if name != "id"})
    if array.size == n:  # one row or one column
        array = array.reshape(n)
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    shapes = f"({n},) or ({n}, {classes.count or 'classes'})"
    is_scores = array.ndim == 2 and array.shape[1] == (classes.count or max(array.shape[1], 2))
    if array.ndim not in (1, 2) or len(array) != n or (array.ndim == 2 and not is_scores):
        raise UnusableFile(f"holds an array of shape {show(array.shape)}; expected {shapes}.")
    if array.dtype.kind not in ("iuf" if is_scores else "iufU"):
        raise UnusableFile(f"holds an array of type {array.dtype}; expected numbers.")
    read: Labels | Scores = _finite(array.astype(np.float64)) if is_scores else _labels(array.tolist(), classes)
    if "id" not in arrays:
        return read
    return read[_order(arrays["id"].ravel().tolist(), ids, n)]


def _array_of_predictions(arrays: Mapping[str, Array]) -> Array:
    for name in ("predictions", "prediction"):
        if name in arrays:
            return arrays[name]
    if len(arrays) != 1:
        there = ", ".join(show(name) for name in list(arrays)[:4])
        raise UnusableFile(f"holds the arrays {there}: call the one with your answers `predictions`.")
    return next(iter(arrays.values()))


def _from_table(table: Mapping[str, list[str]], classes: Classes, ids: Sequence[Hashable] | None) -> Labels | Scores:
    named = list(classes.names) or [str(number) for number in range(classes.count or 0)]
    columns = [table.get(_folded(name)) for name in named]
    if "prediction" in table:
        read: Labels | Scores = _labels(table["prediction"], classes)
    elif columns and None not in columns:
        read = _finite(np.array([[_score(cell) for cell in column or ()] for column in columns], np.float64).T)
    else:
        raise UnusableFile(f"has the columns {', '.join(map(show, list(table)[:5]))}; expected {_FORM}.")
    return read if "id" not in table else read[_order(table["id"], ids, len(read))]


def _read_table(data: bytes, n: int) -> dict[str, list[str]]:
    """Return the columns of a CSV file by name; one column without a header is called `prediction`."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(_bounded_lines(decode(data), n), skipinitialspace=True):
            rows += [row] if any(cell.strip() for cell in row) else []
            if len(rows) > n + 1:
                raise UnusableFile(f"holds more than {n:,} predictions; expected one for each row, in their order.")
    except csv.Error as error:
        raise UnusableFile(f"cannot be read ({error}); expected {_FORM}.") from None
    if not rows:
        raise UnusableFile("is empty: save it again, and submit it.")
    has_header = len(rows) == n + 1
    if not has_header and (len(rows) != n or len(rows[0]) != 1):
        raise UnusableFile(f"holds {len(rows) - 1:,} rows below its first line; expected {n:,}, in {_FORM}.")
    names = [_folded(name) for name in rows[0]] if has_header else ["prediction"]
    rows = rows[has_header:]
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise UnusableFile(f"has {len(row)} columns in row {number}; expected {len(names)}, as in its first line.")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _bounded_lines(text: str, n: int) -> Iterator[str]:
    """Yield the lines; very many cells or lines would take far more memory and time than a right file."""
    if "\0" in text or text.count("\n") > MAX_LINES_PER_ROW * n + _SPARE_LINES:
        raise UnusableFile(f"holds zero bytes, or far more than predictions for {n:,} rows; expected {_FORM}.")
    for line in io.StringIO(text, newline=None):
        if line.count(",") > MAX_COLUMNS:
            raise UnusableFile(f"has a line of more than {MAX_COLUMNS:,} columns: submit the predictions alone.")
        yield line


def _labels(cells: Sequence[object], classes: Classes) -> Labels:
    known: dict[object, int] = {}
    labels = np.empty(len(cells), np.int64)
    for at, cell in enumerate(cells):
        if cell not in known:
            try:
                known[cell] = classes.number(cell)
            except UnusableFile as why:
                raise UnusableFile(f"in row {at + 1} {why}") from None
        labels[at] = known[cell]
    return labels


def _score(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise UnusableFile(f"says {show(cell)}; expected a score, a number.") from None


def _finite(scores: Scores) -> Scores:
    if np.isnan(scores).any():
        row, column = np.argwhere(np.isnan(scores))[0]
        raise UnusableFile(f"in row {row + 1} holds NaN as the score of class {column}: a score must be a number.")
    return scores


def _order(cells: Sequence[object], ids: Sequence[Hashable] | None, n: int) -> list[int]:
    """Return the position of each row in the file: by the author's ids, or else by 0 … n−1 or 1 … n."""
    places = {_folded(cell): at for at, cell in enumerate(cells)}
    first = 0 if "0" in places else 1
    wanted = [_folded(one) for one in (range(first, first + n) if ids is None else ids)]
    missing = [one for one in wanted if one not in places]
    if missing:
        raise UnusableFile(f"has no row with the id {show(missing[0])}, and {len(missing):,} of {n:,} ids are missing.")
    return [places[one] for one in wanted]


def _folded(cell: object) -> str:
    """Return a cell without what does not distinguish names and ids: case, white space around it, `.0`."""
    return str(cell)[:1000].strip().casefold().removesuffix(".0")

"""A training log in its declared form: a list of rows, or CSV with the same names in its first line."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Final

from viva.compare.answers.number import read_number
from viva.compare.answers.unreadable import Unreadable

MAX_ROWS: Final = 20_000
_MAX_TEXT: Final = 1 << 20
_MAX_CELLS: Final = 100
_SPLITS: Final = ("train", "dev", "test")


@dataclass(slots=True)
class LogRow:
    """One row: an epoch, or some steps of one."""

    epoch: Fraction | None = None
    step: Fraction | None = None
    lr: Fraction | None = None
    loss: Fraction | None = None
    """The training loss."""
    no_number: str = ""
    """ "nan" or "inf" where the loss is that."""
    accuracies: dict[str, Fraction] = field(default_factory=dict)
    """By split: "train", "dev" and "test"; between 0 and 1."""

    @property
    def has_measure(self) -> bool:
        """Return whether the row says more than which epoch and step it is."""
        return self.lr is not None or self.loss is not None or bool(self.no_number or self.accuracies)


def read_log(log: object) -> list[LogRow]:
    """Return the rows of a log, in order; what cannot be read is left out, and nothing raises.

        read_log([{"epoch": 1, "lr": 1e-4, "loss": 0.65, "dev": 0.6624}, {"epoch": 2, "loss": 0.58, "dev": 0.7049}])

    Args:
        log: a list of mappings with the keys epoch, step, lr, loss (of training), and the accuracies train, dev and
            test; or a CSV text with these names in its first line.
    """
    rows = [_read_row(cells) for cells in islice(_cells(log), MAX_ROWS)]
    return [row for row in rows if row != LogRow()]


def _cells(log: object) -> Iterator[Mapping[object, object]]:
    if isinstance(log, str):
        yield from _csv_rows(log[:_MAX_TEXT].splitlines())
    elif isinstance(log, Sequence) and not isinstance(log, bytes):
        yield from (row for row in log if isinstance(row, Mapping))


def _csv_rows(lines: list[str]) -> Iterator[Mapping[object, object]]:
    rows = csv.reader(lines, skipinitialspace=True)
    try:
        names = next(rows, [])[:_MAX_CELLS]
        for row in rows:
            yield dict(zip(names, row, strict=False))
    except csv.Error:
        return


def _read_row(cells: Mapping[object, object]) -> LogRow:
    named = {name.strip().lower(): value for name, value in islice(cells.items(), _MAX_CELLS) if isinstance(name, str)}
    row = LogRow(epoch=_read(named.get("epoch")), step=_read(named.get("step")), lr=_read(named.get("lr")))
    row.loss = _read(named.get("loss"))
    if row.loss is None:
        row.no_number = _read_no_number(named.get("loss"))
    for split in _SPLITS:
        accuracy = _read(named.get(split))
        if accuracy is not None and accuracy > 1:
            accuracy /= 100
        if accuracy is not None and 0 <= accuracy <= 1:
            row.accuracies[split] = accuracy
    return row


def _read(value: object) -> Fraction | None:
    try:
        return read_number(value)[0]
    except Unreadable:
        return None


def _read_no_number(value: object) -> str:
    """Return "nan" or "inf" if the value is one of these; else an empty string."""
    try:
        number = float(value) if isinstance(value, int | float | str) else 0.0
    except (ValueError, OverflowError):
        return ""
    if math.isfinite(number):
        return ""
    return str(number).lstrip("-")

"""A training log as rows, from any form in use: printed lines, CSV, JSON, lists of mappings, columns."""

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Final

from viva.formats.csv_delimiter import delimiter_of_table

MOST_TEXT: Final = 1 << 20
MOST_ROWS: Final = 20_000
_MOST_LINE: Final = 4000
_MOST_JSON_PARTS: Final = 200_000
_MOST_WORDS: Final = 4
_TOKEN: Final = re.compile(
    r"(?P<number>(?<![A-Za-z])[-+]?(?:nan|inf(?:inity)?)(?![A-Za-z])"
    r"|[-+]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?)|(?P<word>[A-Za-z]+)",
    re.IGNORECASE,
)
_MEASURES: Final = {
    **dict.fromkeys(("loss", "nll", "losses"), "loss"),
    **dict.fromkeys(("acc", "accuracy", "accuracies"), "accuracy"),
    **dict.fromkeys(("lr", "rate"), "lr"),
    **dict.fromkeys(("epoch", "epochs", "ep"), "epoch"),
    **dict.fromkeys(("step", "steps", "iteration", "iter", "batch"), "step"),
}
_SPLITS: Final = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "val", "valid", "validation", "eval", "evaluation", "development"), "dev"),
    "test": "test",
}
_OTHER: Final = {"size", "per", "time", "seconds"}
"""A batch size is not a step, and steps per second are not steps."""

_NamedValues = list[tuple[list[str], object]]
"""One row: the words that name each value, and the value."""


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
    """By split: "train", "dev", "test", or "" where none is given; between 0 and 1."""

    @property
    def measures(self) -> set[str]:
        """Return what the row says, by name, without the epoch and the step."""
        said = {f"accuracy {split}" for split in self.accuracies}
        return said | {name for name in ("loss", "lr") if getattr(self, name) is not None}


def read_log(log: object) -> list[LogRow]:
    """Return the rows of a log, in order; what cannot be read is left out, and nothing raises.

    Args:
        log: printed lines ("Epoch 3/7: loss 0.61, val_acc 70.5 %"), CSV with a header, JSON, a list of mappings or of
            lines, or a mapping of columns, with the usual names.
    """
    rows: list[LogRow] = []
    for pairs in islice(_pairs(log), MOST_ROWS):
        if any({"train", "runtime"} <= set(words) for words, _ in pairs):
            continue  # the summary that transformers' Trainer writes after the last epoch
        row = LogRow()
        for words, value in pairs:
            _put(row, words, value)
        _add(rows, row)
    return rows


def _add(rows: list[LogRow], row: LogRow) -> None:
    """Add a row; several lines about one epoch that say different things become one row."""
    if row == LogRow():
        return
    if rows:
        last = rows[-1]
        goes_on = row.epoch in (None, last.epoch) and row.step in (None, last.step)
        if goes_on and not row.measures & last.measures and not (row.no_number and last.loss is not None):
            last.lr, last.loss = (a if a is not None else b for a, b in ((last.lr, row.lr), (last.loss, row.loss)))
            last.no_number = last.no_number or row.no_number
            last.accuracies.update(row.accuracies)
            return
    rows.append(row)


def _pairs(log: object) -> Iterator[_NamedValues]:
    """Yield for each row its names as lists of words, with their values."""
    if isinstance(log, str):
        yield from _from_text(log[:MOST_TEXT])
    elif isinstance(log, Mapping):
        columns = {name: list(cells) for name, cells in log.items() if isinstance(cells, list | tuple)}
        if not columns:
            yield _named(log)
        for at in range(min(MOST_ROWS, max(map(len, columns.values()), default=0))):
            yield _named({name: cells[at] for name, cells in columns.items() if at < len(cells)})
    elif isinstance(log, Sequence) and not isinstance(log, bytes):
        for row in islice(log, MOST_ROWS):
            if isinstance(row, Mapping):
                yield _named(row)
            elif isinstance(row, str):
                yield _in_line(row)


def _named(row: Mapping[object, object]) -> _NamedValues:
    return [(_words(name), value) for name, value in islice(row.items(), 100) if isinstance(name, str)]


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Za-z]+", name[:100])]


def _from_text(text: str) -> Iterator[_NamedValues]:
    if text.lstrip()[:1] in ("[", "{") and sum(map(text.count, "[{,")) < _MOST_JSON_PARTS:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass  # lines of dicts as Python prints them, among others
        else:
            found = value.get("log_history", value) if isinstance(value, dict) else value
            yield from () if isinstance(found, str) else _pairs(found)
            return
    lines = [line[:_MOST_LINE] for line in islice(text.splitlines(), MOST_ROWS) if line.strip()]
    yield from _table(lines) or map(_in_line, lines)


def _table(lines: list[str]) -> list[_NamedValues]:
    """Return the rows of a CSV file; none if the first line does not name columns."""
    delimiter = delimiter_of_table(lines[0]) if lines else None
    if delimiter is None or len(lines) < 2:
        return []
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return []
    names = [_words(cell) for cell in rows[0]]
    known = [words for words in names if _known(words)]
    if len(known) < 2 or any(map(_in_line, rows[0])) or len(rows[1]) != len(names):
        return []
    return [list(zip(names, row, strict=False)) for row in rows[1:]]


def _in_line(line: str) -> _NamedValues:
    """Return the names and numbers of a printed line: the words before a number name it."""
    found: _NamedValues = []
    words: list[str] = []
    for token in _TOKEN.finditer(line[:_MOST_LINE]):
        if word := token["word"]:
            words = [*words[1 - _MOST_WORDS :], word.lower()]
        else:
            is_share = "." in token["number"] and words and words[-1] in _SPLITS  # "test 0.7" is one, "Test 1" is not
            if is_share or "runtime" in words or not _MEASURES.keys().isdisjoint(words):
                found.append((words, token["number"]))
            words = []
    return found


def _known(words: list[str]) -> tuple[str, str] | None:
    """Return what a name means, and of which split it is; the last word has priority."""
    if _OTHER.intersection(words) or ("rate" in words and "learning" not in words):
        return None
    split = next((_SPLITS[word] for word in reversed(words) if word in _SPLITS), "")
    measure = next((_MEASURES[word] for word in reversed(words) if word in _MEASURES), "")
    if measure:
        return measure, split
    return ("accuracy", split) if words and words[-1] in _SPLITS else None


def _put(row: LogRow, words: list[str], value: object) -> None:
    known = _known(words)
    if known is None:
        return
    measure, split = known
    number = _number(value)
    if measure == "loss":
        if split not in ("", "train"):
            return
        if isinstance(number, float):
            row.no_number = row.no_number or str(number).lstrip("-")
        elif row.loss is None:
            row.loss = number
    elif not isinstance(number, Fraction):
        return
    elif measure == "accuracy":
        share = number / 100 if number > 1 else number
        if 0 <= share <= 1:
            row.accuracies.setdefault(split, share)
    elif getattr(row, measure) is None:
        setattr(row, measure, number)


def _number(value: object) -> Fraction | float | None:
    """Return an exact number; NaN or an infinity as a float; None for anything else."""
    text = repr(float(value)) if isinstance(value, float) else value
    if isinstance(text, int) and not isinstance(text, bool):
        return Fraction(text) if abs(text) < 1 << 62 else None
    if not isinstance(text, str) or len(text) > 100:
        return None
    match = _TOKEN.fullmatch(text.strip().rstrip("%").strip())
    if match is None or not match["number"]:
        return None
    number = float(match["number"])
    return Fraction(match["number"]) if math.isfinite(number) and "n" not in match["number"].lower() else number

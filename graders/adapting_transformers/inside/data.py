"""What stands for `evaluate` and `datasets`: accuracy, and rows of yes/no questions in place of BoolQ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from .hub import WORDS

ROWS = {"train": (40, 9427), "validation": (12, 3270)}
"""How many stand for BoolQ, and how many BoolQ has."""

QUESTION = 5
"""How many words a question has."""


class Accuracy:
    """`evaluate.load("accuracy")`: the share of predictions that equal their references."""

    def __init__(self) -> None:
        self._right = self._rows = 0

    def add_batch(self, *, predictions: Any, references: Any, **_: Any) -> None:
        """Count a batch."""
        found, wanted = torch.as_tensor(predictions), torch.as_tensor(references)
        if found.shape != wanted.shape:
            raise ValueError(f"{tuple(found.shape)} predictions for {tuple(wanted.shape)} references")
        self._right += int((found.cpu() == wanted.cpu()).sum())
        self._rows += found.numel()

    def add(
        self, *, prediction: Any = None, reference: Any = None, predictions: Any = None, references: Any = None
    ) -> None:
        """Count one row."""
        found = prediction if predictions is None else predictions
        wanted = reference if references is None else references
        self.add_batch(predictions=[int(found)], references=[int(wanted)])

    def compute(self, *, predictions: Any = None, references: Any = None, **_: Any) -> dict[str, float]:
        """What was counted, which is forgotten then."""
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        right, rows = self._right, self._rows
        self._right = self._rows = 0
        return {"accuracy": right / rows if rows else 0.0}


def load_metric(path: str, *_names: Any, **_given: Any) -> Accuracy:
    """`evaluate.load`."""
    if path != "accuracy":
        raise ValueError(f"{path!r} is not here; evaluate.load('accuracy') is")
    return Accuracy()


class Split:
    """Rows of a data set, as columns of lists. Where the real data are longer, positions in them are scaled down."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], real_rows: int = 0) -> None:
        self._columns = {name: list(values) for name, values in columns.items()}
        self._real_rows = real_rows
        self.column_names = list(self._columns)

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return len(self._columns[self.column_names[0]])

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, wanted: Any) -> Any:
        if isinstance(wanted, str):
            return self._columns[wanted]
        if isinstance(wanted, (list, tuple, range)):
            return self.select(wanted)._columns
        if isinstance(wanted, slice):
            wanted = slice(self._here(wanted.start), self._here(wanted.stop), wanted.step)
        return {name: values[wanted] for name, values in self._columns.items()}

    def _here(self, position: int | None) -> Any:
        """A position in the real data, such as 8000, as one in these."""
        if position is None or abs(position) <= len(self) or not self._real_rows:
            return position
        return int(position * len(self) / self._real_rows)

    def select(self, indices: Iterable[int]) -> Split:
        """Some rows; those that only the real data have are left out."""
        if isinstance(indices, range) and indices.step == 1:
            indices = range(self._here(indices.start), self._here(indices.stop))
        kept = [index for index in map(int, indices) if index < len(self)]
        return Split({name: [values[index] for index in kept] for name, values in self._columns.items()})

    def shuffle(self, seed: int | None = None, **_: Any) -> Split:
        """The rows in another order."""
        source = None if seed is None else torch.Generator().manual_seed(seed)
        order = torch.randperm(len(self), generator=source).tolist()
        return Split({name: [values[row] for row in order] for name, values in self._columns.items()}, self._real_rows)

    def train_test_split(self, test_size: float = 0.25, **_: Any) -> dict[str, Split]:
        """The rows in two parts."""
        last = max(1, int(len(self) * test_size)) if test_size < 1 else min(int(test_size), len(self) - 1)
        return Splits(train=self.select(range(len(self) - last)), test=self.select(range(len(self) - last, len(self))))


class Splits(dict):  # type: ignore[type-arg]
    """`DatasetDict`: splits by name."""

    def shuffle(self, seed: int | None = None, **_: Any) -> Splits:
        """Each split in another order."""
        return Splits({name: split.shuffle(seed) for name, split in self.items()})


def load_dataset(*_names: Any, split: Any = None, **_given: Any) -> Any:
    """Yes/no questions that word one of the passage answers: enough to see a program run."""
    source = torch.Generator().manual_seed(0)

    def column(rows: int, length: int) -> list[str]:
        drawn = torch.randint(len(WORDS), (rows, length), generator=source).tolist()
        return [" ".join(WORDS[word] for word in row) for row in drawn]

    splits = Splits()
    for name, (rows, real_rows) in ROWS.items():
        passages, questions = column(rows, 12), column(rows, QUESTION)
        answers = [is_true(passage) for passage in passages]
        splits[name] = Split({"question": questions, "answer": answers, "passage": passages}, real_rows)
    return splits[str(split).partition("[")[0]] if split in splits or "[" in str(split) else splits


def is_true(passage: str) -> bool:
    """The answer to any question about a passage: its first word tells."""
    return passage < "i"


def sizes() -> dict[str, int]:
    """How many rows the stand-in has, by split."""
    return {name: rows for name, (rows, _) in ROWS.items()}

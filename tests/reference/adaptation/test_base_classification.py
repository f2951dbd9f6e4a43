"""reference/adaptation/base_classification.py as a program: which rows go where, on data of BoolQ's real size."""

import sys
import types
from typing import Any

import pytest
import torch
import transformers

from reference.adaptation import base_classification
from reference.adaptation.base_classification import pre_process

TRAIN, VALIDATION = 9427, 3270


class Column(dict[str, list[Any]]):
    """Rows; the number of each is its whole text."""

    def __init__(self, numbers: list[int]) -> None:
        super().__init__(passage=[str(n) for n in numbers], question=[""] * len(numbers), answer=[True] * len(numbers))
        self.numbers = numbers

    def __getitem__(self, wanted: Any) -> Any:
        return super().__getitem__(wanted) if isinstance(wanted, str) else Column(self.numbers[wanted])

    def shuffle(self, seed: int) -> "Column":
        order = torch.randperm(len(self.numbers), generator=torch.Generator().manual_seed(seed)).tolist()
        return Column([self.numbers[i] for i in order])


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data, a tokenizer that reads numbers, and a model of one layer, under any name."""
    boolq = {"train": Column(list(range(TRAIN))), "validation": Column(list(range(TRAIN, TRAIN + VALIDATION)))}
    monkeypatch.setitem(sys.modules, "datasets", types.SimpleNamespace(load_dataset=lambda _name: boolq))

    def tokenize(_question: str, passage: str, **_: Any) -> dict[str, torch.Tensor]:
        ids = torch.tensor([[int(passage)]])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    class Parity(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = torch.nn.Parameter(torch.zeros(2))

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"logits": self.bias.expand(len(input_ids), 2)}

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda _name: tokenize)
    monkeypatch.setattr(
        transformers.AutoModelForSequenceClassification, "from_pretrained", lambda _name, num_labels: Parity()
    )


def numbers(loader: Any) -> list[int]:
    return [int(n) for batch in loader for n in batch["input_ids"].flatten()]


def test_splits_have_the_rows_of_boolq() -> None:
    _, *loaders = pre_process("any", 500, "cpu", False)
    train, dev, test = (numbers(loader) for loader in loaders)
    assert (len(train), len(dev), len(test)) == (8000, VALIDATION, TRAIN - 8000)
    assert sorted(train + test) == list(range(TRAIN)) and dev == list(range(TRAIN, TRAIN + VALIDATION))
    assert train != sorted(train)


def test_splits_are_seeded() -> None:
    once, again = (numbers(pre_process("any", 500, "cpu", False)[3]) for _ in range(2))
    assert once == again


def test_small_subset() -> None:
    _, *loaders = pre_process("any", 4, "cpu", True)
    assert len({tuple(numbers(loader)) for loader in loaders}) == 1 and len(numbers(loaders[0])) == 10


@pytest.mark.long
def test_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """60 steps on rows that are all True: at the end the model says so."""
    options = "--small_subset --num_epochs 60 --lr 0.1 --batch_size 64 --device cpu"
    monkeypatch.setattr(sys, "argv", ["base_classification.py", *options.split()])
    base_classification.main()
    assert "{'accuracy': 1.0}" in capsys.readouterr().out

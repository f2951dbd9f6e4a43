"""Fine-tuning a classifier on yes/no questions: Devlin et al. (2019), "BERT", section 4.1; Clark et al. (2019), BoolQ.

    input   [CLS] question [SEP] passage [SEP], the passage cut to what fits        loss   cross entropy of two logits

AdamW (Loshchilov and Hutter, 2019); the learning rate rises linearly over 50 steps, then falls linearly to 0.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import torch
from torch import Tensor, nn

WARM_UP: Final = 50
"""Steps until the learning rate has its full size. The first step has rate 0."""

TRAIN_ROWS: Final = 8000
"""The rows of BoolQ's 9,427 that train; the others are the test data, because BoolQ's own answers are not public."""
SMALL, MAX_LEN = 10, 128

Batch = Mapping[str, Tensor]


class Loader(Protocol):
    """Batches, and how many there are."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Any: ...


class BoolQADataset(torch.utils.data.Dataset[dict[str, Tensor]]):
    """Questions with their passages, encoded to a fixed length."""

    def __init__(
        self,
        passages: Sequence[str],
        questions: Sequence[str],
        answers: Sequence[bool],
        tokenizer: Callable[..., Any],
        max_len: int,
    ) -> None:
        self.rows = list(zip(questions, passages, answers, strict=True))
        self.tokenizer = tokenizer
        self.max_len = max_len

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        """Return input_ids (max_len,), attention_mask (max_len,) and labels (), 1 for True."""
        question, passage, answer = self.rows[index]
        encoded = self.tokenizer(
            question,
            str(passage),
            max_length=self.max_len,
            padding="max_length",
            truncation="only_second",
            return_tensors="pt",
        )
        return {
            "input_ids": encoded["input_ids"][0],
            "attention_mask": encoded["attention_mask"][0],
            "labels": torch.tensor(int(answer)),
        }


def evaluate_model(model: nn.Module, dataloader: Iterable[Batch], device: str) -> dict[str, float]:
    """Return the share of all rows whose larger logit is that of their label."""
    model.eval()
    right = rows = 0
    with torch.no_grad():
        for batch in dataloader:
            predicted = logits_of(model, batch, device).argmax(dim=1)  # (batch,)
            right += int((predicted == batch["labels"].to(device)).sum())
            rows += len(predicted)
    return {"accuracy": right / rows}


def train(
    mymodel: nn.Module,
    num_epochs: int,
    train_dataloader: Loader,
    validation_dataloader: Loader,
    test_dataloder: Loader,
    device: str,
    lr: float,
    small_subset: bool = False,
) -> None:
    """Train every parameter in place, and print the accuracies after each epoch."""
    fit(mymodel, list(mymodel.parameters()), num_epochs, train_dataloader, device, lr)
    for name, loader in {"validation": validation_dataloader, "test": test_dataloder}.items():
        print(name, evaluate_model(mymodel, loader, device))


def fit(model: nn.Module, trained: Sequence[nn.Parameter], epochs: int, loader: Loader, device: str, lr: float) -> None:
    """Train some of the parameters with AdamW; the others stay as they are."""
    optimizer = torch.optim.AdamW(trained, lr=lr)
    total = len(loader) * epochs

    def share(step: int) -> float:
        if step < WARM_UP:
            return step / WARM_UP
        return (total - step) / max(1, total - WARM_UP)

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    for _ in range(epochs):
        model.train()
        for batch in loader:
            loss = nn.functional.cross_entropy(logits_of(model, batch, device), batch["labels"].to(device))
            model.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            scheduler.step()


def logits_of(model: nn.Module, batch: Batch, device: str) -> Tensor:
    """Return the model's scores (batch, class)."""
    logits: Tensor = model(input_ids=batch["input_ids"].to(device), attention_mask=batch["attention_mask"].to(device))[
        "logits"
    ]
    return logits


def pre_process(
    model_name: str, batch_size: int, device: str, small_subset: bool
) -> tuple[nn.Module, Loader, Loader, Loader]:
    """Return a pretrained classifier and loaders of training, dev and test data, or of ten rows three times."""
    from datasets import load_dataset
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    dataset = load_dataset("boolq")
    train = dataset["train"].shuffle(seed=0)  # seeded, so that the test data are the same in every run
    whole = (train[:TRAIN_ROWS], dataset["validation"][:], train[TRAIN_ROWS:])
    parts = [train[:SMALL]] * 3 if small_subset else whole
    tokenizer = AutoTokenizer.from_pretrained(model_name)
    rows = [BoolQADataset(part["passage"], part["question"], part["answer"], tokenizer, MAX_LEN) for part in parts]
    first, second, third = (torch.utils.data.DataLoader(part, batch_size=batch_size) for part in rows)
    model: nn.Module = AutoModelForSequenceClassification.from_pretrained(model_name, num_labels=2)
    return model.to(device), first, second, third


def main() -> None:
    """Run the course's command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small_subset", action="store_true")
    parser.add_argument("--num_epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--model", default="distilbert-base-uncased")
    options = parser.parse_args()
    small: bool = options.small_subset
    model, first, second, third = pre_process(options.model, options.batch_size, options.device, small)
    train(model, options.num_epochs, first, second, third, options.device, options.lr, small)


if __name__ == "__main__":
    main()

"""Whole programs, from the data to what they print."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from torch.optim.optimizer import register_optimizer_step_pre_hook
from transformers.models.bert.modeling_bert import BertForSequenceClassification

from .data import QUESTION, is_true, sizes
from .hub import SPECIAL, WORDS, Hub
from .models import logits_of, names_of
from .pictures import no_pictures
from .trainings import counted_steps


def loaded(pre_process: Callable[..., Any], small_subset: bool, kind: str | None = None) -> Any:
    """The rows of the loaders that the student's `pre_process` makes, as texts of ids; and what its model answers.

    Returns:
        "rows": for training, dev and test data, one text for each row; "scores": the shape of the logits of a batch;
        "type": what the model says it is, None if it was not asked; "of_the_library": whether it is not the student's
        own; "mislabelled": how many rows have another label than their passage in the stand-in for BoolQ; "first": how
        many rows the first batch of each loader has; "names": what the hub was asked for; "train", "validation": how
        many rows these have in all.
    """
    Hub.asked.clear()
    takes_kind = kind is not None and len(names_of(pre_process)) > 4
    model, *loaders = pre_process("tiny", 4, "cpu", small_subset, *([kind] if takes_kind else []))
    names = sorted(Hub.asked)
    batches = [list(loader) for loader in loaders]
    pairs = [
        [pair for batch in part for pair in zip(batch["input_ids"].tolist(), batch["labels"].tolist())]  # noqa: B905
        for part in batches
    ]
    rows = [[" ".join(map(str, ids)) for ids, _ in part] for part in pairs]
    wrong = sum(label != answer_of(ids, label) for part in pairs for ids, label in part)
    first = [len(part[0]["labels"]) for part in batches]
    scores = logits_of(model, next(iter(loaders[1])))
    made = getattr(model, "type", None) if takes_kind else None
    of_the_library = isinstance(model, BertForSequenceClassification)
    found = {"rows": rows, "scores": tuple(scores.shape), "type": made, "of_the_library": of_the_library}
    return {**found, "mislabelled": wrong, "first": first, "names": names, **sizes()}


def answer_of(ids: Sequence[int], otherwise: int) -> int:
    """The answer that the stand-in for BoolQ gives to the passage in a row; `otherwise` if it has another form."""
    separator = SPECIAL.index("[SEP]")
    words = ids[ids.index(separator) + 1 :] if separator in ids else ()
    if not words or ids.index(separator) != 1 + QUESTION or not len(SPECIAL) <= words[0] < len(SPECIAL) + len(WORDS):
        return otherwise
    return int(is_true(WORDS[words[0] - len(SPECIAL)]))


def started(path: str, source: str, arguments: Sequence[str]) -> Any:
    """Run the text of a submitted file as a program, in this process, which has the stand-ins.

    Returns:
        "rates": the learning rates that optimizers took steps with, before any schedule; "steps": how many steps each
        of them took; "names": what the hub was asked for; "encoder": whether a step moved the encoder; "own": the
        sizes of the other parameters that were moved.
    """
    rates: set[float] = set()
    moved: dict[int, Any] = {}
    Hub.asked.clear()

    def stepping(optimizer: Any, *_: Any) -> None:
        for group in optimizer.param_groups:
            rates.add(float(group.get("initial_lr", group["lr"])))
            moved.update({id(p): p for p in group["params"] if p.grad is not None})

    handle = register_optimizer_step_pre_hook(stepping)
    program = types.ModuleType("__main__")
    program.__file__ = path
    before, sys.argv = (sys.argv, sys.modules["__main__"]), [path, *arguments]
    sys.modules["__main__"] = program
    try:
        with no_pictures(), counted_steps(()) as counts:
            exec(compile(source, path, "exec", dont_inherit=True), vars(program))  # what the box is for
    finally:
        handle.remove()
        sys.argv, sys.modules["__main__"] = before
    return {
        "rates": sorted(rates),
        "steps": list(counts.values()),
        "names": sorted(Hub.asked),
        "encoder": any(key in Hub.base for key in moved),
        "own": [p.numel() for key, p in moved.items() if key not in Hub.base],
    }


def in_one_go(pre_process: Callable[..., Any], train: Callable[..., Any], evaluate_model: Callable[..., Any]) -> None:
    """What a program does that starts in a notebook."""
    model, *loaders = pre_process("tiny", 4, "cpu", True)
    with no_pictures():
        train(model, 2, *loaders, "cpu", 1e-3, True)
    print("DEV", evaluate_model(model, loaders[1], "cpu"))

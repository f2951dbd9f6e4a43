"""The student's `train`, whatever it asks for, and what a few of its steps do."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from transformers.modeling_outputs import SequenceClassifierOutput

from .hub import Hub, pretrained_classifier
from .loaders import Batches
from .models import custom, groups, logits_in, logits_of, names_of, own_parameters, walk
from .pictures import no_pictures


class Scores(nn.Module):
    """A model of a known score for each class of each row, whose number is the first token.

    In training mode it turns its scores round, as dropout spoils them; without a mask it gives class 0 for every row,
    and so it does for a row whose mask is not its own.
    """

    def __init__(self, table: Any, read: Any, first_id: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.as_tensor(table, dtype=torch.float32).clone())
        self._read, self._first_id = torch.as_tensor(read), first_id

    def forward(self, input_ids: Any, attention_mask: Any = None, labels: Any = None, **_: Any) -> Any:
        """Ids (rows, length) -> scores (rows, 2), and the loss where there are labels."""
        rows = input_ids[:, 0] - self._first_id
        logits = self.table[rows]
        if self.training:
            logits = -logits
        unread = rows < 0 if attention_mask is None else attention_mask.sum(1) == self._read[rows]
        logits = torch.where(unread[:, None], logits, logits * 0 + torch.tensor([1.0, 0.0]))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)


def evaluated(
    evaluate_model: Callable[..., Any], table: Any, read: Any, first_id: int, batches: Sequence[Mapping[str, Any]]
) -> Any:
    """Return what `evaluate_model` returns for known scores, twice, and whether it left them as they were.

    The model comes in training mode each time; the second time the scores of its two classes are swapped.
    """
    model, loader = Scores(table, read, first_id), Batches(batches)
    returned, same = [], True
    for _ in "12":
        before = model.table.detach().clone()
        returned.append(evaluate_model(model.train(), loader, "cpu"))
        same = same and torch.equal(before, model.table.detach())
        model.table.data = before.flip(1)
    return {"returned": returned[0], "again": returned[1], "same": same}


def noted(
    train: Callable[..., Any],
    make: Callable[..., Any] | None,
    batches: Sequence[Mapping[str, Any]],
    epochs: int,
    lr: float,
    kind: str = "full",
) -> Any:
    """Return what happens while a model is trained: the student's own of some type, or a pretrained classifier.

    Returns:
        "steps": for each forward pass with gradients, the ids and the mask that came in, the logits, the gradient that
        reached them, whether the model was in training mode, what had gathered in the gradient of the head's bias, and
        "own", the parameters next to the encoder, and "stale", a parameter with more in its gradient than this step's;
        "own": these at the end; "moved": whether anything changed; "unmoved": the parts of the encoder that did not;
        "at_once": the most steps that one optimizer took between two forward passes; "rates": the most learning rates
        other than 0 that one optimizer had in a step.
    """
    model = pretrained_classifier() if make is None else custom(make, kind, 3)
    before = [parameter.detach().clone() for _, parameter in walk(model)]
    stages = stages_of(model)
    steps = _note_steps(model)
    rates: list[int] = []

    def stepping(optimizer: Any, *_: Any) -> None:
        rates.append(len({float(group["lr"]) for group in optimizer.param_groups} - {0.0}))

    handle = register_optimizer_step_pre_hook(stepping)
    try:
        with counted_steps(steps) as counts:
            trained = after_training(train, model, epochs, Batches(batches), lr)
    finally:
        handle.remove()
    moved = any(not torch.equal(old, new) for old, (_, new) in zip(before, walk(trained)))  # noqa: B905
    unmoved = [name for name, now in stages_of(trained).items() if name in stages and torch.equal(stages[name], now)]
    return {
        "steps": steps,
        "own": own_values(trained),
        "moved": moved,
        "unmoved": unmoved,
        "at_once": max(counts.values(), default=0),
        "rates": max(rates, default=0),
    }


def own_values(model: Any) -> torch.Tensor:
    """Return the parameters outside the encoder, one after the other."""
    return torch.cat([parameter.detach().flatten() for _, parameter in own_parameters(model)]).clone()


def stages_of(model: Any) -> dict[str, torch.Tensor]:
    """Return the values of the encoder's stages: its word embeddings and the first matrix of each layer."""
    wanted = ("word_embeddings.weight", "attention.self.value.weight")
    named = {Hub.base[id(p)][0]: p for _, p in walk(model) if id(p) in Hub.base}
    return {name: p.detach().clone() for name, p in named.items() if name.endswith(wanted)}


def _note_steps(model: Any) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    forward = model.forward

    @functools.wraps(forward)
    def noting(*given: Any, **named: Any) -> Any:
        output = forward(*given, **named)
        logits = logits_in(output)
        if logits.requires_grad:
            mask = named.get("attention_mask", given[1] if len(given) > 1 else None)
            ids = named.get("input_ids", given[0] if given else None)
            step = {"ids": ids, "mask": mask, "logits": logits.detach().clone(), "training": model.training}
            step["own"] = own_values(model)
            step.update(gradient=None, gathered=None, stale=None)
            steps.append(step)
            logits.register_hook(lambda gradient: step.update(gradient=gradient.clone()))  # type: ignore[no-untyped-call]
        return output

    def gathered(bias: Any) -> None:
        steps[-1]["gathered"] = bias.grad.detach().clone()

    model.forward = noting
    for name, parameter in walk(model):
        if parameter.requires_grad:
            _note_stale(name, parameter, steps)
    for _, parameter in own_parameters(model):
        if parameter.shape == (2,):
            parameter.register_post_accumulate_grad_hook(gathered)  # type: ignore[no-untyped-call]
    return steps


def _note_stale(name: str, parameter: Any, steps: Sequence[dict[str, Any]]) -> None:
    """From now on, note where more has gathered in a gradient than one backward pass gave."""
    fresh: list[torch.Tensor] = []

    def gathered(parameter: Any) -> None:
        if fresh and steps and not torch.allclose(parameter.grad, fresh[-1], rtol=1e-3, atol=1e-6):
            steps[-1]["stale"] = steps[-1]["stale"] or name
        fresh.clear()

    parameter.register_hook(lambda gradient: fresh.append(gradient.clone()))
    parameter.register_post_accumulate_grad_hook(gathered)


@contextlib.contextmanager
def counted_steps(forward_passes: Sequence[Any]) -> Iterator[collections.Counter[tuple[int, int]]]:
    """Count the steps of each optimizer after each forward pass; one that calls its parent's `step` takes one step."""
    counts: collections.Counter[tuple[int, int]] = collections.Counter()
    running: collections.Counter[int] = collections.Counter()

    def before(optimizer: Any, *_: Any) -> None:
        running[id(optimizer)] += 1
        counts[len(forward_passes), id(optimizer)] += running[id(optimizer)] == 1

    def after(optimizer: Any, *_: Any) -> None:
        running[id(optimizer)] -= 1

    handles = [
        register_optimizer_step_pre_hook(before),
        register_optimizer_step_post_hook(after),
    ]
    try:
        yield counts
    finally:
        for handle in handles:
            handle.remove()


def overfitted(train: Callable[..., Any], batch: Mapping[str, Any], epochs: int, lr: float) -> Any:
    """Return the logits of a tiny pretrained classifier for a batch, before and after training on it."""
    model = pretrained_classifier()
    before = logits_of(model, batch)
    trained = after_training(train, model, epochs, Batches([batch]), lr)
    return {"before": before, "after": logits_of(trained, batch)}


def computed(
    make: Callable[..., Any], kind: str | None, prefix_length: int, batch: Mapping[str, Any], classes: int = 2
) -> Any:
    """Return what a new student model computes for a batch, with a random head and a random prefix.

    Returns:
        "logits": of the batch, after a batch of the same shape; "one", "thrice": of its first row alone, and of all
        rows three times; "groups": the parameters; "changed": whether the model changed what it was given; "type":
        what it says it is; "names": what the hub was asked for.
    """
    Hub.asked.clear()
    model = custom(make, kind, prefix_length, classes=classes)
    with torch.no_grad():
        for _, parameter in own_parameters(model):
            parameter.copy_(torch.randn(parameter.shape))
    given = {name: torch.as_tensor(value) for name, value in batch.items()}
    logits_of(model, {name: value.flip(0) for name, value in given.items()})
    kept = {name: value.clone() for name, value in given.items()}
    logits = logits_of(model, kept)
    said = getattr(model, "type", None)
    return {
        "logits": logits,
        "one": logits_of(model, {name: value[:1].clone() for name, value in given.items()}),
        "thrice": logits_of(model, {name: torch.cat([value] * 3) for name, value in given.items()}),
        "groups": groups(model, prefix_length),
        "changed": any(not torch.equal(kept[name], value) for name, value in given.items()),
        "type": said if isinstance(said, str) else None,
        "names": sorted(Hub.asked),
    }


def tuned(
    make: Callable[..., Any],
    train: Callable[..., Any],
    kind: str,
    prefix_length: int,
    batch: Mapping[str, Any],
    epochs: int,
    lr: float,
) -> Any:
    """Return a student model before and after training: its parameters by group, and its logits."""
    model = custom(make, kind, prefix_length)
    before = {"groups": groups(model, prefix_length), "logits": logits_of(model, batch)}
    trained = after_training(train, model, epochs, Batches([batch]), lr)
    return {"before": before, "after": {"groups": groups(trained, prefix_length), "logits": logits_of(trained, batch)}}


def after_training(
    train: Callable[..., Any], model: Any, epochs: int, loader: Batches, lr: float, device: str = "cpu"
) -> Any:
    """Call the student's `train`; returns the model that came back, or the one that was trained in place."""
    given = [model, epochs, loader, loader.first_row(), loader.first_row(), device, lr, "tiny"]
    names = names_of(train)
    if names and "small_subset" in names:
        given[-1] = True
    if 0 < len(names) < len(given) and "*" not in str(inspect.signature(train)):
        given = given[: len(names)]
    with no_pictures():
        returned = train(*given)
    return returned if isinstance(returned, nn.Module) else model

"""Training on the language of two topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from .known_gradient import adam
from .properties import masks, parameter_count, with_each


def seeded(model_class: Callable[..., nn.Module], seed: int, sizes: Sequence[Any]) -> nn.Module:
    """Return a model whose weights, and all that is drawn after it, depend on the seed."""
    torch.manual_seed(seed)
    return model_class(*sizes)


def with_tables(model: Any, weights: Mapping[str, Any]) -> Any:
    """Return a language model with the embedding and the head of the given one; its layers stay as they are."""
    _copy_tables(model, _tensors(weights))
    return model


def language_model(
    model_class: Callable[..., nn.Module],
    seed: int,
    sizes: Sequence[Any],
    weights: Mapping[str, Any],
    batches: Sequence[Any],
    own_mask: Any,
) -> Any:
    """Return the student's own language model, pretrained.

    A model of torch's layers gets all the weights by their names. Another one, with attention by hand or the norms
    elsewhere, gets embedding and head, and its layers are trained on the batches, which is enough.
    """
    model: Any = seeded(model_class, seed, sizes)
    given = _tensors(weights)
    copied = _copy_tables(model, given)
    layers = [module for module in model.base.modules() if isinstance(module, nn.TransformerEncoderLayer)]
    prefix = "base.transformer_encoder.layers."
    states = [
        {name.split(".", 4)[4]: value for name, value in given.items() if name.startswith(f"{prefix}{index}.")}
        for index in range(len(layers))
    ]
    if _is_the_labs(model, layers, states, copied):
        for index, layer in enumerate(layers):
            layer.load_state_dict(states[index])
    else:
        _adapt(model, batches, own_mask)
    return model


def _tensors(weights: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.as_tensor(value).float() for name, value in weights.items()}


def _copy_tables(model: Any, given: Mapping[str, torch.Tensor]) -> int:
    """Copy embedding and head to where their shapes are; how many numbers found a place."""
    copied = _copy_by_shape(model.base, [given["base.encoder.weight"]])
    head = [value for name, value in given.items() if name.startswith("classifier.")]
    return copied + _copy_by_shape(model.classifier, head)


def _copy_by_shape(module: nn.Module, values: Sequence[torch.Tensor]) -> int:
    """Copy each value into the first parameter of its shape; how many numbers found a place."""
    copied = 0
    for value in values:
        places = [parameter for parameter in module.parameters() if parameter.shape == value.shape]
        if places:
            places[0].detach().copy_(value)
            copied += value.numel()
    return copied


def _is_the_labs(
    model: nn.Module, layers: Sequence[Any], states: Sequence[Mapping[str, torch.Tensor]], copied: int
) -> bool:
    """Return whether embedding, torch's layers as the lab has them, and head are all there is."""
    shapes = [{name: value.shape for name, value in layer.named_parameters()} for layer in layers]
    usual = all(not layer.norm_first and layer.activation is nn.functional.relu for layer in layers)
    rest = parameter_count(model) - copied - sum(parameter_count(layer) for layer in layers)
    return (
        bool(layers)
        and usual
        and rest == 0
        and shapes == [{name: value.shape for name, value in state.items()} for state in states]
    )


def _adapt(model: nn.Module, batches: Sequence[Any], own_mask: Any) -> None:
    """Train a language model whose embedding and head are trained already; the rate falls to zero."""
    rate = 2e-3
    optimizer, loss_of_scores = adam(model, rate), nn.CrossEntropyLoss()
    mask = _usable_mask(model, torch.as_tensor(batches[0][0]), own_mask)
    for step, (source, target) in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 30) * (1 - step / len(batches))
        model.train()
        scores = model(torch.as_tensor(source), mask)
        loss = loss_of_scores(scores.reshape(-1, scores.shape[-1]), torch.as_tensor(target))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


@torch.no_grad()
def _usable_mask(model: Any, source: torch.Tensor, own_mask: Any) -> torch.Tensor:
    """Return the student's own mask if there is one and the model can take it, otherwise torch's."""
    possible = masks(model.base, len(source), own_mask)[::-1]
    some = source[:, :2]
    found: torch.Tensor = with_each(possible, lambda mask: (model(some, mask), mask)[1])[0]
    return found


@torch.no_grad()
def last_scores(model: nn.Module, sources: Sequence[Any], own_mask: Any) -> list[torch.Tensor]:
    """Return a model's scores at the last position of each source (L, N), in evaluation mode: (N, n_out) each."""
    model.eval()
    tensors = [torch.as_tensor(source) for source in sources]
    return [model(ids, _usable_mask(model, ids, own_mask))[-1] for ids in tensors]

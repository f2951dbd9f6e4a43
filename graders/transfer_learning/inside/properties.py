"""What the properties are about. Models are asked in evaluation mode and without gradients."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from .asking import ask
from .loaders import Loader


def positions_of(positional_encoding: Callable[..., Any], max_len: int, d: int) -> Any:
    """Return the table that a module for positions adds, shape (max_len, d)."""
    positional_encoding(d).train()(torch.zeros(2, 1, d))  # with its defaults
    module = positional_encoding(d, 0.0, max_len).eval()
    return module(torch.zeros(max_len, 1, d))[:, 0]


@torch.no_grad()
def applied(module: nn.Module, x: Any) -> Any:
    """Return what a module makes of an array."""
    return module.eval()(torch.as_tensor(x))


def method(owner: Any, name: str) -> Callable[..., Any]:
    """Return a method as a function of its own."""
    found: Callable[..., Any] = getattr(owner, name)
    return found


@torch.no_grad()
def shapes(model: Any, source: Any, own_mask: Any = None) -> dict[str, Any]:
    """What a model returns, the shape of its base's output, and how far base and head together are from the model."""
    ids = torch.as_tensor(source)
    model.eval()

    def ask_both(mask: torch.Tensor) -> dict[str, Any]:
        features, scores = model.base(ids, mask), model(ids, mask)
        again = model.classifier(features)
        apart = (again - scores).abs().max() if again.shape == scores.shape else torch.tensor(float("inf"))
        return {"base": tuple(features.shape), "scores": scores, "apart": float(apart)}

    found: dict[str, Any] = with_each(masks(model.base, len(ids), own_mask), ask_both)[0]
    return found


@torch.no_grad()
def outputs(
    base: Any, sources: Sequence[Any], own_mask: Any, open_mask: bool = False, training: bool = False
) -> list[list[Any]]:
    """Return the base's output for each source, once with torch's mask and once with the student's own, if they differ.

    Args:
        base: a `TransformerModel`.
        sources: token ids, (L, N), all of one length.
        own_mask: a function sz -> mask, or None; the model's method comes first.
        open_mask: let every position see every other: the mask's last row, which hides nothing, in every row. The base
            is called with the mask itself first, so that one that keeps its first mask shows.
        training: in training mode.
    """
    base.train(training)
    length = len(sources[0])

    def ask_all(mask: torch.Tensor) -> list[Any]:
        used = mask
        if open_mask:
            base(torch.as_tensor(sources[0]), mask)
            used = mask[-1:].expand(length, length).contiguous()
        return [base(torch.as_tensor(source), used) for source in sources]

    return with_each(masks(base, length, own_mask), ask_all)


def masks(base: Any, length: int, own_mask: Any) -> list[torch.Tensor]:
    """Torch's causal mask, and the student's if it is another."""
    usual = nn.Transformer.generate_square_subsequent_mask(length)
    own = getattr(base, "generate_square_subsequent_mask", None) or own_mask
    mask = usual if own is None else torch.as_tensor(own(length))
    is_other = mask.shape == usual.shape and not (mask.dtype == usual.dtype and torch.equal(mask, usual))
    return [usual, mask] if is_other else [usual]


def with_each(possible: Sequence[torch.Tensor], function: Callable[[torch.Tensor], Any]) -> list[Any]:
    """What the function makes of each mask that it can take: attention by hand may read one form of mask only."""
    found, problem = [], None
    for mask in possible:
        try:
            found.append(function(mask))
        except Exception as error:
            problem = error
    if problem is not None and not found:
        raise problem
    return found


def without_positions(base: nn.Module, positional_encoding: type) -> int:
    """Take the positional encoding out of a model; returns how many modules were silenced."""
    modules = [module for module in base.modules() if isinstance(module, positional_encoding)]
    for module in modules:
        module.forward = lambda x, *_, **__: x
    return len(modules)


@torch.no_grad()
def what_flows(base: nn.Module, source: Any, own_mask: Any = None) -> dict[str, Any]:
    """Return the embeddings of a base, and every (L, N, d) that enters or leaves one of its modules."""
    ids = torch.as_tensor(source)
    seen = noted_flow(base.eval(), source, own_mask)
    tables = [module.weight for module in base.modules() if isinstance(module, nn.Embedding)]
    tables = tables or [p for p in base.parameters() if p.ndim == 2 and len(p) > int(ids.max())]
    return {"embedding": tables[0] if tables else None, "seen": seen}


@torch.no_grad()
def noted_flow(base: nn.Module, source: Any, own_mask: Any = None) -> list[torch.Tensor]:
    """Return every (L, N, d) that enters or leaves a module of a base, once; the base stays in its mode."""
    ids = torch.as_tensor(source)
    seen: list[torch.Tensor] = []

    def remember(_module: Any, entering: Any, leaving: Any) -> None:
        for value in (*entering, leaving):
            if isinstance(value, torch.Tensor) and value.ndim == 3 and len(seen) < 100 and is_new(value):
                seen.append(value)

    def is_new(value: torch.Tensor) -> bool:
        return not any(value is other or torch.equal(value, other) for other in seen)

    hooks = [module.register_forward_hook(remember) for module in base.modules() if module is not base]
    with_each(masks(base, len(ids), own_mask), lambda mask: base(ids, mask))
    for hook in hooks:
        hook.remove()
    turned = (value.transpose(0, 1) if value.shape[:2] == ids.T.shape != ids.shape else value for value in seen)
    return [value for value in turned if value.shape[:2] == ids.shape]


def parameter_count(module: nn.Module) -> int:
    """Return how many numbers are trained."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def parameters(module: nn.Module) -> dict[str, torch.Tensor]:
    """Return every parameter by name, as it is now."""
    return {name: value.detach().clone() for name, value in module.named_parameters()}


def load(function: Callable[..., Any], path: str, known: Mapping[str, Any]) -> Any:
    """Have weights loaded into `known["model"]`; returns the model that came back, or that one."""
    returned = ask(function, (path,), known)
    return returned if isinstance(returned, nn.Module) else known["model"]


@torch.no_grad()
def shaken(model: nn.Module) -> nn.Module:
    """The model with every weight moved: a new model's biases and norms are constants, the same in all models."""
    for parameter in model.parameters():
        parameter.add_(0.1 * torch.rand_like(parameter) + 0.1)
    return model


def copied(model: nn.Module) -> nn.Module:
    """Return the model as it is now."""
    return copy.deepcopy(model)


def save(model: nn.Module, path: str) -> None:
    """A checkpoint as the lab's."""
    torch.save({"model_state_dict": model.state_dict()}, path)


@torch.no_grad()
def loss_of(model: Any, loader: Loader, own_mask: Any, ignored: int) -> float:
    """Return the mean cross entropy of a language model over a loader, with the mask that serves it best."""
    model.eval()
    criterion = nn.CrossEntropyLoss(ignore_index=ignored)
    source, target = loader.batches[0]
    features = outputs(model.base, [source], own_mask)
    found = [criterion(model.classifier(x).reshape(len(target), -1), target) for [x] in features]
    return float(min(found))

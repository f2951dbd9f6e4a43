"""A model whose gradient is known by hand, and what trains it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class _Means(nn.Module):
    """The base: at each position a mean of the embeddings that the mask lets it see."""

    def __init__(self, embedding: Any) -> None:
        super().__init__()
        self.encoder = nn.Embedding(len(embedding), len(embedding[0]))
        with torch.no_grad():
            self.encoder.weight.copy_(torch.as_tensor(embedding))
        self.nhid = self.encoder.embedding_dim
        self.without_mask = False

    @staticmethod
    def generate_square_subsequent_mask(sz: int) -> torch.Tensor:
        """Torch's own."""
        return nn.Transformer.generate_square_subsequent_mask(sz)

    def forward(self, src: torch.Tensor, src_mask: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        """(L, N) -> (L, N, d)."""
        weights = _weights(len(src), src_mask)
        self.without_mask = self.without_mask or (len(src) > 1 and src_mask is None) or _is_constant(src_mask)
        return torch.einsum("ts,snd->tnd", weights, self.encoder(src.long()))


class _Scores(nn.Module):
    """The head; it has the lab's name for its layer."""

    def __init__(self, weight: Any, bias: Any) -> None:
        super().__init__()
        self.decoder = nn.Linear(len(weight[0]), len(weight))
        with torch.no_grad():
            self.decoder.weight.copy_(torch.as_tensor(weight))
            self.decoder.bias.copy_(torch.as_tensor(bias))

    def forward(self, x: torch.Tensor) -> Any:
        """(..., d) -> (..., n_out)."""
        return self.decoder(x)


class PrefixMean(nn.Module):
    """Base and head, as in the lab.

    Where a part of it is in some mode, it may turn its scores round, as dropout spoils them in training.
    """

    def __init__(self, embedding: Any, weight: Any, bias: Any, spoiled_in: str = "") -> None:
        super().__init__()
        self.base = _Means(embedding)
        self.classifier = _Scores(weight, bias)
        self.spoiled_in = spoiled_in
        self.followed = False

    def forward(self, src: torch.Tensor, src_mask: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        """(L, N) -> (L, N, n_out)."""
        self.followed = self.followed or torch.is_grad_enabled()
        scores: torch.Tensor = self.classifier(self.base(src, src_mask))
        modes = {"training" if part.training else "evaluation" for part in self.modules()}
        return -scores if self.spoiled_in in modes else scores

    def parts(self) -> list[torch.Tensor]:
        """Embedding, weight and bias of the head."""
        return [self.base.encoder.weight, self.classifier.decoder.weight, self.classifier.decoder.bias]


def asked_without_mask(model: PrefixMean) -> bool:
    """Return whether the model was once called without a mask, or with one that treats all positions alike."""
    return bool(model.base.without_mask)


def _is_constant(mask: Any) -> bool:
    """Return whether a mask treats all positions alike; one of two positions may be off by one."""
    return mask is not None and len(mask) > 2 and bool((mask == mask.flatten()[0]).all())


def rates_of(optimizer: torch.optim.Optimizer) -> list[float]:
    """Return the learning rate of each group of parameters."""
    return [float(group["lr"]) for group in optimizer.param_groups]


def _weights(length: int, mask: Any) -> torch.Tensor:
    """More for later positions, so that the order of the tokens matters."""
    later = torch.arange(1, length + 1).float().log()
    if mask is None:
        return torch.softmax(later.expand(length, length), dim=-1)
    if mask.shape[-2:] != (length, length):  # what torch's own layers say
        raise RuntimeError(f"The shape of the 2D attn_mask is {tuple(mask.shape)}, but should be {(length, length)}.")
    if mask.dtype is torch.bool:  # True = masked for nn.Transformer, True = visible for attention by hand
        hidden = ~mask if bool(mask.diagonal().all()) else mask
        mask = torch.zeros(mask.shape).masked_fill(hidden, float("-inf"))
    return torch.softmax(mask.float() + later, dim=-1)


def plain_descent(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Return an optimizer that shows the gradient as it is."""
    return torch.optim.SGD(model.parameters(), lr=learning_rate)


def adam(model: nn.Module, learning_rate: float) -> torch.optim.Optimizer:
    """Return what the lab trains with."""
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


class _Scaled(nn.CrossEntropyLoss):
    """A multiple of the cross entropy."""

    def __init__(self, factor: float, **given: Any) -> None:
        super().__init__(**given)
        self._factor = factor

    def forward(self, *given: torch.Tensor, **named: torch.Tensor) -> torch.Tensor:
        """Scores (rows, classes) and targets (rows,) to a number."""
        return self._factor * super().forward(*given, **named)


def criterion(ignored: int | None, factor: float = 1) -> nn.CrossEntropyLoss:
    """Return the lab's criterion, or a multiple of it; it may ignore a target."""
    given: dict[str, Any] = {} if ignored is None else {"ignore_index": ignored}
    return nn.CrossEntropyLoss(**given) if factor == 1 else _Scaled(factor, **given)

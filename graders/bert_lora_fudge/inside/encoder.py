"""What transformers' `BertModel` computes, for rows without padding, with any of its matrices replaced.

Devlin et al. (2019), "BERT", section 3: post-norm layers of Vaswani et al. (2017). transformers itself is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

Weights = Mapping[str, torch.Tensor]
EPSILON = 1e-12
"""The epsilon of the layer norms, as in BERT."""


def encode(weights: Weights, ids: torch.Tensor, heads: int = 2) -> torch.Tensor:
    """Return the hidden states of the last layer, (row, token, d), without dropout.

    Args:
        weights: by the names that transformers gives them; matrices act as in `torch.nn.Linear`.
        ids: (row, token); every token is read, and all are in segment 0.
        heads: number of heads.
    """
    kinds = {"word": ids, "position": torch.arange(ids.shape[1]), "token_type": torch.zeros_like(ids)}
    embedded = [
        functional.embedding(some, weights[f"embeddings.{kind}_embeddings.weight"]) for kind, some in kinds.items()
    ]
    x = _norm(weights, "embeddings.LayerNorm", embedded[0] + embedded[1] + embedded[2])
    for layer in range(sum(name.endswith("intermediate.dense.weight") for name in weights)):
        name = f"encoder.layer.{layer}"
        x = _norm(weights, f"{name}.attention.output.LayerNorm", x + _attention(weights, name, x, heads))
        inner = functional.gelu(_linear(weights, f"{name}.intermediate.dense", x))
        x = _norm(weights, f"{name}.output.LayerNorm", x + _linear(weights, f"{name}.output.dense", inner))
    return x


def _attention(weights: Weights, name: str, x: torch.Tensor, heads: int) -> torch.Tensor:
    query, key, value = (
        _linear(weights, f"{name}.attention.self.{part}", x).view(*x.shape[:2], heads, -1).transpose(1, 2)
        for part in ("query", "key", "value")
    )  # (row, head, token, d/head)
    scores = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5  # (row, head, query, key)
    mixed = (scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)  # (row, token, d)
    return _linear(weights, f"{name}.attention.output.dense", mixed)


def _linear(weights: Weights, name: str, x: torch.Tensor) -> torch.Tensor:
    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Weights, name: str, x: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)

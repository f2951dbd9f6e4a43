"""A causal language model and a classifier on one base: Radford et al. (2018), section 3.

    h_0 = E[x] √d + PE          h_l = layer_l(h_{l-1}, M)          z = W h_n + b

Layers are torch's `nn.TransformerEncoderLayer`, those of Vaswani et al. (2017): layer norm after each block, ReLU,
biases everywhere; d_ff = d = `nhid`. Inputs are time first: (L, N).
"""

import math

import torch
from torch import Tensor, nn

from reference.transformer.positional_encoding import positional_encoding


class PositionalEncoding(nn.Module):
    """Adds PE to (L, N, nhid); has no parameters."""

    table: Tensor

    def __init__(self, nhid: int, dropout: float = 0.1, max_len: int = 5000) -> None:
        super().__init__()
        table = torch.from_numpy(positional_encoding(max_len, nhid)).float()  # (max_len, nhid)
        self.register_buffer("table", table[:, None], persistent=False)  # (max_len, 1, nhid)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (L, N, nhid) to (L, N, nhid)."""
        return self.dropout(x + self.table[: len(x)])  # type: ignore[no-any-return]


class TransformerModel(nn.Module):
    """The base: token ids to vectors that depend on the tokens before them."""

    def __init__(self, ntoken: int, nhead: int, nhid: int, nlayers: int, dropout: float = 0.5) -> None:
        super().__init__()
        self.nhid = nhid
        self.encoder = nn.Embedding(ntoken, nhid)
        self.pos_encoder = PositionalEncoding(nhid, dropout)
        layer = nn.TransformerEncoderLayer(nhid, nhead, dim_feedforward=nhid, dropout=dropout)
        self.transformer_encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)

    def forward(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        """Map token ids (L, N) and mask (L, L) to (L, N, nhid)."""
        x = self.encoder(src) * math.sqrt(self.nhid)  # (L, N, nhid)
        return self.transformer_encoder(self.pos_encoder(x), src_mask)  # type: ignore[no-any-return]


class ClassificationHead(nn.Module):
    """A linear layer that returns scores, not probabilities."""

    def __init__(self, nhid: int, nclasses: int) -> None:
        super().__init__()
        self.decoder = nn.Linear(nhid, nclasses)

    def forward(self, src: Tensor) -> Tensor:
        """Map (..., nhid) to (..., nclasses)."""
        return self.decoder(src)  # type: ignore[no-any-return]


class Model(nn.Module):
    """A base and a head: a language model with nclasses = ntoken, else a classifier."""

    def __init__(self, ntoken: int, nhead: int, nhid: int, nlayers: int, nclasses: int, dropout: float = 0.5) -> None:
        super().__init__()
        self.base = TransformerModel(ntoken, nhead, nhid, nlayers, dropout)
        self.classifier = ClassificationHead(nhid, nclasses)

    def forward(self, src: Tensor, src_mask: Tensor | None) -> Tensor:
        """Map token ids (L, N) and mask (L, L) to (L, N, nclasses)."""
        return self.classifier(self.base(src, src_mask))  # type: ignore[no-any-return]

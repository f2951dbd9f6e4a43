"""Training, decoding and fine-tuning a model of base and head: Radford et al. (2018), sections 3.1 and 3.2.

    language model   L = -Σ_t log P(x_{t+1} | x_1 … x_t)           classifier   L = -log P(y | h of the last token)

Models take token ids (L, N) and a mask (L, L), and return scores (L, N, n_out).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from reference.transformer.causal_mask import causal_mask

MAX_NORM = 0.5
"""The gradient is clipped to this norm."""


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, criterion: nn.Module, source: Tensor, target: Tensor, task: str
) -> float:
    """Train one step on one batch; return the loss before it.

    Args:
        model, optimizer, criterion: what is trained, by what, towards what.
        source: token ids, shape (L, N).
        target: the next tokens (L * N,), or the labels (N,) if `task` is "classification".
        task: "language_modeling" or "classification".
    """
    model.train()
    optimizer.zero_grad()
    output = model(source, _mask(source))  # (L, N, n_out)
    if task == "classification":
        output = output[-1]  # (N, n_out)
    loss: Tensor = criterion(output.reshape(-1, output.shape[-1]), target.reshape(-1))
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate_accuracy(data_loader: Iterable[tuple[Tensor, Tensor]], model: nn.Module) -> float:
    """Return the share of all examples of the loader, sources (L, N) and labels (N,), that get their label."""
    model.eval()
    right = total = 0
    for source, target in data_loader:
        predicted = model(source, _mask(source))[-1].argmax(dim=-1)  # (N,)
        right += int((predicted == target.reshape(-1)).sum())
        total += target.numel()
    return right / total


def infer_next_token(sentence: str, model: nn.Module, token2ind: Mapping[str, int]) -> int:
    """Return the id of the most probable token after a sentence of tokens with spaces between them."""
    return _next_id(model, _prompt(sentence, token2ind))


def infer_next_tokens(
    sentence: str, model: nn.Module, token2ind: Mapping[str, int], ind2token: Mapping[int, str], max_len: int = 50
) -> list[str]:
    """Continue greedily: return at most `max_len` new tokens, ending before `<eos>`."""
    ids = _prompt(sentence, token2ind)
    new: list[str] = []
    while len(new) < max_len and (found := _next_id(model, ids)) != token2ind["<eos>"]:
        ids.append(found)
        new.append(ind2token[found])
    return new


def load_pretrained(model: Any, path: str | Path) -> Any:
    """Copy the base of a language model, saved as {"model_state_dict": …}, into `model.base`; the head stays."""
    saved = torch.load(path, map_location="cpu")["model_state_dict"]
    prefix = "base."
    base = {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}
    model.base.load_state_dict(base)  # strict: every weight is there, and no other
    return model


@torch.no_grad()
def _next_id(model: nn.Module, ids: Sequence[int]) -> int:
    model.eval()
    source = torch.tensor(ids)[:, None]  # (L, 1)
    return int(model(source, _mask(source))[-1, 0].argmax())


def _prompt(sentence: str, token2ind: Mapping[str, int]) -> list[int]:
    unknown = token2ind["<oov>"]
    return [token2ind["<sos>"], *(token2ind.get(token, unknown) for token in sentence.split())]


def _mask(source: Tensor) -> Tensor:
    return torch.from_numpy(causal_mask(len(source))).float()

"""Layers taken apart: which numbers a base is made of, which of them it uses, and what dropout does to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.nn import functional

from .properties import masks, noted_flow, outputs, with_each, without_positions


@torch.no_grad()
def taken_apart(base: nn.Module, d: int, heads: int, alone: Any, together: Any, own_mask: Any) -> dict[str, Any]:
    """Redraw the weights of a base of one layer (gains 1, biases 0), and return them with what the base makes of ids.

    Returns:
        `embedding`, `orders` (ways to cut the other parameters into six matrices; none where that cannot be told),
        `alone` and `together`: outputs for ids (1, N) and (L, N), one for each form of mask that the base can take.
    """
    table = embedding_of(base)
    assert table is not None, "No embedding of shape (ntoken, nhid) was found in TransformerModel."
    rest = [p for p in base.parameters() if p is not table and p.requires_grad]
    gains = [p for p in rest if bool((p == 1).all())]
    gains += [m.weight for m in base.modules() if isinstance(m, nn.LayerNorm) and not any(m.weight is p for p in gains)]
    large = [p for p in rest if p.numel() >= d * d // heads and p.ndim > 1 and not _is_constant(p)]
    table.normal_(0, 0.3)
    for p in rest:
        if any(p is gain for gain in gains):
            p.fill_(1)
        elif any(p is matrix for matrix in large):
            p.normal_(0, 0.8 / d**0.5)
        else:
            p.zero_()
    knows = sum(p.numel() for p in gains) == 2 * d
    return {
        "embedding": table.detach().clone(),
        "orders": [list(order) for order in _orders(large, d, heads)] if knows else [],
        "alone": [found for [found] in outputs(base, [alone], own_mask)],
        "together": [found for [found] in outputs(base, [together], own_mask)],
    }


def unused(base: nn.Module, source: Any, own_mask: Any) -> dict[str, Any]:
    """Return how many numbers of a base's layers change nothing in its output, and the parameter with most of them.

    "tokens" are the ids in the source whose embedding gets no gradient. "passed_on" is the output of layers whose
    weights are all zero: each adds nothing to what enters it.

    A unit may be dead by chance (ReLU), so the weights are drawn five times; what counts is without effect each time.
    "gains" are those of layer norms, which are never dead by chance.
    """
    base.eval()
    table, ids = embedding_of(base), torch.as_tensor(source)
    parameters = {n: p for n, p in base.named_parameters() if p.requires_grad and p is not table}
    gains = {n for n, p in parameters.items() if bool((p > 0.5).all())}

    def without_effect(mask: torch.Tensor) -> dict[str, torch.Tensor]:
        base.zero_grad()
        output = base(ids, mask)
        (output * torch.randn_like(output)).sum().backward()
        if table.grad is not None:
            trained.update(table.grad.abs().sum(dim=1).nonzero().flatten().tolist())
        gradients = {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in parameters.items()}
        largest = max((float(g.abs().max()) for g in gradients.values()), default=0.0)
        return {n: g.abs() <= 1e-7 * largest for n, g in gradients.items()}

    trained: set[int] = set()
    found: dict[str, torch.Tensor] = {}
    for _ in range(5):
        with torch.no_grad():
            table.normal_(0, 0.3)
            for name, parameter in parameters.items():
                centre = 1.0 if name in gains else 0.0  # a gain stays near 1
                parameter.normal_(centre, 0.1 if parameter.ndim == 1 else 0.4)
        new = with_each(masks(base, len(ids), own_mask), without_effect)[0]
        found = {n: zero & found.get(n, zero) for n, zero in new.items()}
    counts = {n: int(zero.sum()) for n, zero in found.items()}
    unread = sum(counts[name] for name in gains)
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.fill_(1.0 if name in gains else 0.0)
    return {
        "embedding": table.detach().clone(),
        "passed_on": outputs(base, [source], own_mask)[0][0].detach(),
        "tokens": sorted(set(ids.flatten().tolist()) - trained),
        "count": sum(counts.values()),
        "gains": unread,
        "first": max(counts, key=lambda name: counts[name], default=""),
    }


@torch.no_grad()
def changes_with_dropout(
    make: Callable[..., nn.Module], sizes: Any, source: Any, own_mask: Any, pe: Any
) -> list[float]:
    """How much a model's output varies: in training without dropout, in evaluation with it, in training with it, and
    there without its positional encoding, -1 where that cannot be taken out; from training to evaluation without it."""
    ids = torch.as_tensor(source)

    def varies(dropout: float, training: bool, take_out: bool = False, then: bool | None = None) -> float:
        base = make(*sizes, dropout)
        if take_out and (pe is None or not without_positions(base, pe)):
            return -1.0

        def ask(mask: torch.Tensor) -> float:
            first = base.train(training)(ids, mask)
            return float((first - base.train(training if then is None else then)(ids, mask)).abs().max())

        return float(min(with_each(masks(getattr(base, "base", base), len(ids), own_mask), ask)))

    usual = [varies(0.0, True), varies(0.5, False), varies(0.5, True), varies(0.5, True, take_out=True)]
    return [*usual, varies(0.0, True, then=False)]


@torch.no_grad()
def in_training(make: Callable[..., nn.Module], sizes: Any, source: Any, own_mask: Any, dropout: float | None) -> Any:
    """Return what a model, or a base, does in training; without a rate of dropout, the model takes its default.

    Returns:
        "embedding"; "resting", "training": every (L, N, d) that enters or leaves a module of the base in evaluation and
        in training; "rates": with which rates torch was asked for dropout, by modules or by functions.
    """
    made = make(*sizes, *(() if dropout is None else (dropout,)))
    base = getattr(made, "base", made)
    rates: set[float] = set()
    drop, attend = functional.dropout, functional.scaled_dot_product_attention

    def dropping(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
        rates.update([float(p)] * bool(training))
        return drop(input, p, training, inplace)

    def attending(*given: Any, **named: Any) -> torch.Tensor:
        rates.add(float(named.get("dropout_p", given[4] if len(given) > 4 else 0.0)))
        return attend(*given, **named)

    resting = noted_flow(base.eval(), source, own_mask)
    with mock.patch.multiple(functional, dropout=dropping, scaled_dot_product_attention=attending):
        training = noted_flow(base.train(), source, own_mask)
    return {"embedding": embedding_of(base), "resting": resting, "training": training, "rates": sorted(rates)}


@torch.no_grad()
def dropped(positional_encoding: Callable[..., Any], x: Any, dropout: float | None) -> Any:
    """What a module for positions makes of (L, N, d) in training; without a rate of dropout, with its default."""
    given = () if dropout is None else (dropout,)
    return positional_encoding(x.shape[-1], *given).train()(torch.as_tensor(x))


@torch.no_grad()
def added_to(positional_encoding: Callable[..., Any], x: Any, max_len: int | None = None) -> Any:
    """Return what a module for positions makes of (L, N, d) in evaluation; without `max_len`, with its default."""
    given = () if max_len is None else (max_len,)
    return positional_encoding(x.shape[-1], 0.5, *given).eval()(torch.as_tensor(x))


def embedding_of(base: nn.Module) -> Any:
    """Return the first table with a row for each token."""
    tables = [module.weight for module in base.modules() if isinstance(module, nn.Embedding)]
    return next(iter([*tables, *(p for p in base.parameters() if p.ndim == 2)]), None)


def _is_constant(p: torch.Tensor) -> bool:
    return bool((p == p.flatten()[0]).all())


def _orders(large: Sequence[torch.Tensor], d: int, heads: int) -> Iterator[list[torch.Tensor]]:
    """Yield ways to see these parameters as six matrices (d, d): thirds of one, or heads that have one each."""
    narrow = [p for p in large if p.numel() * heads == d * d]
    ways = [_thirds(p, d, heads) for p in large if p.numel() * heads != d * d]
    if narrow:
        ways.append(_of_heads(narrow, d, heads))
    for chosen in product(*ways):
        matrices = [matrix for part in chosen for matrix in part]
        if len(matrices) == 6:
            yield matrices


def _thirds(p: torch.Tensor, d: int, heads: int) -> list[list[torch.Tensor]]:
    """Ways to cut a parameter into matrices: along its first axis, its last, or head by head."""
    count, rest = divmod(p.numel(), d * d)
    if rest:
        return []
    ways = [list(p.reshape(count, d, d))]
    if count > 1:
        flat = p.reshape(d, -1)
        ways.append([part.contiguous() for part in flat.chunk(count, dim=1)])
        width = d // heads
        by_head = p.reshape(heads, count, width, d).transpose(0, 1)
        ways.append(list(by_head.reshape(count, d, d)))
        by_head = p.reshape(d, heads, count, width).permute(2, 0, 1, 3)
        ways.append(list(by_head.reshape(count, d, d)))
    elif p.ndim == 3 and heads in p.shape[:1]:
        ways.append([p.reshape(heads, d, -1).transpose(0, 1).reshape(d, d)])  # (head, d, width): side by side
    return ways


def _of_heads(narrow: Sequence[torch.Tensor], d: int, heads: int) -> list[list[torch.Tensor]]:
    """Ways to put the heads' own parameters together: one matrix after the other, or one head after the other."""
    count, rest = divmod(len(narrow), heads)
    if rest:
        return []
    rows = [p.reshape(-1, d) if p.shape[-1] == d else p.reshape(d, -1).T for p in narrow]
    together = [torch.cat(rows[i * heads : (i + 1) * heads]) for i in range(count)]
    in_turns = [torch.cat(rows[i::count]) for i in range(count)]
    return [together, in_turns]

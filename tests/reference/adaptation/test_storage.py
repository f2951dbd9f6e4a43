"""Counts of weights, optimizer states and versions, against torch, transformers and peft."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from reference.adaptation.parameter_counts import (
    dense_head_params,
    head_params,
    key_value_prefix_params,
    lora_params,
    prefix_params,
)
from reference.adaptation.storage import (
    break_even_rank,
    decoding_floats,
    optimizer_floats,
    storage_full,
    storage_lora,
    trainable_params,
)

SHAPES = [(4, 6, 2), (8, 8, 3), (5, 3, 1)]


def counted(kind: str, d: int, k: int, r: int | None, gradients: bool) -> int:
    """Elements of every weight, gradient and optimizer state that torch holds after one step."""
    W = torch.nn.Parameter(torch.randn(d, k), requires_grad=r is None)
    factors = [] if r is None else [torch.nn.Parameter(torch.randn(shape)) for shape in ((d, r), (r, k))]
    trained = factors or [W]
    effective = W + factors[0] @ factors[1] if factors else W
    optimizer = torch.optim.SGD(trained, lr=0.1, momentum=0.9) if kind == "sgd" else torch.optim.Adam(trained)
    torch.autograd.backward((effective**2).sum())
    optimizer.step()
    held = [W, *factors] + [p.grad for p in trained if gradients and p.grad is not None]
    states = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v) and v.dim() == 2]
    return sum(tensor.numel() for tensor in [*held, *states])


def test_optimizer_floats() -> None:
    for (d, k, r), kind, gradients in itertools.product(SHAPES, ["sgd", "adam"], [False, True]):
        assert optimizer_floats(kind, d, k, r, gradients) == counted(kind, d, k, r, gradients)
        assert optimizer_floats(kind, d, k, None, gradients) == counted(kind, d, k, None, gradients)


def test_unknown_optimizer() -> None:
    with pytest.raises(ValueError, match="expected one of sgd, adam"):
        optimizer_floats("rmsprop", 2, 2)


def test_storage_counts_every_stored_weight() -> None:
    for (d, k, r), N, M in itertools.product(SHAPES, [1, 3], [0, 1, 5]):
        full = [[torch.empty(d, k) for _ in range(N)] for _ in range(M + 1)]
        base = [torch.empty(d, k) for _ in range(N)]
        adapters = [[(torch.empty(d, r), torch.empty(r, k)) for _ in range(N)] for _ in range(M)]
        assert storage_full(N, M, d, k) == sum(W.numel() for version in full for W in version)
        in_adapters = sum(factor.numel() for version in adapters for pair in version for factor in pair)
        assert storage_lora(N, M, d, k, r) == sum(W.numel() for W in base) + in_adapters


def test_decoding_floats() -> None:
    for d, k, r in SHAPES:
        W, A, B = torch.randn(d, k), torch.randn(d, r), torch.randn(r, k)
        assert decoding_floats(d, k, r, merged=True) == (W + A @ B).numel()
        assert decoding_floats(d, k, r, merged=False) == W.numel() + A.numel() + B.numel()


def test_break_even_rank() -> None:
    for d, k, r in itertools.product([4, 12, 30], [4, 6, 20], range(1, 20)):
        below = r < break_even_rank(d, k)
        assert (trainable_params(d, k, r) < d * k) == below
        assert (storage_lora(3, 4, d, k, r) < storage_full(3, 4, d, k)) == below
        assert (optimizer_floats("adam", d, k, r) < optimizer_floats("adam", d, k)) == (
            3 * r < 2 * break_even_rank(d, k)
        )


def count(module: torch.nn.Module, only_trainable: bool = False) -> int:
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not only_trainable)


def roberta(d: int, C: int, layers: int = 1) -> "transformers.RobertaForSequenceClassification":
    made: Any = transformers.RobertaConfig
    config = made(
        vocab_size=11, hidden_size=d, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=2 * d,
        num_labels=C, max_position_embeddings=40,
    )  # fmt: skip
    return transformers.RobertaForSequenceClassification(config)


@pytest.mark.parametrize(("d", "C"), [(2, 2), (8, 3), (768, 2)])
def test_linear_head(d: int, C: int) -> None:
    assert head_params(d, C) == count(torch.nn.Linear(d, C))


@pytest.mark.parametrize(("l", "d", "C"), [(128, 768, 2), (1, 4, 2), (7, 16, 5)])
def test_prefix_params(l: int, d: int, C: int) -> None:  # noqa: E741
    assert prefix_params(l, d, C) == count(torch.nn.ModuleList([torch.nn.Embedding(l, d), torch.nn.Linear(d, C)]))


@pytest.mark.parametrize(("d", "C"), [(4, 2), (8, 3)])
def test_dense_head_params(d: int, C: int) -> None:
    assert count(roberta(d, C).classifier) == dense_head_params(d, C)
    made: Any = transformers.DistilBertConfig
    config = made(vocab_size=11, dim=d, n_layers=1, n_heads=2, hidden_dim=2 * d, num_labels=C)
    model = transformers.DistilBertForSequenceClassification(config)
    assert count(model.pre_classifier) + count(model.classifier) == dense_head_params(d, C)


# peft asks for a property that transformers has renamed
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
@pytest.mark.parametrize(("l", "d", "layers"), [(3, 4, 1), (5, 8, 3)])
def test_prefix_params_of_peft(l: int, d: int, layers: int) -> None:  # noqa: E741
    """peft's PromptTuning is the course's prefix; its PrefixTuning has keys and values in every layer."""
    import peft  # late: collecting all tests need not wait for it

    head = dense_head_params(d, 2)
    prompt = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=l)
    assert count(peft.get_peft_model(roberta(d, 2, layers), prompt), only_trainable=True) == l * d + head
    prefix = peft.PrefixTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=l)
    adapted = peft.get_peft_model(roberta(d, 2, layers), prefix)
    assert count(adapted, only_trainable=True) == key_value_prefix_params(l, d, layers) + head


def test_lora_params_of_peft() -> None:
    import peft  # late: collecting all tests need not wait for it

    rng = np.random.default_rng(0)
    for d, n in rng.integers(2, 12, (4, 2)).tolist():
        layer = torch.nn.Sequential(torch.nn.Linear(d, d))
        adapted = peft.get_peft_model(layer, peft.LoraConfig(r=n, target_modules=["0"]))
        assert count(adapted, only_trainable=True) == lora_params(d, n)

"""reference/adaptation/storage.py against torch's modules and optimizers, counted, and against sympy."""

import itertools

import pytest
import sympy
import torch

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
    (effective**2).sum().backward()
    optimizer.step()
    held = [W, *factors] + [p.grad for p in trained if gradients and p.grad is not None]
    states = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v) and v.dim() == 2]
    return sum(tensor.numel() for tensor in [*held, *states])


def test_optimizer_floats_are_those_that_torch_holds() -> None:
    for (d, k, r), kind, gradients in itertools.product(SHAPES, ["sgd", "adam"], [False, True]):
        assert optimizer_floats(kind, d, k, r, gradients) == counted(kind, d, k, r, gradients)
        assert optimizer_floats(kind, d, k, None, gradients) == counted(kind, d, k, None, gradients)


def test_an_unknown_optimizer() -> None:
    with pytest.raises(ValueError, match="expected one of sgd, adam"):
        optimizer_floats("rmsprop", 2, 2)


def test_storage_is_what_a_list_of_versions_holds() -> None:
    for (d, k, r), N, M in itertools.product(SHAPES, [1, 3], [0, 1, 5]):
        full = [[torch.empty(d, k) for _ in range(N)] for _ in range(M + 1)]
        base = [torch.empty(d, k) for _ in range(N)]
        adapters = [[(torch.empty(d, r), torch.empty(r, k)) for _ in range(N)] for _ in range(M)]
        assert storage_full(N, M, d, k) == sum(W.numel() for version in full for W in version)
        in_adapters = sum(factor.numel() for version in adapters for pair in version for factor in pair)
        assert storage_lora(N, M, d, k, r) == sum(W.numel() for W in base) + in_adapters


def test_decoding_with_the_update_merged_and_beside_the_weight() -> None:
    for d, k, r in SHAPES:
        W, A, B = torch.randn(d, k), torch.randn(d, r), torch.randn(r, k)
        assert decoding_floats(d, k, r, merged=True) == (W + A @ B).numel()
        assert decoding_floats(d, k, r, merged=False) == W.numel() + A.numel() + B.numel()


def test_the_rank_where_each_comparison_turns() -> None:
    d, k, r, N, M, c = sympy.symbols("d k r N M c", positive=True)
    turns = d * k / (d + k)
    assert sympy.simplify(sympy.solve(sympy.Eq(r * (d + k), d * k), r)[0] - turns) == 0
    stored = sympy.Eq(N * d * k + M * N * r * (d + k), (M + 1) * N * d * k)
    assert sympy.simplify(sympy.solve(stored, r)[0] - turns) == 0
    tuned = sympy.Eq(d * k + c * r * (d + k), c * d * k)
    assert sympy.simplify(sympy.solve(tuned, r)[0] - (c - 1) / c * turns) == 0
    assert sympy.simplify(turns.subs(k, d) - d / 2) == 0


def test_the_counts_turn_at_the_break_even_rank() -> None:
    for d, k, r in itertools.product([4, 12, 30], [4, 6, 20], range(1, 20)):
        below = r < break_even_rank(d, k)
        assert (trainable_params(d, k, r) < d * k) == below
        assert (storage_lora(3, 4, d, k, r) < storage_full(3, 4, d, k)) == below
        assert (optimizer_floats("adam", d, k, r) < optimizer_floats("adam", d, k)) == (
            3 * r < 2 * break_even_rank(d, k)
        )

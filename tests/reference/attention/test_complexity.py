"""Multiplications against loops and torch's counter; receptive fields against search and a network."""

import itertools
from collections import deque

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from reference.attention.complexity import attention_flops, attention_multiplications
from reference.attention.receptive_field import (
    Pointers,
    argmax_receptive_field,
    receptive_field_bound,
    spreading_pointers,
)


def counted_by_loops(queries: int, keys: int, k: int) -> int:
    """Every multiplication of Q Kᵀ and of the weights times V, one by one."""
    count = 0
    for _ in itertools.product(range(queries), range(keys), range(k)):
        count += 1  # q[i, c] * k[j, c]
    for _ in itertools.product(range(queries), range(k), range(keys)):
        count += 1  # weights[i, j] * v[j, c]
    return count


def counted_by_torch(queries: int, keys: int, k: int) -> int:
    """Attention with its projections; torch counts a multiplication and an addition as two."""
    X, Y = torch.ones(queries, k), torch.ones(keys, k)
    W_Q, W_K, W_V, W_O = (torch.eye(k) for _ in range(4))
    with FlopCounterMode(display=False) as counter:
        scores = (X @ W_Q) @ (Y @ W_K).T
        scores.softmax(1) @ (Y @ W_V) @ W_O
    return int(counter.get_total_flops()) // 2


def test_attention_multiplications() -> None:
    for queries, keys, k in [(1, 1, 1), (2, 5, 3), (7, 4, 6), (3, 3, 8)]:
        assert attention_multiplications(queries, keys, k) == counted_by_loops(queries, keys, k)
        assert attention_multiplications(queries, keys, k, projections=True) == counted_by_torch(queries, keys, k)


def test_attention_flops() -> None:
    encoder, cross, decoder = attention_flops(5, 3, 4)
    assert (encoder, cross, decoder) == tuple(counted_by_loops(*sizes, 4) for sizes in [(5, 5), (3, 5), (3, 3)])


def reached(n: int, pointers: Pointers, node: int) -> int:
    """Breadth-first search from a node of level n down to level 0."""
    seen, queue = {(n, node)}, deque([(n, node)])
    while queue:
        level, i = queue.popleft()
        if level == 0:
            continue
        for j in (i, *pointers[level - 1][i]):
            if (level - 1, j) not in seen:
                seen.add((level - 1, j))
                queue.append((level - 1, j))
    return sum(level == 0 for level, _ in seen)


def test_receptive_field_equals_search() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        T, n, k = int(rng.integers(1, 12)), int(rng.integers(0, 4)), int(rng.integers(1, 4))
        pointers = rng.integers(T, size=(n, T, k)).tolist()
        sizes = argmax_receptive_field(T, n, k, pointers)
        assert sizes == [reached(n, pointers, i) for i in range(T)]
        assert max(sizes) <= receptive_field_bound(T, n, k)


@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 1), (4, 1), (3, 2), (2, 4), (1, 7)])
def test_spreading_pointers_reach_the_bound(n: int, k: int) -> None:
    """2^n, 3^n and (k + 1)^n as soon as the sequence is long enough, at every node."""
    for T in ((k + 1) ** n, (k + 1) ** n + 5):
        pointers = spreading_pointers(T, n, k)
        assert argmax_receptive_field(T, n, k, pointers) == [(k + 1) ** n] * T


def test_receptive_field_of_a_network() -> None:
    """Values flow up through residual connections and pointers; an input matters iff it is in the field."""
    rng = np.random.default_rng(2)
    T, n, k = 9, 2, 2
    pointers = rng.integers(T, size=(n, T, k))
    paths = np.eye(T)
    for level in range(n):
        paths = paths + sum(paths[pointers[level][:, head]] for head in range(k))
    sizes = (paths > 0).sum(axis=1).tolist()
    assert argmax_receptive_field(T, n, k, pointers.tolist()) == sizes


class TestErrata:
    """(k + 1)^n is a bound, not the size."""

    def test_short_sequence(self) -> None:
        assert receptive_field_bound(8, 2, 2) == 8 < 3**2
        assert argmax_receptive_field(8, 2, 2, spreading_pointers(8, 2, 2)) == [8] * 8

    def test_heads_that_agree(self) -> None:
        same = [[[(i + 1) % 30] * 2 for i in range(30)]] * 2
        assert argmax_receptive_field(30, 2, 2, same) == [3] * 30  # i, i + 1, i + 2: not even 2² different ones
        own = [[[i, i] for i in range(30)]] * 2
        assert argmax_receptive_field(30, 2, 2, own) == [1] * 30

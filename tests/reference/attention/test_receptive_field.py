"""reference/attention/receptive_field.py against breadth-first search and against a network."""

from collections import deque

import numpy as np
import pytest

from reference.attention.receptive_field import (
    Pointers,
    argmax_receptive_field,
    receptive_field_bound,
    spreading_pointers,
)


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


def test_random_pointers_equal_breadth_first_search() -> None:
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


def test_a_real_argmax_network_depends_on_exactly_its_receptive_field() -> None:
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

    def test_a_short_sequence_has_no_more_than_its_length(self) -> None:
        assert receptive_field_bound(8, 2, 2) == 8 < 3**2
        assert argmax_receptive_field(8, 2, 2, spreading_pointers(8, 2, 2)) == [8] * 8

    def test_heads_that_agree_or_look_at_themselves_see_less(self) -> None:
        same = [[[(i + 1) % 30] * 2 for i in range(30)]] * 2
        assert argmax_receptive_field(30, 2, 2, same) == [3] * 30  # i, i + 1, i + 2: not even 2² different ones
        own = [[[i, i] for i in range(30)]] * 2
        assert argmax_receptive_field(30, 2, 2, own) == [1] * 30

    def test_level_zero_is_one(self) -> None:
        assert argmax_receptive_field(5, 0, 3, []) == [1] * 5

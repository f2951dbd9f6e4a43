"""reference/generation/beam_search.py against every path enumerated, and against a beam search on torch topk."""

import itertools
import math
import random

import pytest
import torch

from reference.generation.beam_search import beam_search, greedy_search

Tree = dict[tuple[str, ...], dict[str, float]]


def random_tree(generator: random.Random, vocabulary: str, depth: int) -> Tree:
    tree: Tree = {}
    for length in range(depth):
        for prefix in itertools.product(vocabulary, repeat=length):
            weights = [generator.random() + 0.01 for _ in vocabulary]
            tree[prefix] = {token: w / sum(weights) for token, w in zip(vocabulary, weights, strict=True)}
    return tree


def every_path(tree: Tree, vocabulary: str, depth: int) -> list[tuple[tuple[str, ...], float]]:
    """All complete paths with their log-probabilities, best first."""
    paths = [
        (path, sum(math.log(tree[path[:t]][path[t]]) for t in range(depth)))
        for path in itertools.product(vocabulary, repeat=depth)
    ]
    return sorted(paths, key=lambda path: -path[1])


def test_wide_beam_finds_every_path() -> None:
    generator = random.Random(6)
    for vocabulary, depth in [("ab", 4), ("abc", 3), ("abcd", 2)]:
        tree = random_tree(generator, vocabulary, depth)
        found = beam_search(tree.__getitem__, len(vocabulary) ** depth, depth)
        expected = every_path(tree, vocabulary, depth)
        assert [tokens for tokens, _ in found] == [tokens for tokens, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-12)


def test_beam_search_equals_topk() -> None:
    """An independent beam search on score tensors: extend all, flatten, topk."""
    generator = random.Random(7)
    for _ in range(30):
        tree = random_tree(generator, "abcd", 4)
        k = generator.randint(1, 5)
        prefixes: list[tuple[str, ...]] = [()]
        scores = torch.zeros(1, dtype=torch.float64)
        for _ in range(4):
            table = torch.tensor([[tree[p][t] for t in "abcd"] for p in prefixes], dtype=torch.float64).log()
            flat = (scores[:, None] + table).flatten()
            scores, index = flat.topk(min(k, len(flat)))
            prefixes = [(*prefixes[int(i) // 4], "abcd"[int(i) % 4]) for i in index]
        found = beam_search(tree.__getitem__, k, 4)
        assert [tokens for tokens, _ in found] == prefixes
        assert [score for _, score in found] == pytest.approx(scores.tolist(), abs=1e-12)


def test_greedy_search() -> None:
    tree: Tree = {(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 0.5, "d": 0.5 - 1e-9}, ("b",): {"c": 0.9, "d": 0.1}}
    assert greedy_search(tree.__getitem__, 2)[0] == ("a", "c")
    assert beam_search(tree.__getitem__, 2, 2)[0][0] == ("b", "c")


def test_impossible_tokens() -> None:
    found = beam_search(lambda prefix: {"a": 0.0, "b": 1.0}, 2, 1)
    assert found == [(("b",), 0.0), (("a",), -math.inf)]


def test_no_steps() -> None:
    assert beam_search(lambda prefix: {"a": 1.0}, 3, 0) == [((), 0.0)]


def test_invalid_beam_size() -> None:
    with pytest.raises(ValueError, match="beam_size"):
        beam_search(lambda prefix: {}, 0, 1)

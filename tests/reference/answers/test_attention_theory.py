"""The answers by hand in the key of attention_theory, and every figure of its errata, computed from definitions."""

import itertools
from types import ModuleType

import numpy as np
import pytest
import sympy  # type: ignore[import-untyped]  # ships no types

from reference.attention.complexity import attention_flops
from reference.attention.receptive_field import argmax_receptive_field, receptive_field_bound, spreading_pointers
from reference.attention.relative_bias import (
    relative_bias_params,
)
from reference.transformer.positional_encoding import positional_encoding

NAME = "attention_theory"


def formula(text: str) -> sympy.Expr:
    """A formula of the key's; its names are letters, N among them."""
    names = {name: sympy.Symbol(name, positive=True) for name in ("T", "m", "k", "n", "M", "N", "x1", "p1", "x2", "p2")}
    return sympy.sympify(text, locals=names)


def value(text: str, **numbers: int) -> int:
    return int(formula(text).subs({sympy.Symbol(name, positive=True): number for name, number in numbers.items()}))


class TestPositions:
    """(a)"""

    def test_sentences_have_the_same_words(self, key: ModuleType) -> None:
        first, second = (sentence.split() for sentence in key.answers["1a.sentences"])
        assert first != second and sorted(first) == sorted(second)

    def test_inner_products_of_positions(self) -> None:
        table = positional_encoding(60, 16)
        by_distance = table[0] @ table.T
        assert by_distance.argmax() == 0 and by_distance[1] > by_distance[5]
        assert (np.diff(by_distance) > 0).any()


class TestAddingOrConcatenating:
    """(b)"""

    def test_formulas_by_hand(self, key: ModuleType) -> None:
        """With one component each, the dot products are products."""
        assert sympy.expand(formula(key.answers["1b.add"]) - formula("(x1 + p1)*(x2 + p2)")) == 0
        joined = sympy.Matrix([formula("x1"), formula("p1")]).dot(sympy.Matrix([formula("x2"), formula("p2")]))
        assert sympy.expand(formula(key.answers["1b.concat"]) - joined) == 0


class TestBiases:
    """(c)"""

    def test_counts_by_hand(self, key: ModuleType) -> None:
        for T, m in itertools.product(range(1, 9), (1, 4)):
            differences = {i - j for i in range(T) for j in range(T)}
            assert value(key.answers["1c.ii"], T=T, m=m) == len(differences) * m == relative_bias_params(T, m)
            assert value("(2*(T - 1) + 1)*m", T=T, m=m) == len(differences) * m  # as printed
            for k in range(T):
                clipped = {max(-k, min(k, difference)) for difference in differences}
                assert value(key.answers["1c.ii.clipped"], k=k, m=m) == len(clipped) * m
            assert relative_bias_params(T, m, clip=T + 3) == len(differences) * m


class TestReceptiveField:
    """(e)"""

    @pytest.mark.parametrize(("answer", "heads"), [("1e.one", 1), ("1e.two", 2), ("1e.k", 3), ("1e.k", 4)])
    def test_formulas_in_long_sequences(self, key: ModuleType, answer: str, heads: int) -> None:
        for n in range(4):
            T = (heads + 1) ** n + 1
            sizes = argmax_receptive_field(T, n, heads, spreading_pointers(T, n, heads))
            assert sizes == [value(key.answers[answer], n=n, k=heads)] * T

    def test_printed_formula_is_a_bound(self, key: ModuleType) -> None:
        """T = 8, n = 2, k = 2: 9 by the formula, 8 inputs; the largest field over random pointers is 8 as well."""
        assert value(key.answers["1e.two"], n=2) == 9
        assert receptive_field_bound(8, 2, 2) == key.answers["1e.bound"] == 8
        rng = np.random.default_rng(5)
        draws = (rng.integers(8, size=(2, 8, 2)).tolist() for _ in range(300))
        largest = max(max(argmax_receptive_field(8, 2, 2, pointers)) for pointers in draws)
        assert largest == 8


def test_orders_by_hand(key: ModuleType) -> None:
    """(f): the count over the order tends to a constant, and with projections as well while the lengths outgrow k."""
    for position, part in enumerate(("encoder", "cross", "decoder")):
        order = key.answers[f"1f.{part}"].removeprefix("O(").removesuffix(")")
        for M, N, k in [(3, 5, 7), (40, 30, 2)]:
            assert attention_flops(M, N, k)[position] == 2 * value(order, M=M, N=N, k=k)
        M, N, k = 10**7, 10**7, 3
        with_projections = attention_flops(M, N, k, projections=True)[position]
        assert with_projections / value(order, M=M, N=N, k=k) == pytest.approx(2, rel=1e-5)


def test_choices(key: ModuleType) -> None:
    """(g), (h), (i)"""
    assert key.answers["1g"] == "False" and key.answers["1h"] == "first"
    models = {task: key.answers[f"1i.{task}"] for task in ("summary", "sentiment", "retrieval", "translation")}
    assert [task for task, model in models.items() if model == "encoder-decoder"] == ["summary", "translation"]
    assert [task for task, model in models.items() if model == "encoder"] == ["sentiment", "retrieval"]

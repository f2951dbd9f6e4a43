"""The answers by hand in the key of attention_theory, and every figure of its errata, computed from definitions."""

import importlib.util
import itertools
import math
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import sympy

from reference.attention.complexity import attention_flops
from reference.attention.position_terms import cross_terms
from reference.attention.receptive_field import argmax_receptive_field, receptive_field_bound, spreading_pointers
from reference.attention.relative_bias import (
    attention_with_bias,
    position_bias,
    relative_bias_params,
    unnormalised_attention_with_bias,
)
from reference.attention.self_attention import self_attention
from reference.transformer.positional_encoding import positional_encoding

ROOT = Path(__file__).parents[3]
ASSIGNMENT = ROOT / "assignments" / "attention_theory"
HANDOUT = (ASSIGNMENT / "handout.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def key() -> ModuleType:
    path = ROOT / "graders" / "attention_theory" / "key.py"
    spec = importlib.util.spec_from_file_location("attention_theory_key", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def formula(text: str) -> sympy.Expr:
    """A formula of the key's; its names are letters, N among them."""
    names = {name: sympy.Symbol(name, positive=True) for name in ("T", "m", "k", "n", "M", "N", "x1", "p1", "x2", "p2")}
    return sympy.sympify(text, locals=names)


def value(text: str, **numbers: int) -> int:
    return int(formula(text).subs({sympy.Symbol(name, positive=True): number for name, number in numbers.items()}))


class TestPositions:
    """(a)"""

    def test_the_two_sentences_have_the_same_words(self, key: ModuleType) -> None:
        first, second = (sentence.split() for sentence in key.answers["1a.sentences"])
        assert first != second and sorted(first) == sorted(second)

    def test_inner_products_are_largest_for_equal_positions_but_do_not_fall_with_every_step(self) -> None:
        table = positional_encoding(60, 16)
        by_distance = table[0] @ table.T
        assert by_distance.argmax() == 0 and by_distance[1] > by_distance[5]
        assert (np.diff(by_distance) > 0).any()

    def test_a_causal_mask_alone_breaks_the_symmetry(self) -> None:
        """Why the tests of question 1a have no mask."""
        rng = np.random.default_rng(1)
        X, (W_Q, W_K, W_V) = rng.standard_normal((4, 3)), rng.standard_normal((3, 3, 3))
        order = [2, 0, 3, 1]
        for causal, alike in [(False, True), (True, False)]:
            permuted = self_attention(X[order], W_Q, W_K, W_V, causal=causal)
            same = np.allclose(permuted, self_attention(X, W_Q, W_K, W_V, causal=causal)[order])
            assert same is alike


class TestAddingOrConcatenating:
    """(b)"""

    def test_formulas_by_hand(self, key: ModuleType) -> None:
        """With one component each, the dot products are products."""
        assert sympy.expand(formula(key.answers["1b.add"]) - formula("(x1 + p1)*(x2 + p2)")) == 0
        joined = sympy.Matrix([formula("x1"), formula("p1")]).dot(sympy.Matrix([formula("x2"), formula("p2")]))
        assert sympy.expand(formula(key.answers["1b.concat"]) - joined) == 0

    def test_cross_terms_are_smaller_than_a_word_with_itself_by_the_root_of_two_over_d(self) -> None:
        rng = np.random.default_rng(2)
        d = 64
        draws = rng.standard_normal((20_000, 4, d))
        terms = np.array([cross_terms(*vectors) for vectors in draws])
        with_itself = (draws[:, 0] ** 2).sum(axis=1).mean()
        assert abs(terms.mean()) < 5 * math.sqrt(2 * d / len(terms))
        assert with_itself == pytest.approx(d, rel=0.01)
        assert terms.std() / with_itself == pytest.approx(math.sqrt(2 / d), rel=0.03)
        assert round(math.sqrt(2 / d), 2) == 0.18


class TestBiases:
    """(c)"""

    def test_printed_formula_returns_the_normaliser_for_values_of_one(self) -> None:
        rng = np.random.default_rng(3)
        Q, K, Pi = rng.standard_normal((3, 2)), rng.standard_normal((4, 2)), rng.standard_normal((3, 4))
        ones = np.ones((4, 1))
        np.testing.assert_allclose(attention_with_bias(Q, K, ones, Pi), 1)
        printed = unnormalised_attention_with_bias(Q, K, ones, Pi)[:, 0]
        by_hand = [sum(math.exp(Q[i] @ K[j] + Pi[i, j]) for j in range(4)) for i in range(3)]
        np.testing.assert_allclose(printed, by_hand)

    def test_with_a_scale_the_bias_is_divided_by_it(self) -> None:
        rng = np.random.default_rng(4)
        d, d_pos = 3, 5
        Q, K, V = rng.standard_normal((4, d)), rng.standard_normal((4, d)), rng.standard_normal((4, 2))
        Q_pos, K_pos = rng.standard_normal((4, d_pos)), rng.standard_normal((4, d_pos))
        wide, none = (np.hstack([Q, Q_pos]), np.hstack([K, K_pos])), np.zeros((4, 4))
        Pi = position_bias(Q_pos, K_pos)
        at_old_scale = attention_with_bias(*wide, V, none, scale=d**-0.5)
        np.testing.assert_allclose(attention_with_bias(Q, K, V, Pi / math.sqrt(d), scale=d**-0.5), at_old_scale)
        for other in (attention_with_bias(*wide, V, none, scale=(d + d_pos) ** -0.5), attention_with_bias(Q, K, V, Pi)):
            assert np.abs(other - at_old_scale).max() > 1e-2

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
    def test_formulas_hold_in_long_sequences(self, key: ModuleType, answer: str, heads: int) -> None:
        for n in range(4):
            T = (heads + 1) ** n + 1
            sizes = argmax_receptive_field(T, n, heads, spreading_pointers(T, n, heads))
            assert sizes == [value(key.answers[answer], n=n, k=heads)] * T

    def test_the_printed_formula_is_a_bound(self, key: ModuleType) -> None:
        """T = 8, n = 2, k = 2: 9 by the formula, 8 inputs; the largest field over random pointers is 8 as well."""
        assert value(key.answers["1e.two"], n=2) == 9
        assert receptive_field_bound(8, 2, 2) == key.answers["1e.bound"] == 8
        rng = np.random.default_rng(5)
        draws = (rng.integers(8, size=(2, 8, 2)).tolist() for _ in range(300))
        largest = max(max(argmax_receptive_field(8, 2, 2, pointers)) for pointers in draws)
        assert largest == 8

    def test_heads_that_agree_see_three_inputs(self) -> None:
        pointers = [[[(i + 1) % 20] * 2 for i in range(20)]] * 2
        assert argmax_receptive_field(20, 2, 2, pointers) == [3] * 20


def test_orders_by_hand_are_the_leading_terms_of_the_counts(key: ModuleType) -> None:
    """(f): the count over the order tends to a constant, and with projections as well while the lengths outgrow k."""
    for position, part in enumerate(("encoder", "cross", "decoder")):
        order = key.answers[f"1f.{part}"].removeprefix("O(").removesuffix(")")
        for M, N, k in [(3, 5, 7), (40, 30, 2)]:
            assert attention_flops(M, N, k)[position] == 2 * value(order, M=M, N=N, k=k)
        M, N, k = 10**7, 10**7, 3
        with_projections = attention_flops(M, N, k, projections=True)[position]
        assert with_projections / value(order, M=M, N=N, k=k) == pytest.approx(2, rel=1e-5)


def test_choices_are_those_of_the_source_and_the_missing_one(key: ModuleType) -> None:
    """(g), (h), (i)"""
    assert key.answers["1g"] == "False" and key.answers["1h"] == "first"
    models = {task: key.answers[f"1i.{task}"] for task in ("summary", "sentiment", "retrieval", "translation")}
    assert [task for task, model in models.items() if model == "encoder-decoder"] == ["summary", "translation"]
    assert [task for task, model in models.items() if model == "encoder"] == ["sentiment", "retrieval"]


def test_every_answer_is_asked_for_and_every_function_is_in_the_starter(key: ModuleType) -> None:
    starter = ASSIGNMENT / "starter"
    functions = re.findall(r"^def (\w+)", (starter / "solution.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(functions) == 10 and all(callable(getattr(key, name)) for name in functions)
    assert all(f"`{name}(" in HANDOUT for name in functions)
    by_hand, _ = (starter / "answers.yaml").read_text(encoding="utf-8").split("written:")
    answers = re.findall(r'^  "(.+?)":', by_hand, re.MULTILINE)
    assert answers == list(key.answers)
    assert all(f"`{name}`" in HANDOUT or f"`{name}:" in HANDOUT for name in answers)
    notebook = (starter / "attention_theory.ipynb").read_text(encoding="utf-8")
    assert all(f"def {name}(" in notebook for name in functions)
    assert all(f'\\"{name}\\": None' in notebook for name in key.answers)

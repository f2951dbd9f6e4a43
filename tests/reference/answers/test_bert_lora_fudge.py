"""The answers by hand in the key of bert_lora_fudge, and the figures of its errata, computed again."""

import itertools
import math
import re
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sympy  # type: ignore[import-untyped]  # ships no types
import torch

from reference.adaptation.adapter_registry import AdapterRegistry
from reference.adaptation.lora import LoRALinear, merge
from reference.adaptation.storage import (
    break_even_rank,
    decoding_floats,
    optimizer_floats,
    storage_full,
    storage_lora,
    trainable_params,
)
from reference.bert.cross_entropy import log_softmax
from reference.bert.question_answering import merge_spans, sliding_windows
from reference.bert.sentence_classifier import classifier_parameters
from reference.generation.fudge import (
    make_prefix_dataset,
    train_prefix_classifier,
)
from reference.generation.posterior import best_of_n_distribution, posterior, total_variation
from reference.pretraining.mlm import corruption_shares
from tests.reference.answers.conftest import ROOT

NAME = "bert_lora_fudge"
ERRATA = " ".join((ROOT / "assignments" / NAME / "errata.md").read_text(encoding="utf-8").split())

P = np.array([0.45, 0.3, 0.2, 0.05])
P_A = np.array([0.1, 0.6, 0.2, 0.9])


def value(key: ModuleType, question: str, **sizes: int) -> Any:
    return sympy.sympify(key.answers[question], locals={name: sympy.Symbol(name) for name in "dkrNM"}).subs(sizes)


def test_formulas_have_the_values_of_the_references(key: ModuleType) -> None:
    for d, k, r, N, M in [(4, 6, 2, 3, 5), (768, 768, 8, 12, 52), (5, 3, 4, 1, 0)]:
        sizes = {"d": d, "k": k, "r": r, "N": N, "M": M}
        assert value(key, "2b.trainable", **sizes) == value(key, "2c.per_task", **sizes) == trainable_params(d, k, r)
        assert value(key, "2b.adam_full", **sizes) == optimizer_floats("adam", d, k)
        assert value(key, "2b.adam_lora", **sizes) == optimizer_floats("adam", d, k, r)
        assert float(value(key, "2b.break_even", **sizes)) == pytest.approx(break_even_rank(d, k))
        assert value(key, "2c.inference", **sizes) == decoding_floats(d, k, r, merged=True)
        assert value(key, "2d.ii", **sizes) == storage_lora(N, M, d, k, r)
        assert value(key, "2d.iii.full", **sizes) == storage_full(N, M, d, k)
        saved = storage_full(N, M, d, k) - storage_lora(N, M, d, k, r)
        assert value(key, "2d.iii.saving", **sizes) == saved


def test_memory_table() -> None:
    d = k = 768
    full_size, factors = d * k, trainable_params(d, k, 8)
    assert f"W has {full_size:,} parameters and the factors have {factors:,}" in ERRATA
    assert f"ratio is {factors / full_size:.3f}" in ERRATA
    for label, kind, gradients in [
        ("SGD with momentum", "sgd", False),
        ("Adam", "adam", False),
        ("Adam, with gradients", "adam", True),
    ]:
        full, lora = optimizer_floats(kind, d, k, None, gradients), optimizer_floats(kind, d, k, 8, gradients)
        copies = full // full_size
        assert f"| {label} | {copies} | {full:,} | {lora:,} | {lora / full:.3f} |" in ERRATA
        assert lora / full > 1 / copies
    assert break_even_rank(d, k) == 384 and trainable_params(d, k, 768) == 2 * full_size
    assert optimizer_floats("adam", d, k, 255) < optimizer_floats("adam", d, k) <= optimizer_floats("adam", d, k, 256)


def test_storage_ratio() -> None:
    """A26: r(d + k)/(dk), and not 0; more than 1 at a large rank."""
    N, M, d, k, r = sympy.symbols("N M d k r", positive=True)
    ratio = (N * d * k + M * N * r * (d + k)) / ((M + 1) * N * d * k)
    assert sympy.simplify(sympy.limit(ratio, M, sympy.oo) - r * (d + k) / (d * k)) == 0
    assert storage_lora(3, 10, 8, 8, 4) == storage_full(3, 10, 8, 8)
    assert storage_lora(3, 10, 8, 8, 5) > storage_full(3, 10, 8, 8)


def test_subtracting_a_merged_update() -> None:
    rng = np.random.default_rng(0)
    W, A, B = (rng.standard_normal(shape) for shape in ((400, 300), (400, 8), (8, 300)))
    back = merge(merge(W, A, B, 2.0), A, B, -2.0)
    assert f"{(back != W).mean():.0%}".replace("%", " %") in re.findall(r"in (\d+ %) of the elements", ERRATA)
    registry = AdapterRegistry(W)
    registry.accept(A, B, 2.0)
    registry.revert()
    assert np.array_equal(registry.weight(), W)


def test_first_step_of_adam() -> None:
    rng = np.random.default_rng(1)
    layer = LoRALinear(rng.standard_normal((5, 7)), 2, 2.0, rng)
    B = torch.nn.Parameter(torch.from_numpy(layer.B.copy()))
    optimizer = torch.optim.Adam([B], lr=0.01)
    B.grad = torch.from_numpy(layer.gradients(rng.standard_normal((4, 7)), rng.standard_normal((4, 5)))[1])
    optimizer.step()
    np.testing.assert_allclose(B.detach().abs().numpy(), 0.01, rtol=1e-5)


def test_best_of_n_figures() -> None:
    """A27: 0.376, 0.057, 0.817, 0.855; the limit is the sentence of the highest p(a given x), not the mode."""
    exact = posterior(P, P_A)
    assert float(P @ P_A) == pytest.approx(0.31)
    assert ", ".join(f"{p:.3f}" for p in exact) in ERRATA
    for n, printed in [(1, "0.376"), (3, "0.057"), (64, "0.817"), (4096, "0.855")]:
        assert f"{total_variation(best_of_n_distribution(P, P_A, n), exact):.3f}" == printed and printed in ERRATA
    assert best_of_n_distribution(P, P_A, 4096)[3] > 0.999 and exact.argmax() == 1


def test_resampling_figures() -> None:
    """Exactly: the mean over every possible pool of n samples."""
    printed = re.findall(r"has ([\d.]+), ([\d.]+) and ([\d.]+) for n = 1, 8 and 32", ERRATA)
    assert len(printed) == 1
    for n, figure in zip((1, 8, 32), printed[0], strict=True):
        drawn = np.zeros(4)
        for first, second, third in itertools.product(range(n + 1), repeat=3):
            if (fourth := n - first - second - third) < 0:
                continue
            counts = np.array([first, second, third, fourth])
            ways = math.factorial(n) / math.prod(math.factorial(count) for count in counts.tolist())
            drawn += ways * float(np.prod(P**counts)) * posterior(counts, P_A)
        assert f"{total_variation(drawn, posterior(P, P_A)):.3f}" == figure


def test_no_negative_examples() -> None:
    """The sentence "optionally, include negative prefixes": with one label the exact classifier says 1 everywhere."""
    sentences = [["good", "film"], ["bad", "film"], ["good", "bad"]]
    classify = train_prefix_classifier(make_prefix_dataset(sentences, [1, 1, 1]), smoothing=1e-12)
    assert all(classify(tuple(prefix)) > 1 - 1e-6 for prefix in ([], ["good"], ["bad"], ["bad", "film"]))


def test_corruption_shares(key: ModuleType) -> None:
    """12 %, 1.5 % and 1.5 % of all tokens; in BERT's vocabulary a random token is the original once in 30,522."""
    by_hand = [key.answers[f"1a.ii.{fate}"] for fate in ("mask", "random", "kept")]
    assert by_hand == pytest.approx(corruption_shares(), abs=1e-12)
    assert [Fraction(15, 100) * Fraction(share, 10) for share in (8, 1, 1)] == [Fraction(str(x)) for x in by_hand]
    unchanged = by_hand[2] + by_hand[1] / 30_522
    assert f"{unchanged:.5%}" == "1.50005%" and "1.50005 %" in ERRATA


def test_tokens_in_a_text_of_512(key: ModuleType) -> None:
    """76.8 of 512 tokens are selected on average, 61.4 of them [MASK]."""
    assert round(0.15 * 512, 1) == 76.8 and round(key.answers["1a.ii.mask"] * 512, 1) == 61.4
    assert "76.8" in ERRATA and "61.4" in ERRATA


def test_parameters_of_classifier_and_pooler(key: ModuleType) -> None:
    for d in (1, 8, 768):
        assert eval(key.answers["1c"], {"d": d}) == classifier_parameters(d)
    pooler, head = (sum(p.numel() for p in torch.nn.Linear(768, n).parameters()) for n in (768, 2))
    assert (pooler, head) == (590_592, 1_538) == (768**2 + 768, classifier_parameters(768))
    assert "590,592" in ERRATA and "1,538" in ERRATA


def test_gibbs_sampling_keeps_the_distribution() -> None:
    """One sweep of "mask a token, draw it again" leaves p as it is: the sampler is slow, its limit is right."""
    p = np.random.default_rng(49).dirichlet(np.ones(27)).reshape(3, 3, 3)
    q = p.copy()
    for t in range(3):
        conditional = p / p.sum(axis=t, keepdims=True)
        q = q.sum(axis=t, keepdims=True) * conditional
    np.testing.assert_allclose(q, p, atol=1e-15)
    uniform = np.full((3, 3, 3), 1 / 27)
    for _ in range(200):
        for t in range(3):
            uniform = uniform.sum(axis=t, keepdims=True) * p / p.sum(axis=t, keepdims=True)
    np.testing.assert_allclose(uniform, p, atol=1e-9)


def test_probabilities_of_two_windows() -> None:
    """The example of the errata: the sum of logits prefers the first window, softmax in each window the second."""
    windows = [(0, 3), (2, 5)]
    start: list[list[float]] = [[0, 7, 6.5], [6, 1, 0]]
    end: list[list[float]] = [[6, 5.5, 0], [6, 0, 1]]
    assert merge_spans(windows, start, end) == (1, 1)
    normalised = [[log_softmax(row) for row in side] for side in (start, end)]
    assert merge_spans(windows, *normalised) == (2, 2)
    # log-softmax over all tokens of both windows at once keeps the order of the sums
    shared = [np.split(log_softmax(np.concatenate(side)), 2) for side in (start, end)]
    assert merge_spans(windows, *shared) == (1, 1)


def test_windows_of_a_long_passage() -> None:
    """384 positions, a question of 20 tokens, a passage of 1,000: 361 passage tokens in a window."""
    room = 384 - 20 - 3
    windows = sliding_windows(1000, room, 128)
    assert (room, len(windows)) == (361, 6) and all(last - first <= room for first, last in windows)
    overlaps = {end - first for (_, end), (first, _) in itertools.pairwise(windows)}
    assert overlaps == {233}
    assert len(sliding_windows(1000, room, room - 128)) == 4  # 128 as the overlap, as in Hugging Face's tokenizers
    assert "6 windows" in ERRATA and "4 windows" in ERRATA and "361" in ERRATA

"""Questions 2 and 3 of bert_lora_fudge: its answers by hand, and every figure of its errata, computed again."""

import importlib.util
import itertools
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sympy
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
from reference.generation.fudge import (
    exact_prefix_classifier,
    fudge_distribution,
    make_prefix_dataset,
    sentence_probabilities,
    train_prefix_classifier,
)
from reference.generation.posterior import best_of_n_distribution, posterior, total_variation

ROOT = Path(__file__).parents[3]
HERE = ROOT / "assignments" / "bert_lora_fudge"
ERRATA = " ".join((HERE / "errata.md").read_text(encoding="utf-8").split())
HANDOUT = (HERE / "handout.md").read_text(encoding="utf-8")

P = np.array([0.45, 0.3, 0.2, 0.05])
P_A = np.array([0.1, 0.6, 0.2, 0.9])


@pytest.fixture(scope="module")
def key() -> ModuleType:
    path = ROOT / "graders" / "bert_lora_fudge" / "key.py"
    spec = importlib.util.spec_from_file_location("bert_lora_fudge_key", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value(key: ModuleType, question: str, **sizes: int) -> Any:
    return sympy.sympify(key.answers[question], locals={name: sympy.Symbol(name) for name in "dkrNM"}).subs(sizes)


def test_formulas_give_what_the_references_count(key: ModuleType) -> None:
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


def test_the_formulas_that_are_accepted_as_well(key: ModuleType) -> None:
    """A24 and A25: gradients counted or not, ΔW merged or next to W."""
    d, k, r = sympy.symbols("d k r")
    for gradients in (False, True):
        copies = 3 + gradients
        assert sympy.expand(d * k + copies * r * (d + k)) == sympy.expand(optimizer_floats("adam", d, k, r, gradients))
        assert optimizer_floats("adam", d, k, None, gradients) == copies * d * k
    assert sympy.expand(decoding_floats(d, k, r, merged=False) - (d * k + r * (d + k))) == 0


def test_the_memory_of_the_table() -> None:
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


def test_the_ratio_of_the_storages_tends_to_that_of_one_version() -> None:
    """A26: r(d + k)/(dk), and not 0; more than 1 at a large rank."""
    N, M, d, k, r = sympy.symbols("N M d k r", positive=True)
    ratio = (N * d * k + M * N * r * (d + k)) / ((M + 1) * N * d * k)
    assert sympy.simplify(sympy.limit(ratio, M, sympy.oo) - r * (d + k) / (d * k)) == 0
    assert storage_lora(3, 10, 8, 8, 4) == storage_full(3, 10, 8, 8)
    assert storage_lora(3, 10, 8, 8, 5) > storage_full(3, 10, 8, 8)


def test_subtracting_a_merged_update_leaves_errors_in_30_per_cent() -> None:
    rng = np.random.default_rng(0)
    W, A, B = (rng.standard_normal(shape) for shape in ((400, 300), (400, 8), (8, 300)))
    back = merge(merge(W, A, B, 2.0), A, B, -2.0)
    assert f"{(back != W).mean():.0%}".replace("%", " %") in re.findall(r"in (\d+ %) of the elements", ERRATA)
    registry = AdapterRegistry(W)
    registry.accept(A, B, 2.0)
    registry.revert()
    assert np.array_equal(registry.weight(), W)


def test_either_factor_may_be_the_zero_one() -> None:
    """A22, A23: exactly W at the start and exactly one zero gradient, with the source's choice and the paper's."""
    torch.manual_seed(0)
    W, x = torch.randn(5, 7), torch.randn(4, 7)
    for near_output, near_input in [(torch.randn(5, 2), torch.zeros(2, 7)), (torch.zeros(5, 2), torch.randn(2, 7))]:
        factors = [near_output.requires_grad_(), near_input.requires_grad_()]
        output = x @ (W + 3.0 * near_output @ near_input).T
        assert torch.equal(output, x @ W.T)
        output.sum().backward()
        zero = [not factor.any() for factor in factors]
        assert [bool((factor.grad != 0).any()) for factor in factors if factor.grad is not None] == zero


def test_adams_first_step_moves_the_zero_factor_by_the_learning_rate() -> None:
    rng = np.random.default_rng(1)
    layer = LoRALinear(rng.standard_normal((5, 7)), 2, 2.0, rng)
    B = torch.nn.Parameter(torch.from_numpy(layer.B.copy()))
    optimizer = torch.optim.Adam([B], lr=0.01)
    B.grad = torch.from_numpy(layer.gradients(rng.standard_normal((4, 7)), rng.standard_normal((4, 5)))[1])
    optimizer.step()
    np.testing.assert_allclose(B.detach().abs().numpy(), 0.01, rtol=1e-5)


def test_the_figures_of_best_of_n() -> None:
    """A27: 0.376, 0.057, 0.817, 0.855; the limit is the sentence of the highest p(a given x), not the mode."""
    exact = posterior(P, P_A)
    assert float(P @ P_A) == pytest.approx(0.31)
    assert ", ".join(f"{p:.3f}" for p in exact) in ERRATA
    for n, printed in [(1, "0.376"), (3, "0.057"), (64, "0.817"), (4096, "0.855")]:
        assert f"{total_variation(best_of_n_distribution(P, P_A, n), exact):.3f}" == printed and printed in ERRATA
    assert best_of_n_distribution(P, P_A, 4096)[3] > 0.999 and exact.argmax() == 1


def test_the_figures_of_resampling() -> None:
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


def test_token_by_token_is_exact_on_81_sentences() -> None:
    """A28."""
    rng = np.random.default_rng(2)
    model = {
        prefix: dict(zip("abc", rng.dirichlet(np.ones(3)).tolist(), strict=True))
        for length in range(4)
        for prefix in itertools.product("abc", repeat=length)
    }
    p_lm = sentence_probabilities(model.__getitem__, 4)
    p_a = {sentence: float(rng.random()) for sentence in p_lm}
    tokenwise = fudge_distribution(model.__getitem__, exact_prefix_classifier(p_lm, p_a), 4)
    whole = posterior(list(p_lm.values()), list(p_a.values()))
    assert len(p_lm) == 81 and max(abs(tokenwise[x] - w) for x, w in zip(p_lm, whole, strict=True)) < 1e-15


def test_without_negative_examples_nothing_is_steered() -> None:
    """The sentence "optionally, include negative prefixes": with one label the exact classifier says 1 everywhere."""
    sentences = [["good", "film"], ["bad", "film"], ["good", "bad"]]
    classify = train_prefix_classifier(make_prefix_dataset(sentences, [1, 1, 1]), smoothing=1e-12)
    assert all(classify(tuple(prefix)) > 1 - 1e-6 for prefix in ([], ["good"], ["bad"], ["bad", "film"]))


def test_every_answer_is_asked_for_and_every_function_is_in_the_starter(key: ModuleType) -> None:
    source = (HERE / "starter" / "solution.py").read_text(encoding="utf-8")
    names = re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)
    assert all(callable(getattr(key, name)) for name in names)
    assert all(f"`{name}(" in HANDOUT for name in names)
    by_hand, _ = (HERE / "starter" / "answers.yaml").read_text(encoding="utf-8").split("written:")
    answers = re.findall(r'^  "(.+?)":', by_hand, re.MULTILINE)
    assert answers == list(key.answers) and all(f"`{name}`" in HANDOUT for name in answers)
    notebook = (HERE / "starter" / "bert_lora_fudge.ipynb").read_text(encoding="utf-8")
    assert all(re.search(rf"(?:def|class) {name}\b", notebook) for name in names)
    assert all(f'\\"{name}\\": None' in notebook for name in key.answers)

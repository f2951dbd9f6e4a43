"""Question 1 of bert_lora_fudge: its answers by hand and the figures of its errata, computed again."""

import importlib.util
import itertools
import math
import re
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from reference.bert.cross_entropy import log_softmax
from reference.bert.question_answering import merge_spans, sliding_windows
from reference.bert.sentence_classifier import classifier_parameters
from reference.pretraining.mlm import corruption_shares
from reference.pretraining.pseudo_likelihood import MASK, log_likelihood, pseudo_log_likelihood

ROOT = Path(__file__).parents[3]
ASSIGNMENT = ROOT / "assignments" / "bert_lora_fudge"
HANDOUT = (ASSIGNMENT / "handout.md").read_text(encoding="utf-8")
ERRATA = (ASSIGNMENT / "errata.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def key() -> ModuleType:
    path = ROOT / "graders" / "bert_lora_fudge" / "key.py"
    spec = importlib.util.spec_from_file_location("bert_lora_fudge_key", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shares_of_all_tokens(key: ModuleType) -> None:
    """12 %, 1.5 % and 1.5 % of all tokens; in BERT's vocabulary a random token is the original once in 30,522."""
    by_hand = [key.answers[f"1a.ii.{fate}"] for fate in ("mask", "random", "kept")]
    assert by_hand == pytest.approx(corruption_shares(), abs=1e-12)
    assert [Fraction(15, 100) * Fraction(share, 10) for share in (8, 1, 1)] == [Fraction(str(x)) for x in by_hand]
    unchanged = by_hand[2] + by_hand[1] / 30_522
    assert f"{unchanged:.5%}" == "1.50005%" and "1.50005 %" in ERRATA


def test_tokens_that_count_in_a_text_of_512(key: ModuleType) -> None:
    """76.8 of 512 tokens are selected on average, 61.4 of them [MASK]."""
    assert round(0.15 * 512, 1) == 76.8 and round(key.answers["1a.ii.mask"] * 512, 1) == 61.4
    assert "76.8" in ERRATA and "61.4" in ERRATA


def test_parameters_of_classifier_and_pooler(key: ModuleType) -> None:
    for d in (1, 8, 768):
        assert eval(key.answers["1c"], {"d": d}) == classifier_parameters(d)
    pooler, head = (sum(p.numel() for p in torch.nn.Linear(768, n).parameters()) for n in (768, 2))
    assert (pooler, head) == (590_592, 1_538) == (768**2 + 768, classifier_parameters(768))
    assert "590,592" in ERRATA and "1,538" in ERRATA


def test_pseudo_likelihoods_of_two_sentences_sum_to_two() -> None:
    """A language of "a a" and "b b" and a masked model without error: each token gives the other away."""
    p = {("a", "a"): 0.5, ("b", "b"): 0.5, ("a", "b"): 0.0, ("b", "a"): 0.0}

    def fill(tokens: list[str]) -> list[dict[str, float]]:
        t = tokens.index(MASK)
        options = {word: p[(word, tokens[1]) if t == 0 else (tokens[0], word)] for word in "ab"}
        return [{word: mass / sum(options.values()) for word, mass in options.items()}] * 2

    def step(prefix: list[str]) -> dict[str, float]:
        return {word: float(word == prefix[0]) if prefix else 0.5 for word in "ab"}

    possible = [sentence for sentence, mass in p.items() if mass > 0]
    assert sum(math.exp(log_likelihood(step, sentence)) for sentence in possible) == pytest.approx(1)
    assert [math.exp(pseudo_log_likelihood(fill, sentence)) for sentence in possible] == [1.0, 1.0]


def test_gibbs_sampling_with_exact_conditionals_keeps_the_distribution() -> None:
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


def test_probabilities_of_two_windows_cannot_be_compared() -> None:
    """The example of the errata: the sum of logits prefers the first window, softmax in each window the second."""
    windows, start, end = [(0, 3), (2, 5)], [[0, 7, 6.5], [6, 1, 0]], [[6, 5.5, 0], [6, 0, 1]]
    assert merge_spans(windows, start, end) == (1, 1)
    normalised = [[log_softmax(row) for row in side] for side in (start, end)]
    assert merge_spans(windows, *normalised) == (2, 2)
    # log-softmax over all tokens of both windows at once keeps the order of the sums
    shared = [np.split(log_softmax(np.concatenate(side)), 2) for side in (start, end)]
    assert merge_spans(windows, *shared) == (1, 1)


def test_what_a_long_passage_costs() -> None:
    """384 positions, a question of 20 tokens, a passage of 1,000: 361 passage tokens in a window."""
    room = 384 - 20 - 3
    windows = sliding_windows(1000, room, 128)
    assert (room, len(windows)) == (361, 6) and all(last - first <= room for first, last in windows)
    overlaps = {end - first for (_, end), (first, _) in itertools.pairwise(windows)}
    assert overlaps == {233}
    assert len(sliding_windows(1000, room, room - 128)) == 4  # 128 as the overlap, as in Hugging Face's tokenizers
    assert "6 windows" in ERRATA and "4 windows" in ERRATA and "361" in ERRATA


def test_every_question_has_its_place_in_handout_starter_and_key(key: ModuleType) -> None:
    starter = (ASSIGNMENT / "starter" / "solution.py").read_text(encoding="utf-8")
    section = starter[starter.index("# Question 1a.i\n") : starter.index("# Question 2a\n")]
    functions = re.findall(r"^def (\w+)", section, re.MULTILINE)
    assert len(functions) == 16 and all(callable(getattr(key, name)) for name in functions)
    assert all(f"`{name}(" in HANDOUT for name in functions)
    answers = (ASSIGNMENT / "starter" / "answers.yaml").read_text(encoding="utf-8")
    by_hand, written = (re.findall(r'^  "(1.+?)":', part, re.MULTILINE) for part in answers.split("written:"))
    assert by_hand == [name for name in key.answers if name.startswith("1")]
    assert all(f"(`{name}`)" in HANDOUT for name in by_hand + written)

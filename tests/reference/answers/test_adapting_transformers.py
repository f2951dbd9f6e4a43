"""The answers by hand in the key of adapting_transformers, and the claims of its errata, computed again."""

import math
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from reference.adaptation.model_selection import accuracy_deviation, learned_threshold, select_best
from reference.adaptation.parameter_counts import (
    dense_head_params,
    head_params,
    key_value_prefix_params,
    lora_params,
    prefix_params,
)
from reference.attention.hard_attention import hard_attention
from reference.attention.scaled_dot_product import qk_moments
from reference.attention.superposition import averaging_weight, extraction_matrix
from tests.reference.answers.conftest import ROOT
from viva.plugins.training.audits import audit_runs, right_answers

NAME = "adapting_transformers"
ASSIGNMENT = ROOT / "assignments" / NAME
HANDOUT = (ASSIGNMENT / "handout.md").read_text(encoding="utf-8")
ERRATA = (ASSIGNMENT / "errata.md").read_text(encoding="utf-8")
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "film", "it", "was", "long", "hey", "!"]
DEV, TEST, MAJORITY = 3270, 1427, 2033 / 3270
SWEEP = {1: (0.6217125382262997, 0.6271899088997898), 2: (0.6217125382262997, 0.6194814295725298),
         3: (0.6217125382262997, 0.6187806587245971), 4: (0.6217125382262997, 0.5998598458304134)}  # fmt: skip
"""Dev and test accuracies of the source's four runs."""


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    library: Any = transformers
    return library.BertTokenizerFast(vocab={token: place for place, token in enumerate(VOCABULARY)})


def printed(text: str) -> list[list[float]]:
    """The vectors that a sentence of the handout prints."""
    return [[float(x.replace("−", "-")) for x in v.split(",")] for v in re.findall(r"\(([−\d, .]+,[−\d, .]+)\)", text)]


def test_packed_pair(key: ModuleType, tokenizer: Any) -> None:
    """1.1: the option C lacks the second one."""
    packed = tokenizer("good film", "it was long")
    tokens = tokenizer.convert_ids_to_tokens(packed["input_ids"])
    text = " ".join(tokens).replace("good film", "Tokens-of-sentence-1").replace("it was long", "Tokens-of-sentence-2")
    assert text == key.answers["1.1.packing"]
    assert packed["token_type_ids"] == [0] * 4 + [1] * 4
    option = re.search(r"^- C\. (\[CLS\].+)$", HANDOUT, re.MULTILINE)
    assert option is not None and option[1] + " [SEP]" == text and key.answers["1.1"] == "C"


def test_byte_pair_encoding(key: ModuleType) -> None:
    """1.3: A and C by training (u g occurs 20 times; by the score of D, g s would win), E by tokenizing."""
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=8, show_progress=False)
    tokenizer.train_from_iterator([word for word, count in words.items() for _ in range(count)], trainer)
    letters, merged = {token for token in tokenizer.get_vocab() if len(token) == 1}, set(tokenizer.get_vocab())
    assert letters == set("bghnpsu") and merged - letters == {"ug"}
    assert tokenizer.encode("bugs").tokens == ["b", "ug", "s"]  # characters, then the merge rules
    assert key.answers["1.3"] == ["A", "C", "E"]


def test_masked_labels(key: ModuleType, tokenizer: Any) -> None:
    """1.4: at the selected places; −100 elsewhere."""
    torch.manual_seed(0)
    ids = tokenizer("good film it was long " * 20)["input_ids"]
    batch = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.5)([{"input_ids": ids}])
    labels, selected = batch["labels"][0], batch["labels"][0] != -100
    assert selected.any() and not selected.all() and key.answers["1.4"] == "A"
    assert torch.equal(labels[selected], torch.tensor(ids)[selected])


def test_ids_of_another_tokenizer(key: ModuleType, tokenizer: Any) -> None:
    """1.6: the same text has other ids, an id beyond the vocabulary is an error, and padding changes nothing."""
    other = Tokenizer(models.WordLevel({"hey": 0, "!": 1, "film": 2, "<unk>": 3}, unk_token="<unk>"))
    other.pre_tokenizer = pre_tokenizers.Whitespace()
    encoded = tokenizer("hey!", return_tensors="pt")
    ids = encoded["input_ids"][0].tolist()
    assert ids[1:-1] != other.encode("hey!").ids
    model = transformers.GPT2Model(
        transformers.GPT2Config(vocab_size=other.get_vocab_size(), n_embd=4, n_layer=1, n_head=1, n_positions=8)
    )
    with pytest.raises(IndexError):
        model(encoded["input_ids"])
    padded = tokenizer("hey!", padding=True, truncation=True, return_tensors="pt")
    assert torch.equal(padded["input_ids"], encoded["input_ids"])
    assert key.answers["1.6"] == "B" and "same checkpoint" in HANDOUT


def test_hard_attention(key: ModuleType) -> None:
    """2.1.1, with the handout's fourth value and with the source's."""
    question = HANDOUT[HANDOUT.index("(`2.1.1`)") : HANDOUT.index("`hard_attention(")]
    q, *rest = printed(question)
    K, V = np.array(rest[:4]), np.array(rest[4:])
    assert (K @ q).tolist() == [3, 1, 1, -3] and V.shape == (4, 3)
    assert hard_attention(q, K, V).tolist() == key.answers["2.1.1"]
    assert V[3].tolist() == [3, 2, 4]
    V[3] = [3, 2, 0]
    assert hard_attention(q, K, V).tolist() == key.answers["2.1.1"]


def test_extraction_matrix(key: ModuleType) -> None:
    a, b = printed(HANDOUT[HANDOUT.index("for A spanned by") : HANDOUT.index("`extraction_matrix(")])
    np.testing.assert_allclose(extraction_matrix(np.array([a]).T), key.answers["2.2.2"], atol=1e-12)
    other = np.array(key.answers["2.2.2"]) + np.outer([1, 2, 3], [-0.8, 0.6, 0])  # orthogonal to a and b
    np.testing.assert_allclose(other @ (2 * np.array(a) + 5 * np.array(b)) / 2, 2 * np.array(a), atol=1e-12)


def test_averaging_weight() -> None:
    """2.2.3: the figures of the errata."""
    assert round(averaging_weight(1, 64, 10), 2) == 0.11 and round(1 - 2 * averaging_weight(1, 64, 10), 2) == 0.78
    assert round(averaging_weight(1, 768, 512), 3) == 0.002
    assert all(f in ERRATA for f in ("α_a = 0.11", "keep 0.78", "give 0.002"))
    assert averaging_weight(math.sqrt(768) * math.log(512e4), 768, 512) == pytest.approx(0.5, abs=1e-4)


def test_formulas_have_the_values_of_the_references(key: ModuleType) -> None:
    for h, mu, sigma in [(1, 0.5, 2.0), (16, 0.7, 1.3)]:
        names = {"h": h, "mu": mu, "sigma": sigma}
        values = [eval(key.answers[f"2.3.{moment}"], names) for moment in ("mean", "variance")]
        assert values == pytest.approx(qk_moments(mu, sigma, h))
    for d, n, layers in [(4, 2, 3), (768, 8, 12)]:
        names = {"d": d, "n": n, "L": layers}
        assert eval(key.answers["3.2.2"], names) == eval(key.counts_of_the_head["A"], names) == head_params(d, 2)
        assert eval(key.answers["3.2.3"], names) == prefix_params(128, d, 2)
        assert eval(key.answers["3.2.5"], names) == lora_params(d, n)
        assert eval(key.counts_of_the_head["B"], names) == dense_head_params(d, 2)
        counts = {letter: eval(formulas[0], names) for letter, formulas in key.counts_of_the_prefix.items()}
        vectors = key_value_prefix_params(128, d, layers)
        assert counts == {
            "A": prefix_params(128, d, 2),
            "B": 128 * d + dense_head_params(d, 2),
            "C": vectors + dense_head_params(d, 2),
            "D": 128 * d,
            "E": vectors,
        }
    assert (head_params(768, 2), prefix_params(128, 768, 2)) == (1538, 99842)
    assert "1,538" in ERRATA and "99,842" in ERRATA


def test_published_sweep() -> None:
    """3.1.3: every dev accuracy, and test accuracies that a constant answer gives on four random splits."""
    assert {right_answers(dev, DEV) for dev, _ in SWEEP.values()} == {2033}
    assert [right_answers(test, TEST) for _, test in SWEEP.values()] == [895, 884, 883, 856]
    deviation = accuracy_deviation(MAJORITY, TEST)
    assert round(100 * deviation, 2) == 1.28 and "σ = 1.28 %" in ERRATA
    assert all(abs(test - MAJORITY) < 3 * deviation for _, test in SWEEP.values())
    assert (
        round(100 * accuracy_deviation(MAJORITY, DEV), 2) == 0.85
        and round(learned_threshold(MAJORITY, DEV), 3) == 0.647
    )
    assert select_best([{"dev": dev} for dev, _ in SWEEP.values()]) == [0, 1, 2, 3]


def test_published_models() -> None:
    """3.1.4: one was trained; the other is the majority class, with the test figure of the sweep's first run."""
    assert (right_answers(0.7091743119266055, DEV), right_answers(0.6923615977575333, TEST)) == (2319, 988)
    assert learned_threshold(MAJORITY, DEV) < 2319 / DEV
    runs = {"first": {"test": SWEEP[1][1]}, "roberta": {"dev": 0.6217125382262997, "test": 0.6271899088997898}}
    texts = [f.text for f in audit_runs(runs, {"test": TEST})]
    assert "First, roberta have the same test accuracy 0.62719: one constant answer, or a copied number?" in texts


@pytest.mark.parametrize("accuracy", [0.9, 0.6, 0.8])
def test_published_tuning_accuracies(accuracy: float) -> None:
    """3.2: multiples of 1/10 that no number of test rows gives, and the same for dev and test."""
    assert round(accuracy * 10) == pytest.approx(accuracy * 10)
    assert all(round(k / TEST, 10) != accuracy for k in range(TEST + 1))
    findings = audit_runs({"run": {"dev": accuracy, "test": accuracy}}, {"dev": DEV, "test": TEST})
    assert {"small_subset", "same_splits"} <= {f.kind for f in findings}

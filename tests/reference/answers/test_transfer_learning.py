"""The answers by hand in the key of transfer_learning, and every figure of its errata."""

from types import ModuleType

import pytest
import torch

from reference.transformer import parameter_counts as parts
from reference.transformer.language_model import Model
from reference.transformer.parameter_counts import count_parameters
from tests.reference.answers.conftest import ROOT

NAME = "transfer_learning"
ERRATA = (ROOT / "assignments" / NAME / "errata.md").read_text(encoding="utf-8")
D, LAYERS, HEADS = 200, 4, 2


def count(V: int, n_out: int, *, bias: bool = True) -> int:
    return count_parameters(V, D, LAYERS, HEADS, D, n_out, bias)


def test_models_as_torch_allocates_them(key: ModuleType) -> None:
    """Rows A1 and A2 of the audit, counted in real modules."""
    for n_out, name in [(100, "3.language_model"), (2, "3.classification")]:
        model = Model(100, HEADS, D, LAYERS, n_out)
        allocated = sum(p.numel() for p in model.parameters())
        assert allocated == count(100, n_out) == key.answers[name]
    with torch.device("meta"):
        large = Model(50_001, HEADS, D, LAYERS, 50_001)
    assert sum(p.numel() for p in large.parameters()) == count(50_001, 50_001)


def test_table_of_the_errata() -> None:
    rows = {
        "language model, n = V": [count(V, V) for V in (100, 50_001)],
        "classifier, n = 2": [count(V, 2) for V in (100, 50_001)],
        "language model without the biases of linear layers": [count(V, V, bias=False) for V in (100, 50_001)],
        "classifier without them": [count(V, 2, bias=False) for V in (100, 50_001)],
    }
    for name, values in rows.items():
        assert f"| {name} | {values[0]:,} | {values[1]:,} |" in ERRATA
    assert [*rows["language model, n = V"], *rows["classifier, n = 2"]] == [1_008_100, 21_018_401, 988_402, 10_968_602]


def test_printed_numbers() -> None:
    body = LAYERS * (6 * D**2 + 4 * D)
    assert body == 963_200
    assert 2 * 100 * D + body == count(100, 100, bias=False) == 1_003_200
    assert 2 * D + body + 2 * D == count(2, 2, bias=False) == 964_000
    assert 100 * D + body + 2 * D == count(100, 2, bias=False) == 983_600


def test_formulas_have_the_values_of_the_references(key: ModuleType) -> None:
    for V, d, d_ff in [(7, 4, 4), (100, 200, 200), (30, 6, 10)]:
        values = {
            "3.embedding": parts.embedding_parameters(V, d),
            "3.attention": parts.attention_parameters(d),
            "3.feed_forward": parts.feed_forward_parameters(d, d_ff),
            "3.layer_norm": parts.layer_norm_parameters(d),
            "3.head": parts.head_parameters(d, V),
        }
        for name, value in values.items():
            assert eval(key.answers[name], {"V": V, "d": d, "d_ff": d_ff}) == value


def test_key_reports_a_public_run(key: ModuleType) -> None:
    assert (key.answers["4.scratch"], key.answers["4.pretrained"]) == ([0.502, 0.779], [0.768, 0.787])
    for accuracy in [*key.answers["4.scratch"], *key.answers["4.pretrained"]]:
        assert (accuracy * key.answers["4.examples"]) == pytest.approx(round(accuracy * 2000))

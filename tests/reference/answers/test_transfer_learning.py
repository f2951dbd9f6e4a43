"""The answers by hand in the key of transfer_learning, and every figure of its errata."""

import importlib.util
import itertools
import math
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

from reference.batching.collator import collate
from reference.transformer.language_model import Model
from reference.transformer.parameter_counts import count_parameters
from reference.transformer.positional_encoding import positional_encoding

ROOT = Path(__file__).parents[3]
ASSIGNMENT = ROOT / "assignments" / "transfer_learning"
HANDOUT = (ASSIGNMENT / "handout.md").read_text(encoding="utf-8")
ERRATA = (ASSIGNMENT / "errata.md").read_text(encoding="utf-8")
D, LAYERS, HEADS = 200, 4, 2


@pytest.fixture(scope="module")
def key() -> ModuleType:
    path = ROOT / "graders" / "transfer_learning" / "key.py"
    spec = importlib.util.spec_from_file_location("transfer_learning_key", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def count(V: int, n_out: int, *, bias: bool = True) -> int:
    return count_parameters(V, D, LAYERS, HEADS, D, n_out, bias)


def test_the_lab_s_models_as_torch_allocates_them(key: ModuleType) -> None:
    """Rows A1 and A2 of the audit, counted in real modules."""
    for n_out, name in [(100, "3.language_model"), (2, "3.classification")]:
        model = Model(100, HEADS, D, LAYERS, n_out)
        allocated = sum(p.numel() for p in model.parameters())
        assert allocated == count(100, n_out) == key.answers[name]
    with torch.device("meta"):
        large = Model(50_001, HEADS, D, LAYERS, 50_001)
    assert sum(p.numel() for p in large.parameters()) == count(50_001, 50_001)


def test_the_table_of_the_errata() -> None:
    rows = {
        "language model, n = V": [count(V, V) for V in (100, 50_001)],
        "classifier, n = 2": [count(V, 2) for V in (100, 50_001)],
        "language model without the biases of linear layers": [count(V, V, bias=False) for V in (100, 50_001)],
        "classifier without them": [count(V, 2, bias=False) for V in (100, 50_001)],
    }
    for name, values in rows.items():
        assert f"| {name} | {values[0]:,} | {values[1]:,} |" in ERRATA
    assert [*rows["language model, n = V"], *rows["classifier, n = 2"]] == [1_008_100, 21_018_401, 988_402, 10_968_602]


def test_where_the_printed_numbers_come_from() -> None:
    body = LAYERS * (6 * D**2 + 4 * D)
    assert body == 963_200
    assert 2 * 100 * D + body == count(100, 100, bias=False) == 1_003_200
    assert 2 * D + body + 2 * D == count(2, 2, bias=False) == 964_000
    assert 100 * D + body + 2 * D == count(100, 2, bias=False) == 983_600


def test_formulas(key: ModuleType) -> None:
    from reference.transformer import parameter_counts as parts

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


def test_neither_pre_norm_nor_heads_change_the_count() -> None:
    counts = {
        sum(p.numel() for p in nn.TransformerEncoderLayer(D, heads, D, norm_first=first).parameters())
        for heads, first in itertools.product((1, 2, 4, 8), (True, False))
    }
    assert counts == {6 * D**2 + 10 * D}


def test_sinusoids_are_absolute_with_relative_products() -> None:
    table = positional_encoding(40, 16)
    assert len(np.unique(table.round(9), axis=0)) == 40
    gram = table @ table.T
    for distance in range(40):
        assert np.ptp(np.diagonal(gram, distance)) < 1e-9


class TestReportedRuns:
    SCRATCH = ((0.552, 0.713, 0.753), (0.556, 0.762, 0.762), (0.502, 0.779, 0.785))
    PRETRAINED = ((0.691, 0.799, 0.807), (0.740, 0.785, 0.793), (0.768, 0.787, 0.800))
    """First, last and best epoch of three public runs."""

    def test_gaps(self) -> None:
        runs = list(zip(self.SCRATCH, self.PRETRAINED, strict=True))
        assert [round(p[0] - s[0], 2) for s, p in runs] == [0.14, 0.18, 0.27]
        assert [round(p[1] - s[1], 3) for s, p in runs] == [0.086, 0.023, 0.008]
        assert min(p[0] - s[0] for s, p in runs) >= 0.10 > max(p[1] - s[1] for s, p in runs)
        assert max(p[0] for p in self.PRETRAINED) < 0.80  # "about 80 % after the first epoch" in none

    def test_bands(self) -> None:
        assert all(0.68 <= last <= 0.80 for _, last, _ in self.SCRATCH)
        assert all(best >= 0.77 for *_, best in self.PRETRAINED)

    def test_noise(self) -> None:
        sigma = math.sqrt(0.79 * 0.21 / 2000)
        assert round(sigma, 4) == 0.0091 and round(sigma * math.sqrt(2), 3) == 0.013
        assert round(math.sqrt(2 * 0.79 * 0.21 / 400), 3) == 0.029

    def test_the_key_reports_a_public_run(self, key: ModuleType) -> None:
        assert key.answers["4.scratch"] == list(self.SCRATCH[2][:2])
        assert key.answers["4.pretrained"] == list(self.PRETRAINED[2][:2])
        for accuracy in [*key.answers["4.scratch"], *key.answers["4.pretrained"]]:
            assert (accuracy * key.answers["4.examples"]) == pytest.approx(round(accuracy * 2000))


def test_the_last_position_of_a_short_sequence_is_a_pad() -> None:
    source, _ = collate([([0, 5, 6], [1]), ([0, 5], [0])], pad=1)
    assert source[-1].tolist() == [6, 1]


def test_a_label_that_is_also_the_id_of_pad_is_never_learned() -> None:
    scores = torch.zeros(2, 2, requires_grad=True)
    loss = nn.CrossEntropyLoss(ignore_index=1)(scores, torch.tensor([1, 0]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad[0].abs().max() == 0 < scores.grad[1].abs().max()


def test_dropped_examples_and_two_denominators() -> None:
    loader = torch.utils.data.DataLoader(list(range(10)), batch_size=4, drop_last=True)
    given = sum(len(batch) for batch in loader)
    assert (given, given / len(loader.dataset)) == (8, 0.8)  # type: ignore[arg-type]


def test_every_answer_is_asked_for_and_every_name_is_in_the_starter(key: ModuleType) -> None:
    starter = ASSIGNMENT / "starter"
    module = (starter / "solution.py").read_text(encoding="utf-8")
    names = re.findall(r"^(?:def|class) (\w+)", module, re.MULTILINE)
    assert len(names) == 14 and all(callable(getattr(key, name)) for name in names)
    assert all(f"`{name}(" in HANDOUT for name in names)
    by_hand, _ = (starter / "answers.yaml").read_text(encoding="utf-8").split("written:")
    assert re.findall(r'^  "(.+?)":', by_hand, re.MULTILINE) == sorted(key.answers, key=list(key.answers).index)
    notebook = (starter / "transfer_learning.ipynb").read_text(encoding="utf-8")
    in_notebook = set(names) - {"positional_encoding", "train_step"}  # the lab has a module and `train` instead
    assert all(re.search(rf"(def|class) {name}\b", notebook) for name in in_notebook | {"train", "get_loader"})
    assert all(f'\\"{name}\\": None' in notebook for name in key.answers)

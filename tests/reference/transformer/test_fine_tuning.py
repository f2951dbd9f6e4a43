"""reference/transformer/fine_tuning.py against the same steps in numpy, worked out without torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from reference.generation.greedy_decoding import greedy_continuation, next_token
from reference.transformer import prefix_mean
from reference.transformer.fine_tuning import (
    evaluate_accuracy,
    infer_next_token,
    infer_next_tokens,
    load_pretrained,
    train_step,
)
from reference.transformer.language_model import Model
from reference.transformer.prefix_mean import PrefixMean, training_step

WORDS = ["<pad>", "<sos>", "<eos>", "<oov>", "a", "b", "c", "d"]
TOKEN2IND = {word: i for i, word in enumerate(WORDS)}
IND2TOKEN = dict(enumerate(WORDS))


class TorchPrefixMean(nn.Module):
    """The model of prefix_mean.py, in torch."""

    def __init__(self, parameters: PrefixMean) -> None:
        super().__init__()
        self.parts = nn.ParameterList([nn.Parameter(torch.tensor(part)) for part in parameters])

    def forward(self, source: Tensor, mask: Tensor) -> Any:
        embedding, weight, bias = self.parts
        weights = torch.softmax(mask.double() + torch.arange(1, len(source) + 1).double().log(), dim=-1)
        means = torch.einsum("ts,snd->tnd", weights, embedding[source])
        return means @ weight.T + bias


def sample_model(seed: int, n_out: int) -> tuple[PrefixMean, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((len(WORDS), 3)), 3 * rng.standard_normal((n_out, 3)), rng.standard_normal(n_out)
    return PrefixMean(*parts), rng.integers(1, len(WORDS), (5, 4))


@pytest.mark.parametrize("task", ["language_modeling", "classification"])
def test_train_step_equals_numpy(task: str) -> None:
    n_out = len(WORDS) if task == "language_modeling" else 2
    parameters, source = sample_model(1, n_out)
    target = np.random.default_rng(2).integers(0, n_out, source.size if n_out > 2 else 4)
    model = TorchPrefixMean(parameters)
    optimizer, criterion = torch.optim.SGD(model.parameters(), lr=0.9), nn.CrossEntropyLoss()
    expected = parameters
    for _ in range(2):
        train_step(model, optimizer, criterion, torch.from_numpy(source), torch.from_numpy(target), task)
        expected = training_step(
            expected, source, target, positions=None if n_out > 2 else [4] * 4, learning_rate=0.9, max_norm=0.5
        )
    for found, wanted in zip(model.parts, expected, strict=True):
        np.testing.assert_allclose(found.detach().numpy(), wanted, atol=1e-5)


def test_evaluate_accuracy() -> None:
    parameters, source = sample_model(3, 2)
    inner = TorchPrefixMean(parameters)

    class Noisy(nn.Module):
        def forward(self, source: Tensor, mask: Tensor) -> Tensor:
            assert not torch.is_grad_enabled()
            scores: Tensor = inner(source, mask)
            return -scores if self.training else scores

    model = Noisy().train()
    predicted = prefix_mean.logits(parameters, source)[-1].argmax(axis=-1)
    labels = predicted.copy()
    labels[0] = 1 - labels[0]
    x, y = torch.from_numpy(source), torch.from_numpy(labels)
    assert evaluate_accuracy([(x[:, :3], y[:3]), (x[:, 3:], y[3:])], model) == 3 / 4  # batch by batch: (2/3 + 1) / 2


def test_decoding_equals_numpy() -> None:
    for seed in range(12):
        parameters, _ = sample_model(seed, len(WORDS))
        model = TorchPrefixMean(parameters)

        def scores(ids: Sequence[int], parameters: PrefixMean = parameters) -> Any:
            return prefix_mean.logits(parameters, np.array(ids)[:, None])[-1, 0]

        prompt = [TOKEN2IND[word] for word in ("<sos>", "a", "<oov>", "b")]
        assert infer_next_token("a zebra b", model, TOKEN2IND) == next_token(scores, prompt)
        wanted = greedy_continuation(scores, prompt, TOKEN2IND["<eos>"], 6)
        found = infer_next_tokens("a zebra b", model, TOKEN2IND, IND2TOKEN, max_len=6)
        assert found == [WORDS[i] for i in wanted]


def test_greedy_continuation() -> None:
    table = {0: 3, 3: 4, 4: 2, 1: 1}

    def scores(ids: Sequence[int]) -> Any:
        return np.eye(5)[table[ids[-1]]]

    assert greedy_continuation(scores, [0], end=2, max_len=9) == [3, 4]
    assert greedy_continuation(scores, [0], end=2, max_len=1) == [3]
    assert greedy_continuation(scores, [0, 4], end=2, max_len=9) == []
    assert greedy_continuation(scores, [1], end=2, max_len=7) == [1] * 7


def test_load_pretrained(tmp_path: Path) -> None:
    torch.manual_seed(0)
    language_model, classifier = Model(9, 2, 8, 2, 9), Model(9, 2, 8, 2, 2)
    torch.save({"model_state_dict": language_model.state_dict()}, tmp_path / "language_model.pt")
    head = [part.clone() for part in classifier.classifier.parameters()]
    assert load_pretrained(classifier, tmp_path / "language_model.pt") is classifier
    for name, value in language_model.base.state_dict().items():
        assert torch.equal(classifier.base.state_dict()[name], value)
    for old, new in zip(head, classifier.classifier.parameters(), strict=True):
        assert torch.equal(old, new)
    with pytest.raises(RuntimeError, match="size mismatch"):
        load_pretrained(Model(7, 2, 8, 2, 2), tmp_path / "language_model.pt")

"""The programs of reference/adaptation, and the classifier in numpy, against each other and transformers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from reference.adaptation import base_classification
from reference.adaptation.base_classification import WARM_UP, BoolQADataset, evaluate_model, fit, train
from reference.adaptation.boolq import boolq_item
from reference.adaptation.classification import CustomModelforSequenceClassification
from reference.adaptation.classification import train as train_part
from reference.adaptation.parameter_counts import head_params, prefix_params
from reference.adaptation.soft_prompt_classifier import POOLINGS, classifier_logits
from reference.bert.encoder import draw_weights

V, D, LAYERS, D_FF, POSITIONS, HEADS, LENGTH = 11, 8, 2, 12, 20, 2, 3
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "is", "the", "river", "green", "old"]
Batch = dict[str, torch.Tensor]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Several threads take longer than one for such small models, and far longer on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """What the hub serves in this test."""
    drawn = draw_weights(np.random.default_rng(8), V, D, LAYERS, D_FF, POSITIONS)
    config = transformers.BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_FF,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )

    def serve(*_: Any, **__: Any) -> Any:
        model: Any = transformers.BertModel(config).double()
        model.load_state_dict({name: torch.from_numpy(value) for name, value in drawn.items()}, strict=False)
        return model.eval()

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", serve)
    torch.manual_seed(0)
    return drawn


@pytest.fixture
def batch() -> Batch:
    rng = np.random.default_rng(9)
    mask = (np.arange(6) < np.array([[6], [3], [1], [4]])).astype(int)
    ids = rng.integers(1, V, (4, 6)) * mask
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor(mask),
        "labels": torch.tensor([1, 0, 0, 1]),
    }


def model_of(kind: str) -> Any:
    return CustomModelforSequenceClassification("any", 2, kind, LENGTH).double()


@pytest.mark.parametrize("kind", ["full", "head", "prefix"])
def test_logits_in_torch_and_numpy(weights: dict[str, np.ndarray], batch: Batch, kind: str) -> None:
    model = model_of(kind)
    W, b = (parameter.detach().numpy() for parameter in model.classifier.parameters())
    prompt = None if model.prefix is None else model.prefix.detach().numpy()
    question = (weights, batch["input_ids"], batch["attention_mask"], W, b)
    found = model(batch["input_ids"], batch["attention_mask"])["logits"].detach().numpy()
    np.testing.assert_allclose(classifier_logits(*question, prompt, HEADS)["mean"], found, atol=1e-10)


def test_poolings(weights: dict[str, np.ndarray], batch: Batch) -> None:
    """Without padding and prompt, four means are one, [CLS] is the first position, and both poolers are one."""
    rng = np.random.default_rng(10)
    W, b, prompt = rng.standard_normal((2, D)), rng.standard_normal(2), rng.standard_normal((LENGTH, D))
    ids = batch["input_ids"][:1]
    ones = torch.ones_like(ids)
    alike = classifier_logits(weights, ids, ones, W, b)
    assert len({tuple(np.round(logits[0], 8)) for logits in alike.values()}) == 3
    padded = torch.tensor([[1, 1, 1, 1, 0, 0]])
    apart = classifier_logits(weights, ids, padded, W, b, prompt)
    assert len({tuple(np.round(logits[0], 8)) for logits in apart.values()}) == len(POOLINGS)


@pytest.mark.parametrize("kind", ["full", "head", "prefix"])
def test_trained_parameters(weights: dict[str, np.ndarray], batch: Batch, kind: str) -> None:
    model = model_of(kind)
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    train_part(model, 4, [batch], [batch], [batch], "cpu", 0.05, "any")
    changed = {name for name, value in model.named_parameters() if not torch.equal(value, before[name])}
    head, prefix = {"classifier.weight", "classifier.bias"}, {"prefix"}
    numbers = sum(before[name].numel() for name in changed)
    if kind == "full":
        assert head < changed and any(name.startswith("model.encoder.layer.0") for name in changed)
    else:
        assert changed == (head if kind == "head" else head | prefix)
        assert numbers == (head_params(D, 2) if kind == "head" else prefix_params(LENGTH, D, 2))


def test_train_and_evaluate(weights: dict[str, np.ndarray], batch: Batch) -> None:
    model = model_of("full")
    train(model, 30, [batch], [batch], [batch], "cpu", 0.01)
    assert evaluate_model(model, [batch], "cpu") == {"accuracy": 1.0}
    assert not model.training
    half = {name: value[:1] for name, value in batch.items()}
    turned = {**half, "labels": 1 - half["labels"]}
    assert evaluate_model(model, [batch, turned], "cpu") == {"accuracy": 4 / 5}


def test_schedule(weights: dict[str, np.ndarray], batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """60 steps of a linear schedule with 50 of warm-up, on the same parameters, give the same parameters."""
    model, other = model_of("head"), model_of("head")
    other.load_state_dict(model.state_dict())
    fit(model, model.trained(), 60, [batch], "cpu", 0.01)
    optimizer = torch.optim.AdamW(other.classifier.parameters(), lr=0.01)
    scheduler = transformers.get_scheduler("linear", optimizer, num_warmup_steps=WARM_UP, num_training_steps=60)
    for _ in range(60):
        optimizer.zero_grad()
        logits = base_classification.logits_of(other, batch, "cpu")
        torch.autograd.backward(torch.nn.functional.cross_entropy(logits, batch["labels"]))
        optimizer.step()
        scheduler.step()
    for one, two in zip(model.classifier.parameters(), other.classifier.parameters(), strict=True):
        torch.testing.assert_close(one, two)


def test_dataset_rows() -> None:
    ids = {word: index for index, word in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast: Any = transformers.PreTrainedTokenizerFast
    tokenizer = fast(tokenizer_object=made, pad_token="[PAD]")
    rows = [("is the river green", "the old river", True), ("is the river", "the green river is the old river", False)]
    questions, passages, answers = zip(*rows, strict=True)
    data = BoolQADataset(passages, questions, answers, tokenizer, 10)
    assert len(data) == 2
    for position, row in enumerate(rows):
        found = {name: value.tolist() for name, value in data[position].items()}
        assert found == boolq_item(*row, ids, 10)

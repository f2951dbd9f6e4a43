"""BoolQ's items, loss and accuracy, and the choice of the best run, against tokenizer, torch and sampling."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from reference.adaptation.boolq import accuracy, boolq_item, loss_gradient
from reference.adaptation.model_selection import accuracy_deviation, learned_threshold, select_best

VOCABULARY = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"])}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """BERT's template over whole words."""
    inner = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast: Any = transformers.PreTrainedTokenizerFast
    return fast(tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]", sep_token="[SEP]")


@pytest.mark.parametrize(
    ("question", "passage", "max_len"),
    [
        ("a b", "c d e", 12),
        ("a b", "c d e", 8),
        ("a b c", "d e f g h", 7),
        ("a b c", "d", 8),
        ("a z", "d", 8),
    ],
)
def test_boolq_item_equals_tokenizer(tokenizer: Any, question: str, passage: str, max_len: int) -> None:
    item = boolq_item(question, passage, True, VOCABULARY, max_len)
    pair = tokenizer(question, passage, max_length=max_len, padding="max_length", truncation="only_second")
    assert item["input_ids"] == pair["input_ids"] and item["attention_mask"] == pair["attention_mask"]
    assert item["labels"] == 1
    text = tokenizer(f"{question} [SEP] {passage}", max_length=max_len, padding="max_length", truncation=True)
    assert item["input_ids"] == text["input_ids"]  # as one text, which is what the course's starter makes of them


def test_boolq_question_too_long() -> None:
    with pytest.raises(ValueError, match="too many"):
        boolq_item("a b c", "d", False, VOCABULARY, 5)


def test_accuracy_is_the_share_of_right_rows() -> None:
    rng = np.random.default_rng(2)
    batches = [(rng.standard_normal((n, 2)), rng.integers(2, size=n)) for n in (4, 4, 1)]
    right = sum(
        int(row[label] > row[1 - label])
        for logits, labels in batches
        for row, label in zip(logits, labels, strict=True)
    )
    assert accuracy(batches) == right / 9


def test_loss_gradient_equals_autograd() -> None:
    rng = np.random.default_rng(4)
    for rows, classes in [(1, 2), (5, 2), (3, 4)]:
        logits = torch.from_numpy(3 * rng.standard_normal((rows, classes))).requires_grad_()
        labels = rng.integers(classes, size=rows)
        torch.autograd.backward(torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels)))
        assert logits.grad is not None
        np.testing.assert_allclose(loss_gradient(logits.detach().numpy(), labels), logits.grad.numpy(), atol=1e-12)


def test_select_best() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = rng.integers(0, 4, (int(rng.integers(1, 9)), 2)) / 4
        results = [{"dev": float(dev), "test": float(test)} for dev, test in rows]
        order = sorted(range(len(results)), key=lambda i: -results[i]["dev"])
        first = results[order[0]]["dev"]
        assert select_best(results) == sorted(i for i in order if results[i]["dev"] == first)


@pytest.mark.parametrize(("p", "n"), [(2033 / 3270, 3270), (2033 / 3270, 1427), (0.5, 10)])
def test_accuracy_deviation(p: float, n: int) -> None:
    drawn = np.random.default_rng(n).binomial(n, p, 200_000) / n
    assert accuracy_deviation(p, n) == pytest.approx(drawn.std(), rel=0.01)


def test_learned_threshold() -> None:
    p, n = 2033 / 3270, 3270
    drawn = np.random.default_rng(1).binomial(n, p, 200_000) / n
    assert 0.0005 < (drawn >= learned_threshold(p, n)).mean() < 0.003

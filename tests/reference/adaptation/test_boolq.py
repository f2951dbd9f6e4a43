"""reference/adaptation/boolq.py against Hugging Face's BERT tokenizer, torch and counting."""

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from reference.adaptation.boolq import accuracy, boolq_item, loss_gradient

VOCABULARY = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"])}


@pytest.fixture(scope="module")
def tokenizer() -> "transformers.PreTrainedTokenizerFast":
    """BERT's template over whole words."""
    inner = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]", sep_token="[SEP]"
    )


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
def test_items_equal_the_tokenizers(
    tokenizer: "transformers.PreTrainedTokenizerFast", question: str, passage: str, max_len: int
) -> None:
    item = boolq_item(question, passage, True, VOCABULARY, max_len)
    pair = tokenizer(question, passage, max_length=max_len, padding="max_length", truncation="only_second")
    assert item["input_ids"] == pair["input_ids"] and item["attention_mask"] == pair["attention_mask"]
    assert item["labels"] == 1
    text = tokenizer(f"{question} [SEP] {passage}", max_length=max_len, padding="max_length", truncation=True)
    assert item["input_ids"] == text["input_ids"]  # as one text, which is what the course's starter makes of them


def test_a_question_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="too many"):
        boolq_item("a b c", "d", False, VOCABULARY, 5)


def test_accuracy_counts_rows() -> None:
    rng = np.random.default_rng(2)
    batches = [(rng.standard_normal((n, 2)), rng.integers(2, size=n)) for n in (4, 4, 1)]
    right = sum(
        int(row[label] > row[1 - label])
        for logits, labels in batches
        for row, label in zip(logits, labels, strict=True)
    )
    assert accuracy(batches) == right / 9


def test_loss_gradient_equals_autograds() -> None:
    rng = np.random.default_rng(4)
    for rows, classes in [(1, 2), (5, 2), (3, 4)]:
        logits = torch.from_numpy(3 * rng.standard_normal((rows, classes))).requires_grad_()
        labels = rng.integers(classes, size=rows)
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels)).backward()
        assert logits.grad is not None
        np.testing.assert_allclose(loss_gradient(logits.detach().numpy(), labels), logits.grad.numpy(), atol=1e-12)

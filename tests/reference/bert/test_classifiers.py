"""The classifiers of reference/bert and their losses, against the heads of Hugging Face's BERT and torch."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

from reference.bert.cross_entropy import cross_entropy, log_softmax
from reference.bert.question_answering import span_ce, span_logits
from reference.bert.sentence_classifier import sentence_logits
from reference.bert.token_classifier import token_logits

Array = NDArray[np.float64]

D, TAGS = 8, 5
IDS = torch.tensor([[2, 7, 8, 9, 3, 0], [2, 10, 11, 12, 13, 3]])


def config(labels: int) -> Any:
    bert: Any = transformers.BertConfig
    return bert(
        vocab_size=20,
        hidden_size=D,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
        num_labels=labels,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.5,
    )


def build(kind: Any, labels: int) -> Any:
    torch.manual_seed(47)
    model = kind(config(labels)).double()
    with torch.no_grad():
        for parameter in model.parameters():  # biases begin at zero, where a missing one would not show
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def plain(tensor: torch.Tensor) -> Array:
    result: Array = tensor.detach().numpy()
    return result


def test_sentence_logits() -> None:
    model = build(transformers.BertForSequenceClassification, 2)
    hidden = model.bert(IDS).last_hidden_state
    expected = model.classifier(hidden[:, 0])  # without the pooler, which is in between in this class
    ours = sentence_logits(plain(hidden), plain(model.classifier.weight), plain(model.classifier.bias))
    np.testing.assert_allclose(ours, plain(expected), atol=1e-12)
    theirs = torch.nn.functional.cross_entropy(expected.detach(), torch.tensor([1, 0]))
    assert cross_entropy(ours, [1, 0]) == pytest.approx(float(theirs), rel=1e-12)


def test_pooler() -> None:
    """tanh(W_p h + b_p) in the place of h gives the logits of BertForSequenceClassification."""
    model = build(transformers.BertForSequenceClassification, 2)
    hidden = plain(model.bert(IDS).last_hidden_state)
    pooled = np.tanh(
        sentence_logits(hidden, plain(model.bert.pooler.dense.weight), plain(model.bert.pooler.dense.bias))
    )
    ours = sentence_logits(pooled[:, None], plain(model.classifier.weight), plain(model.classifier.bias))
    np.testing.assert_allclose(ours, plain(model(IDS).logits), atol=1e-12)


def test_token_logits() -> None:
    model = build(transformers.BertForTokenClassification, TAGS)
    labels = torch.tensor([[-100, 3, -100, 0, -100, -100], [-100, 4, 1, -100, 2, -100]])
    theirs = model(IDS, labels=labels)
    hidden = plain(model.bert(IDS).last_hidden_state)
    ours = token_logits(hidden, plain(model.classifier.weight), plain(model.classifier.bias))
    np.testing.assert_allclose(ours, plain(theirs.logits), atol=1e-12)
    assert cross_entropy(ours, labels.numpy()) == pytest.approx(theirs.loss.item(), rel=1e-12)


def test_span_logits() -> None:
    """Hugging Face's loss is the mean of start and end; ours, as in the paper, is their sum."""
    model = build(transformers.BertForQuestionAnswering, 2)
    start, end = torch.tensor([1, 4]), torch.tensor([3, 4])
    theirs = model(IDS, start_positions=start, end_positions=end)
    hidden, (w_s, w_e), b = (
        plain(model.bert(IDS).last_hidden_state),
        plain(model.qa_outputs.weight),
        plain(model.qa_outputs.bias),
    )
    s, e = span_logits(hidden, w_s, w_e)
    np.testing.assert_allclose(s + b[0], plain(theirs.start_logits), atol=1e-12)
    np.testing.assert_allclose(e + b[1], plain(theirs.end_logits), atol=1e-12)
    ours = span_ce(s, e, start.numpy(), end.numpy())  # a bias is the same for every position: softmax removes it
    assert ours == pytest.approx(2 * theirs.loss.item(), rel=1e-12)


RNG = np.random.default_rng(46)
LABELS = np.array([[2, -100, 0, 1], [-100, -100, -100, 3]])


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_cross_entropy_equals_torch(scale: float) -> None:
    logits = scale * RNG.standard_normal((2, 4, 5))
    np.testing.assert_allclose(log_softmax(logits), torch.log_softmax(torch.tensor(logits), -1).numpy(), atol=1e-10)
    expected = torch.nn.functional.cross_entropy(torch.tensor(logits).reshape(8, 5), torch.tensor(LABELS).reshape(8))
    assert cross_entropy(logits, LABELS) == pytest.approx(float(expected), rel=1e-12)


def test_cross_entropy_gradient() -> None:
    """Central differences against autograd, one logit at a time."""
    logits = RNG.standard_normal((2, 4, 5))
    t = torch.tensor(logits, requires_grad=True)
    torch.autograd.backward(torch.nn.functional.cross_entropy(t.reshape(8, 5), torch.tensor(LABELS).reshape(8)))
    assert t.grad is not None
    for place in np.ndindex(logits.shape):
        step = np.zeros_like(logits)
        step[place] = 1e-6
        slope = (cross_entropy(logits + step, LABELS) - cross_entropy(logits - step, LABELS)) / 2e-6
        assert slope == pytest.approx(float(t.grad[place]), abs=1e-8)
        assert LABELS[place[:2]] != -100 or slope == 0


def test_another_ignored_label() -> None:
    logits = RNG.standard_normal((3, 4))
    assert cross_entropy(logits, [1, 0, 0], 0) == cross_entropy(logits[:1], [1])


def test_cross_entropy_without_labels() -> None:
    with pytest.raises(ValueError, match="ignored"):
        cross_entropy(np.zeros((2, 3)), [-100, -100])

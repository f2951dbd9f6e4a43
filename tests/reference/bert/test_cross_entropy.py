"""reference/bert/cross_entropy.py against torch: values, gradients, and what must not count."""

import math

import numpy as np
import pytest
import torch

from reference.bert.cross_entropy import cross_entropy, log_softmax

RNG = np.random.default_rng(46)
LABELS = np.array([[2, -100, 0, 1], [-100, -100, -100, 3]])


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_equals_torch(scale: float) -> None:
    logits = scale * RNG.standard_normal((2, 4, 5))
    np.testing.assert_allclose(log_softmax(logits), torch.log_softmax(torch.tensor(logits), -1).numpy(), atol=1e-10)
    theirs = torch.nn.functional.cross_entropy(torch.tensor(logits).reshape(8, 5), torch.tensor(LABELS).reshape(8))
    assert cross_entropy(logits, LABELS) == pytest.approx(float(theirs), rel=1e-12)


def test_gradient_is_zero_where_the_label_is_ignored() -> None:
    """Central differences against autograd, one logit at a time."""
    logits = RNG.standard_normal((2, 4, 5))
    t = torch.tensor(logits, requires_grad=True)
    torch.nn.functional.cross_entropy(t.reshape(8, 5), torch.tensor(LABELS).reshape(8)).backward()  # type: ignore[no-untyped-call]
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


def test_uniform_predictions_cost_the_log_of_the_classes() -> None:
    assert cross_entropy(np.zeros((3, 7)), [0, -100, 6]) == pytest.approx(math.log(7))


def test_no_label_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="ignored"):
        cross_entropy(np.zeros((2, 3)), [-100, -100])

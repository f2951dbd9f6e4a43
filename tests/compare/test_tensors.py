"""Tensors of torch as arguments and answers: shown as arrays, and recorded with their type."""

import pytest

from viva.compare.agree import agree
from viva.compare.show import describe, show
from viva.replay.key_recording.recorded_values import digest, packed, unpacked

torch = pytest.importorskip("torch")
TENSORS = [
    torch.tensor([[0.5, -1.0]]),
    torch.tensor([3, 1]),
    torch.tensor(True),
    torch.zeros(0, 2),
    torch.tensor([1.5], dtype=torch.bfloat16),
]


def test_a_tensor_is_shown_by_its_numbers() -> None:
    assert show(torch.tensor([[0.5, -1.0]])) == "[[0.5, -1]]" and show([torch.tensor([3])]) == "[[3]]"
    assert describe(torch.zeros(20, 30)) == "an array of shape (20, 30)"


def test_a_recorded_tensor_answers_as_the_tensor_does() -> None:
    for tensor in TENSORS:
        agree(tensor, unpacked(packed(tensor)))
    with pytest.raises(AssertionError):
        agree(TENSORS[0] + 1, unpacked(packed(TENSORS[0])))


def test_equal_tensors_are_one_question_and_others_are_not() -> None:
    for tensor in TENSORS:
        assert digest("f", (tensor,), {}) == digest("f", (tensor.clone(),), {})
    questions = {digest("f", (tensor,), {}) for tensor in TENSORS}
    assert len(questions) == len(TENSORS)
    assert digest("f", (TENSORS[0],), {}) != digest("f", (TENSORS[0].double(),), {})
    assert digest("f", (TENSORS[0],), {}) != digest("f", (TENSORS[0].numpy(),), {})

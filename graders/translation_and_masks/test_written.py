"""The questions that a person grades with rubric.yaml."""

from typing import Any

from viva.grading import needs_review, number, weight


@number("1.2")
@weight(1)
def test_batch_size_and_memory(submission: Any) -> None:
    """How to find a batch size that does not run out of memory."""
    needs_review(submission.written["1.2"], rubric="1.2")


@number("2.1")
@weight(4)
def test_limits_of_recurrent_networks_and_roles_in_attention(submission: Any) -> None:
    """What limits recurrent encoders, how attention helps, and what Q, K, V and their matrices are for."""
    needs_review(submission.written["2.1"], rubric="2.1")


@number("2.2")
@weight(1)
def test_role_of_softmax_and_scale(submission: Any) -> None:
    """What softmax and the scale are for."""
    needs_review(submission.written["2.2"], rubric="2.2")


@number("2.3")
@weight(1)
def test_limits_of_linear_attention(submission: Any) -> None:
    """What linear attention gains and loses."""
    needs_review(submission.written["2.3"], rubric="2.3")


@number("2.4")
@weight(1)
def test_group_attention_for_several_modalities(submission: Any) -> None:
    """What group attention is and gains, and how it can serve a model of images and text."""
    needs_review(submission.written["2.4"], rubric="2.4")


@number("2.5")
@weight(2)
def test_decoder_only_models(submission: Any) -> None:
    """One decoder-only model for understanding and for generating."""
    needs_review(submission.written["2.5"], rubric="2.5")


@number("3.1")
@weight(1)
def test_understanding_and_generating(submission: Any) -> None:
    """What separates understanding from generating language."""
    needs_review(submission.written["3.1"], rubric="3.1")


@number("3.2")
@weight(2)
def test_encoders_decoders_and_both(submission: Any) -> None:
    """Which architecture suits which kind of task."""
    needs_review(submission.written["3.2"], rubric="3.2")


@number("4.1")
@weight(1)
def test_questions_without_an_answer(submission: Any) -> None:
    """How BERT decides that a question has no answer."""
    needs_review(submission.written["4.1"], rubric="4.1")


@number("4.2")
@weight(1)
def test_pre_training_of_spans(submission: Any) -> None:
    """How SpanBERT masks spans, and what its span boundary objective predicts."""
    needs_review(submission.written["4.2"], rubric="4.2")

"""The questions that a person grades with rubric.yaml; question 4 is in test_pretrained.py, with its numbers."""

from typing import Any

from viva.grading import needs_review, number, weight


@number("1")
@weight(3)
def test_roles_of_mask_and_positions(submission: Any) -> None:
    """What the square mask and the positional encoding are for."""
    needs_review(submission.written["1"], rubric="1")


@number("2")
@weight(3)
def test_why_the_head_is_replaced(submission: Any) -> None:
    """Why the language model's head is replaced."""
    needs_review(submission.written["2"], rubric="2")


@number("5")
@weight(3)
def test_language_modeling_and_masked_language_modeling(submission: Any) -> None:
    """What language modeling cannot use and masked language modeling can."""
    needs_review(submission.written["5"], rubric="5")

"""The questions that a person grades with rubric.yaml."""

from typing import Any

from viva.grading import needs_review, number, weight


@number("1a")
@weight(8)
def test_why_positions_are_encoded(submission: Any) -> None:
    """Why self-attention needs positional encodings, and a task in which the order of words matters."""
    needs_review(submission.written["1a"], rubric="1a")


@number("1b")
@weight(8)
def test_what_adding_and_concatenating_imply(submission: Any) -> None:
    """What it means that adding has cross terms and concatenating has none."""
    needs_review(submission.written["1b"], rubric="1b")


@number("1d")
@weight(8)
def test_advantage_of_several_heads(submission: Any) -> None:
    """What several heads are good for, and what kinds of structure they find."""
    needs_review(submission.written["1d"], rubric="1d")


@number("1h")
@weight(5)
def test_why_text_without_labels_is_useful(submission: Any) -> None:
    """Why text without labels can be used for pre-training."""
    needs_review(submission.written["1h"], rubric="1h")

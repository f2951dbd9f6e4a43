"""The questions about attention that a person grades with rubric.yaml."""

from typing import Any

from viva.grading import needs_review, number, weight


@number("2.1.2")
@weight(2)
def test_learning_through_argmax(submission: Any) -> None:
    """Whether queries, keys and values can be learned through argmax attention, and why."""
    needs_review(submission.written["2.1.2"], rubric="2.1.2")


@number("2.2.1")
@weight(2)
def test_when_attention_copies(submission: Any) -> None:
    """Which property of query and keys makes attention copy a value."""
    needs_review(submission.written["2.2.1"], rubric="2.2.1")


@number("2.2.2")
@weight(2)
def test_why_the_matrix_extracts(submission: Any) -> None:
    """That M takes v_a out of the average, and whether it is the only one."""
    needs_review(submission.written["2.2.2"], rubric="2.2.2")


@number("2.2.3")
@weight(2)
def test_why_the_query_averages(submission: Any) -> None:
    """A query that averages two values, why it does, and how large it must be."""
    needs_review(submission.written["2.2.3"], rubric="2.2.3")

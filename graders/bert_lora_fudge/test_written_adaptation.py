"""What a person marks of questions 2 and 3, with rubric.yaml."""

from typing import Any

from viva.grading import needs_review, number, weight


@number("2a")
@weight(1)
def test_how_lora_adapts_a_weight(submission: Any) -> None:
    """What LoRA trains, what it leaves alone, and what the product of two factors means."""
    needs_review(submission.written["2a"], rubric="2a")


@number("2d.i")
@weight(2)
def test_versions_with_adapters(submission: Any) -> None:
    """A workflow with LoRA for a model that is updated often, an advantage and a disadvantage."""
    needs_review(submission.written["2d.i"], rubric="2d.i")


@number("2e")
@weight(2)
def test_how_the_factors_start(submission: Any) -> None:
    """How the two factors are initialised, an advantage and a disadvantage."""
    needs_review(submission.written["2e"], rubric="2e")


@number("3b")
@weight(2)
def test_a_classifier_from_outside(submission: Any) -> None:
    """Why an external classifier is an approximation."""
    needs_review(submission.written["3b"], rubric="3b")


@number("3c")
@weight(2)
def test_sampling_and_ranking(submission: Any) -> None:
    """Why keeping the best of n samples is no way to sample from p(x|a)."""
    needs_review(submission.written["3c"], rubric="3c")


@number("3d")
@weight(1)
def test_two_classifiers(submission: Any) -> None:
    """How the classifier of prefixes differs from one of sentences."""
    needs_review(submission.written["3d"], rubric="3d")


@number("3e")
@weight(1)
def test_data_for_the_prefix_classifier(submission: Any) -> None:
    """Where the labels of prefixes come from, and how the classifier is used."""
    needs_review(submission.written["3e"], rubric="3e")

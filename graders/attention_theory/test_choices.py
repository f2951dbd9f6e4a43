"""Questions 1g, 1h and 1i: true or false, who is right, and which model suits which task."""

from typing import Any

import pytest

from viva.grading import agree_choice, number, weight

TASKS = ["summary", "sentiment", "retrieval", "translation"]


@number("1g")
@weight(2)
def test_masked_autoencoders(submission: Any, key: Any) -> None:
    """Whether masking a token also replaces its positional encoding."""
    agree_choice(submission.answers["1g"], key.answers["1g"])


@number("1h")
@weight(2)
def test_who_is_right(submission: Any, key: Any) -> None:
    """Which of the two students is right about text without labels."""
    agree_choice(submission.answers["1h"], key.answers["1h"])


@number("1i")
@weight(4)
@pytest.mark.parametrize("task", TASKS)
def test_which_model_suits_which_task(submission: Any, key: Any, task: str) -> None:
    """An encoder or an encoder-decoder model for each of the four tasks."""
    beside = submission.answers.readable(f"1i.{other}" for other in TASKS if other != task)
    agree_choice(submission.answers[f"1i.{task}"], key.answers[f"1i.{task}"], beside=beside)

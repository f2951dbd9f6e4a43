"""Answers that a person grades."""

from collections.abc import Sequence
from typing import NoReturn

from viva.grading.signals import NeedsReview


def needs_review(text: str, rubric: str, findings: Sequence[str] = ()) -> NoReturn:
    """End the test: a person grades `text` with the rubric's question `rubric`; the points are pending.

    Args:
        text: the student's prose, for example `submission.written["2.1a"]`; may be empty.
        rubric: the question in rubric.yaml, for example "2.1a".
        findings: what the marker should know and the student may read, a sentence each; they take no points.

    Raises:
        NeedsReview: always.
        TypeError: the arguments are not texts.
        ValueError: the rubric is empty.
    """
    if not isinstance(text, str):
        raise TypeError(f"needs_review: the text to grade is a {type(text).__name__}; expected a string.")
    if not isinstance(rubric, str) or not rubric.strip():
        raise ValueError(f"needs_review: rubric is {rubric!r}; expected the rubric's question, for example '2.1a'.")
    if isinstance(findings, str) or not all(isinstance(finding, str) for finding in findings):
        raise TypeError("needs_review: findings is not a list of sentences.")
    raise NeedsReview(text, rubric, tuple(findings))

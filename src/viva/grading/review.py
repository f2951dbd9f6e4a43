"""Answers that a person marks."""

from typing import NoReturn

from viva.examine.signals import NeedsReview


def needs_review(text: str, rubric: str) -> NoReturn:
    """End the test: a person marks `text` with the rubric's question `rubric`; the points stay open.

    Args:
        text: the student's prose, for example `submission.written["2.1a"]`; may be empty.
        rubric: the question in rubric.yaml, for example "2.1a".

    Raises:
        NeedsReview: always.
        TypeError, ValueError: the arguments are no text, or the rubric is empty.
    """
    if not isinstance(text, str):
        raise TypeError(f"needs_review: the text to be marked is a {type(text).__name__}; expected a string.")
    if not isinstance(rubric, str) or not rubric.strip():
        raise ValueError(f"needs_review: rubric is {rubric!r}; expected the rubric's question, for example '2.1a'.")
    raise NeedsReview(text, rubric)

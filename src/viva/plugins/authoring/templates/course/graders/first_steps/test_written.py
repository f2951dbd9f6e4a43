"""What a person marks, with assignments/first_steps/rubric.yaml."""

from viva.grading import needs_review, number, weight


@number("1.1")
@weight(2)
def test_what_counts_lose(submission):
    """What word counts do not tell about a text."""
    needs_review(submission.written["1.1"], rubric="1.1")

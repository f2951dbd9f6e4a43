"""Signals that end a test without judging it; no `except Exception` of a test's body can swallow them."""

from typing import final


@final
class NeedsReview(BaseException):
    """A person marks this answer: the test ends here, its points stay open.

    Attributes:
        text: the student's prose, as it stands in the submission; may be empty.
        rubric: the question of the rubric that marks it, for example "2.1a".
        findings: sentences that student and marker read beside it.
    """

    def __init__(self, text: str, rubric: str, findings: tuple[str, ...] = ()) -> None:
        super().__init__(f"needs a person, rubric {rubric}")
        self.text = text
        self.rubric = rubric
        self.findings = findings

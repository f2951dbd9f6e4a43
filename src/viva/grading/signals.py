"""Signals that end a test without a verdict; no `except Exception` in a test's body can catch them."""

from typing import final


@final
class NeedsReview(BaseException):
    """A person grades this answer: the test ends here, its points are pending.

    Attributes:
        text: the student's prose, as it is in the submission; may be empty.
        rubric: the question of the rubric that grades it, for example "2.1a"; empty if a person decides the test.
        findings: sentences that student and marker read next to it; without a rubric, clauses that say why.
    """

    def __init__(self, text: str, rubric: str, findings: tuple[str, ...] = ()) -> None:
        super().__init__(f"needs a person, rubric {rubric or 'none'}")
        self.text = text
        self.rubric = rubric
        self.findings = findings

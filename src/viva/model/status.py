"""The nine outcomes of a test, and what each means for the total."""

from enum import StrEnum, unique


@unique
class Status(StrEnum):
    """What happened to one test; `error` and `timeout` are the student's, `grader_error` is ours."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    DEFERRED = "deferred"
    NEEDS_REVIEW = "needs_review"
    GRADER_ERROR = "grader_error"

    @property
    def is_open(self) -> bool:
        """True when the points are neither won nor lost yet: they stand in "still open", never as lost."""
        return self in _OPEN

    @property
    def symbol(self) -> str:
        """One character for tables; always shown beside the word, never alone."""
        return _SYMBOLS[self]


_OPEN = frozenset({Status.DEFERRED, Status.NEEDS_REVIEW, Status.GRADER_ERROR})
_SYMBOLS = {
    Status.PASSED: "✓",
    Status.PARTIAL: "◐",
    Status.FAILED: "✗",
    Status.ERROR: "!",
    Status.TIMEOUT: "⧗",
    Status.SKIPPED: "↷",
    Status.DEFERRED: "…",
    Status.NEEDS_REVIEW: "✎",
    Status.GRADER_ERROR: "⚠",
}

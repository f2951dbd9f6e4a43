"""Write decisions of markers into results, and remove them again: the result keeps the test as it was graded."""

import stat
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.formats.results_json import (
    Results,
    TestResult,
    UnmarkedData,
    load_results,
    open_points,
    to_bytes,
    with_totals,
)
from viva.model import Status
from viva.model.errors import UsageError
from viva.model.hand_grading import CurrentDecision, Judgement, noticed

_MOST_CHARACTERS: Final = 100_000
"""Characters of a comment and the items of a question."""
_CUT: Final = " more characters)"
"""The ending of a text that `escaping` has cut."""


def write_decisions(path: Path, marks: Mapping[str, CurrentDecision], content_hash: str) -> bool:
    """Write what markers decided into a results.json; repeating it changes nothing.

    Args:
        path: the file, as `viva grade -o` wrote it.
        marks: the current decision for each question. A question without one, or one that is pending, stays as it was
            graded.
        content_hash: of the submission that the markers saw.

    Returns:
        Whether the file changed.

    Raises:
        UsageError: it is a link or not a file, is not a result of viva, belongs to another submission by now, or cannot
            be written; then it is unchanged.
    """
    try:
        is_file = stat.S_ISREG(path.lstat().st_mode)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    if not is_file:
        raise UsageError(f"{path} is not a regular file; grades are written into results that `viva grade -o` wrote.")
    before = load_results(path)
    if before.extra_data.content_hash != content_hash:
        raise UsageError(
            f"{path} now belongs to another submission than the one graded by hand, and was not changed; start "
            "`viva review` again to grade that one."
        )
    data = to_bytes(with_decisions(before, marks))
    if data == to_bytes(before):
        return False
    write_atomically(path, data)
    return True


def with_decisions(results: Results, marks: Mapping[str, CurrentDecision]) -> Results:
    """Return a result with exactly these decisions; without any it is as it was graded.

    Decisions count for tests that a person grades. Of several tests of one question the last one takes the decision,
    because its prose was shown.
    """
    decide = {test.extra_data.rubric: at for at, test in enumerate(results.tests) if test.extra_data.rubric}
    judgements = {at: marks[question].judgement for question, at in decide.items() if question in marks}
    tests = [_with_judgement(_as_graded(test), judgements.get(at)) for at, test in enumerate(results.tests)]
    return results if tests == results.tests else _with_tests(results, tests)


def _as_graded(test: TestResult) -> TestResult:
    """Return the test as it was graded."""
    before = test.extra_data.unmarked
    if before is None:
        return test
    as_graded = {"status": Status.NEEDS_REVIEW.value, "earned": before.earned, "cases": before.cases, "unmarked": None}
    return test.model_copy(
        update={
            "score": None,
            "status": None,
            "output": before.output,
            "extra_data": test.extra_data.model_copy(update=as_graded),
        }
    )


def _with_judgement(test: TestResult, judgement: Judgement | None) -> TestResult:
    """Return the test with the decision, if it is graded by a person and the decision is done."""
    exact = test.extra_data
    if judgement is None or not judgement.done or Status(exact.status) is not Status.NEEDS_REVIEW:
        return test
    points = Fraction(exact.points)
    earned = min(judgement.earned, points)  # the test may be worth less than when the decision was made
    status = Status.of_points(earned, points)
    changed: dict[str, object] = {
        "status": status.value,
        "earned": str(earned),
        "cases": [],
        "unmarked": UnmarkedData(output=test.output, earned=exact.earned, cases=exact.cases),
    }
    return test.model_copy(
        update={
            "score": 0.0,  # its share of the total; `with_totals` computes it
            "status": status.gradescope,
            "output": escaping.terminal(
                _feedback(judgement, test.output), characters=_MOST_CHARACTERS, lines=_MOST_CHARACTERS
            ),
            "extra_data": exact.model_copy(update=changed),
        }
    )


def _feedback(judgement: Judgement, output: str) -> str:
    """Return the marker's text, followed by what the test noticed."""
    return "\n".join(part for part in (judgement.told, noticed(output)) if part)


def _with_tests(results: Results, tests: Sequence[TestResult]) -> Results:
    """Return the result with these tests and recomputed totals."""
    changed = with_totals(results, tests)
    line = open_points(Fraction(changed.extra_data.still_open))
    return changed.model_copy(update={"output": _output(results, line)})


def _output(results: Results, line: list[str]) -> str:
    """Return the text above the tests, with a new line about points that are not graded yet."""
    exact = results.extra_data
    lines = results.output.split("\n") if results.output else []
    last = open_points(Fraction(exact.still_open))
    if last and lines[-1:] == last:
        lines.pop()
    elif lines and lines[-1].endswith(_CUT):  # the text was too long for the line when it was graded
        line = []
    return "\n".join([*lines, *line])

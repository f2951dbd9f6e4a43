"""Notes above the tests: how loading went, in a few lines for the student."""

from typing import Final

from viva.examiner.boxes.load import LoadProblem, LoadReport
from viva.examiner.outcome import describe, not_found
from viva.model import Submission
from viva.model.errors import BoxDied, BoxTimeout

SHOWN: Final = 8
WHILE_LOADING: Final = "While loading, "
"""The beginning of a note that says what raised, and where."""


def notes_for_student(
    submission: Submission, report: LoadReport | None, *, with_skipped: bool = True
) -> tuple[str, ...]:
    """Return one note per finding, the most important first, and a count of the rest.

    Args:
        submission: the submission.
        report: what loading it did.
        with_skipped: whether to name the statements that were not run, since only definitions are.
    """
    notes = list(submission.notes)
    if submission.problem:
        return (submission.problem, *notes)
    if report is None:
        return tuple(notes)
    if report.failure is not None:
        return (_failure(report), *notes, *(_problem(problem) for problem in report.problems[:SHOWN]))
    if not report.loaded:
        found = ", ".join(sorted(report.files)[:5]) or "no file"
        wanted = "the name of your file must end in .py or .ipynb"
        notes.insert(0, f"No Python file or notebook was found in your submission (found: {found}): {wanted}.")
    notes += [_problem(p) for p in report.problems[:SHOWN]]
    if len(report.problems) > SHOWN:
        notes.append(f"… and {len(report.problems) - SHOWN} more problems while loading.")
    notes += [report.choice] if report.choice else []
    notes += report.notes[:SHOWN]
    if len(report.notes) > SHOWN:
        notes.append(f"… and {len(report.notes) - SHOWN} more notes about your files.")
    if report.skipped and with_skipped:
        more = f" and {len(report.skipped) - SHOWN} more" if len(report.skipped) > SHOWN else ""
        notes.append(
            "Not run, as the assignment says (definitions only): " + "; ".join(report.skipped[:SHOWN]) + more + "."
        )
    return tuple(notes)


def _failure(report: LoadReport) -> str:
    cause = report.failure.cause if report.failure else None
    match cause:
        case BoxTimeout():
            return (
                "Your submission did not finish loading in time: look for a loop that never ends, "
                "or for work that belongs into a function."
            )
        case BoxDied():
            return f"Your submission ended the Python process each time it was loaded: {cause.reason}."
        case _:
            return "Your submission broke the connection to the grader each time it was loaded."


def _problem(problem: LoadProblem) -> str:
    if problem.missing_module and not (problem.raised and problem.raised.missing_attribute):
        return f"{problem.where} needs the module `{problem.missing_module}`, {not_found(problem.missing_module)}"
    if problem.raised is not None:
        return f"{WHILE_LOADING}{problem.where}: {describe(problem.raised)}"
    return f"{WHILE_LOADING}{problem.where}: {problem.text}"

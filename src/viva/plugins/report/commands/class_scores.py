"""Where commands about a class read their scores: a folder of results, or the course's records."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from viva.config import Course
from viva.formats.results_json import load_results, results_below
from viva.model import Attempt, ScoredAttempt, Student
from viva.model.errors import UsageError
from viva.model.submission import ARCHIVES
from viva.plugins.records.open_records import open_records

Reduced = Callable[[ScoredAttempt], ScoredAttempt]
_ENDINGS: Final = (".py", ".ipynb", *ARCHIVES)


def assignment_meant(course: Course, what: Path, url: str | None) -> str | None:
    """Return the assignment whose kept scores are meant; None if a folder of results is meant.

    A folder that holds results takes precedence over an assignment of the same name.

    Raises:
        UsageError: it is neither, or `--records` was given for something that is not an assignment.
    """
    if url is not None:
        return course.assignment(str(what)).name
    if what.exists() and (str(what) not in course.assignments or next(what.rglob("results.json"), None)):
        return None
    if str(what) in course.assignments:
        return str(what)
    there = ", ".join(course.assignments)
    raise UsageError(f"{what}: no such folder of results, and no assignment of the course ({there}).")


def scores_in_records(
    course: Course, assignment: str, url: str | None, reduced: Reduced = lambda one: one
) -> list[ScoredAttempt]:
    """Return the scores of an assignment: every submitted attempt, with what people decided.

    Args:
        course: whose records they are.
        assignment: its name.
        url: of the records; None for the course's.
        reduced: returns what is kept of each attempt.

    Raises:
        UsageError: the course keeps no records, or they hold none of the assignment.
    """
    with open_records(course, url) as records:
        from viva.plugins.records.overrides import decided

        found = [reduced(kept.scored) for kept in decided(records, assignment)]
    if not found:
        raise UsageError(f"The records hold no score of {assignment}; `viva grade` adds some.")
    return _with_own_names(found)


def scores_below(folder: Path, reduced: Reduced = lambda one: one) -> list[ScoredAttempt]:
    """Return the results in a folder: each path below it is a submission, and its last part the student's id.

    Args:
        folder: what `viva grade -o` wrote.
        reduced: returns what is kept of each result.

    Raises:
        UsageError: there is no result, one cannot be read, or two belong to the same student.
    """
    from viva.plugins.report.load_results import read_score

    attempts: dict[tuple[str, str], ScoredAttempt] = {}
    for path in results_below(folder):
        name = path.parent.as_posix()
        student = Student(_without_ending(PurePosixPath(name).name))
        score = read_score(load_results(folder / path))
        one = reduced(ScoredAttempt(Attempt(name, folder / path.parent, (student,)), score))
        there = attempts.setdefault((score.assignment, student.id), one)
        if there.attempt.name != name:
            raise UsageError(
                f"{there.attempt.name} and {name} are both submissions of `{student.id}`, and nothing says which "
                "counts; grade folders that are named after students."
            )
    return list(attempts.values())


def missing(attempts: Iterable[ScoredAttempt], listed: Iterable[Student]) -> list[Student]:
    """Return who is on the list and has submitted nothing."""
    there = {student.id for one in attempts for student in one.attempt.students}
    return [student for student in listed if student.id not in there]


def _with_own_names(attempts: Iterable[ScoredAttempt]) -> list[ScoredAttempt]:
    """Return the attempts with distinct names: of several under one name, the last one keeps it."""
    taken: set[str] = set()
    found = []
    for one in reversed(list(attempts)):
        name = wished = one.attempt.name
        number = one.attempt.number
        while name in taken:
            name, number = f"{wished}-attempt-{number}", number + 1
        taken.add(name)
        found.append(replace(one, attempt=replace(one.attempt, name=name)))
    return found[::-1]


def _without_ending(name: str) -> str:
    ending = next((e for e in sorted(_ENDINGS, key=len, reverse=True) if name.lower().endswith(e)), "")
    return name[: len(name) - len(ending)] or name

"""Compute the grades of a class, for commands that write them or send them."""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from viva.cli.shared.options import open_course
from viva.config import Assignment, Course
from viva.config.policy import Policy
from viva.formats.escaping import line
from viva.model import ScoredAttempt, Student
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.model.outlines import Outlines
from viva.plugins.cohorts.commands.options import ClassChoice
from viva.plugins.cohorts.exports.read_class import match_students
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.plugins.cohorts.gradebook.final_grades import (
    Grade,
    compute_final_grades,
    list_unknown_exceptions,
    list_without_submitter,
    round_grades,
)
from viva.plugins.report.commands.class_scores import assignment_meant, scores_below, scores_in_records


def compute_grades(results: Path, choice: ClassChoice, *, with_open: bool) -> tuple[list[ReturnedGrade], Assignment]:
    """Return the grades of a class and their assignment; say which submissions and exceptions belong to no one.

    Args:
        results: an assignment whose scores the course keeps, or a folder of results.
        choice: which class it is.
        with_open: return grades that are not complete with the points so far.

    Raises:
        UsageError: the scores cannot be read, or programs ran with less isolation than the assignment asks for.
    """
    course = open_course(choice.course_dir)
    attempts, chosen, students = _class(course, results, choice)
    _refuse_below(chosen, attempts)
    policy, exceptions = chosen.policy(), chosen.exceptions()
    grades = compute_final_grades(attempts, students, policy, exceptions, datetime.datetime.now(datetime.UTC))
    for name in list_without_submitter(attempts):
        click.echo(f"viva: {line(name)}: viva does not know who submitted it, so no one gets a grade for it.", err=True)
    for id_ in list_unknown_exceptions(exceptions, grades):
        click.echo(f"viva: exceptions.yaml names `{line(id_)}`, but no student of the class has this id.", err=True)
    if sentence := _describe_unknown_times(grades, policy):
        click.echo(f"viva: {sentence}", err=True)
    return round_grades(grades, policy.rounding, with_open=with_open), chosen


def _describe_unknown_times(grades: Sequence[Grade], policy: Policy) -> str:
    """Return a sentence about grades to which the late policy could not be applied; empty if there are none."""
    if not (policy.late or policy.closes):
        return ""
    unknown = [grade.attempt for grade in grades if grade.attempt and grade.attempt.submitted_at is None]
    if not unknown:
        return ""
    late = sorted(line(attempt.name) for attempt in unknown if attempt.late)
    called_late = f"; their source calls {len(late)} of them late: {', '.join(late)}" if late else ""
    return (
        f"the late policy was not applied to {counted(len(unknown), 'submission')}, because nothing says when they "
        f"were submitted{called_late}. Take points off in exceptions.yaml, or give an export with times (--class)."
    )


def _refuse_below(chosen: Assignment, attempts: Sequence[ScoredAttempt]) -> None:
    """Refuse scores whose programs ran with less isolation than the assignment asks for: they may be forged."""
    below = {
        one.attempt.name: one.score.isolation.tier for one in attempts if one.score.isolation.is_below(chosen.min_tier)
    }
    if below:
        names = ", ".join(f"{line(name)} ({tier})" for name, tier in list(below.items())[:5])
        more = f" and {len(below) - 5} more" if len(below) > 5 else ""
        raise UsageError(
            f"{chosen.name} asks for isolation {chosen.min_tier} or better (min_tier), and these ran with less: "
            f"{names}{more}. `viva grade` them again; nothing was written."
        )


def _class(course: Course, what: Path, choice: ClassChoice) -> tuple[list[ScoredAttempt], Assignment, list[Student]]:
    """Return the scores, their assignment, and everyone who is known to be in the class."""
    kept, outlines = assignment_meant(course, what, choice.records_url), Outlines()

    def reduced(one: ScoredAttempt) -> ScoredAttempt:  # grades need no messages
        return replace(one, score=outlines.reduce(one.score))

    if kept is None:
        if choice.export is not None:
            raise UsageError("--class is for scores that the course keeps: give the name of the assignment, not DIR.")
        found, chosen = _of_assignment(course, scores_below(what, reduced), choice.assignment)
    elif choice.assignment not in (None, kept):
        raise UsageError(f"{what} is an assignment, and -a {choice.assignment} another one: leave out one of the two.")
    else:
        found, chosen = scores_in_records(course, kept, choice.records_url, reduced), course.assignment(kept)
    attempts, students = match_students(found, choice.roster, choice.export)
    return attempts, chosen, students


def _of_assignment(
    course: Course, attempts: Sequence[ScoredAttempt], name: str | None
) -> tuple[list[ScoredAttempt], Assignment]:
    """Return the scores of the named assignment, or of the only one that has results, and the assignment."""
    names = sorted({each.score.assignment for each in attempts})
    if name is None and len(names) > 1:
        raise UsageError(f"There are results of several assignments ({', '.join(names)}); say which with -a.")
    chosen = course.assignment(name or names[0])
    found = [each for each in attempts if each.score.assignment == chosen.name]
    if not found:
        raise UsageError(f"There is no result of `{chosen.name}`; there are results of: {', '.join(names)}.")
    return found, chosen

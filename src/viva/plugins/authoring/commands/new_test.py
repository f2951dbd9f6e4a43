"""`viva new-test NUMBER [FUNCTION]`: write a test's skeleton, from a function or class of the key or for an answer."""

from pathlib import Path

import click

from viva.cli.shared.options import course_option, open_course
from viva.config import Assignment, Course
from viva.model.errors import UsageError
from viva.plugins.authoring.by_hand_skeleton import KINDS, write_by_hand
from viva.plugins.authoring.skeleton import write_skeleton


@click.command("new-test")
@click.argument("question", metavar="NUMBER")
@click.argument("function", required=False, metavar="[FUNCTION]")
@click.option("--answer", type=click.Choice(KINDS), help="The answer is not code: ask for an answer of this kind.")
@click.option("--assignment", "-a", metavar="NAME", help="The assignment (needed where the course has several).")
@course_option
def command(
    question: str, function: str | None, answer: str | None, assignment: str | None, course_dir: Path | None
) -> int:
    """Append a skeleton for question NUMBER to the graders.

    The test compares FUNCTION, a function or class of the answer key, with the student's. You can leave FUNCTION out if
    exactly one is not tested yet. With --answer, the test compares an answer of answers.yaml, and the key, the starter
    and (for written answers) rubric.yaml get a line to complete.
    """
    course = open_course(course_dir)
    chosen = _assignment(course, assignment)
    if answer is None:
        path = write_skeleton(chosen, course.root, question, function)
        click.echo(f"{path}: draw what the question is about, then run `viva verify {chosen.name}`.")
        return 0
    if function is not None:
        raise UsageError(f"Give either FUNCTION or --answer; `{function}` with --answer {answer} has no meaning.")
    for path in write_by_hand(chosen, question, answer):
        click.echo(f"{path}: complete question {question}.")
    click.echo(f"Then run `viva verify {chosen.name}`.")
    return 0


def _assignment(course: Course, name: str | None) -> Assignment:
    if name is None and len(course.assignments) != 1:
        raise UsageError(f"Which assignment? Say --assignment NAME: {', '.join(course.assignments)}.")
    return course.assignment(name or course.assignments[0])

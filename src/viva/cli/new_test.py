"""`viva new-test NUMBER [FUNCTION]`: write a test's skeleton from the signature of the key's function."""

from pathlib import Path

import click

from viva.authoring.skeleton import write_skeleton
from viva.cli.shared.options import course_option, open_course
from viva.config import Assignment, Course
from viva.model.errors import UsageError


@click.command("new-test")
@click.argument("question", metavar="NUMBER")
@click.argument("function", required=False, metavar="[FUNCTION]")
@click.option("--assignment", "-a", metavar="NAME", help="The assignment (needed where the course has several).")
@course_option
def command(question: str, function: str | None, assignment: str | None, course_dir: Path | None) -> int:
    """Append a skeleton for question NUMBER to the graders, asking FUNCTION of the answer key.

    FUNCTION may be left out where the key has exactly one that no test asks yet.
    """
    course = open_course(course_dir)
    chosen = _assignment(course, assignment)
    path = write_skeleton(chosen, course.root, question, function)
    click.echo(f"{path}: draw what the question is about, then run `viva verify {chosen.name}`.")
    return 0


def _assignment(course: Course, name: str | None) -> Assignment:
    if name is None and len(course.assignments) != 1:
        raise UsageError(f"Which assignment? Say --assignment NAME: {', '.join(course.assignments)}.")
    return course.assignment(name or course.assignments[0])

"""`viva new NAME`: add an assignment to a course."""

from pathlib import Path

import click

from viva.authoring.new_assignment import add_assignment
from viva.cli.shared.options import course_option, open_course


@click.command("new")
@click.argument("name", metavar="NAME")
@click.option("--title", metavar="TEXT", help="What students read (default: NAME in words).")
@course_option
def command(name: str, title: str | None, course_dir: Path | None) -> int:
    """Add an assignment called NAME to the course, with one small question to replace.

    Exit status: 0 added, 1 the name is taken or a file cannot be written; nothing is changed then.
    """
    course = open_course(course_dir)
    add_assignment(course, name, title)
    click.echo(f"{name}: a new assignment with an example of each part. Replace:")
    click.echo(f"  assignments/{name}     the handout, the points, and the starter that students get")
    click.echo(f"  graders/{name}         the answer key and the tests; `viva new-test` adds tests")
    click.echo(f"  fixtures/{name}        example submissions and the verdicts that you expect")
    click.echo(f"Next: viva verify {name}")
    return 0

"""`viva init DIR`: make a new course that can be verified at once."""

import shlex
from pathlib import Path

import click

from viva.plugins.authoring.empty_course import make_course


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def command(folder: Path) -> int:
    """Make a course with one small assignment in DIR, which must be empty or new."""
    make_course(folder)
    click.echo(f"{folder}: a course with one assignment, `first_steps`. Next:")
    click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo("  viva verify                                   test the tests with the example submissions")
    click.echo("  viva check assignments/first_steps/starter    see what a student sees")
    click.echo("  viva new NAME                                 add an assignment")
    return 0

"""`viva example ASSIGNMENT NAME`: lay an example submission out, or store an edited copy as one."""

import os
from pathlib import Path

import click

from viva.cli.shared.options import course_option, open_course
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.plugins.authoring.store_example import copy_example, store_example


@click.command("example")
@click.argument("assignment", metavar="ASSIGNMENT")
@click.argument("name", metavar="KIND/NAME")
@click.option("--to", "target", type=click.Path(path_type=Path), metavar="DIR", help="Write its files into a new DIR.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Store the submission at PATH under this name.",
)
@click.option("--mistake", default="", metavar="TEXT", help="With --from: what is wrong with it, in one sentence.")
@click.option("--base", metavar="KIND/NAME", help="With --from: what it is a copy of (default: the most similar one).")
@course_option
def command(
    assignment: str,
    name: str,
    target: Path | None,
    source: Path | None,
    mistake: str,
    base: str | None,
    course_dir: Path | None,
) -> int:
    """Write out an example submission, or store one.

    An example such as wrong/keeps_case is stored as a copy of a right one, with a patch that is its mistake. Edit what
    --to writes, and --from stores what you changed.
    """
    if (target is None) == (source is None):
        raise UsageError("Give either --to DIR, to get the files of the example, or --from PATH, to store it.")
    course = open_course(course_dir)
    chosen = course.assignment(assignment)
    if target is not None:
        copy_example(course, chosen, name, target)
        click.echo(f"{target}: the files of {name}.")
        return 0
    assert source is not None, "one of the two is given"
    stored = store_example(course, chosen, name, source, base, mistake)
    what = f"a copy of {stored.base} with {counted(stored.changed_lines, 'changed line')}" if stored.base else "stored"
    files = f" and {counted(stored.whole_files, 'whole file')}" if stored.whole_files else ""
    click.echo(f"{os.path.relpath(stored.folder)}: {what}{files}.")
    click.echo(f"Next: viva verify {assignment}")
    return 0

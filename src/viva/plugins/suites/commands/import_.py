"""`viva import TOOL PATH --to DIR`: convert another tool's assignments into a viva course."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.plugins.suites.importing.new_course import ImportedAssignment


@click.command("import")
@click.argument("tool", type=click.Choice(["nbgrader", "otter", "gradescope", "github-classroom"]))
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--to", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="The new course's folder; it must be empty or new.")  # fmt: skip
@click.option("--module", metavar="FILE", help="gradescope: the file that students submit, such as hw1.py.")
@click.option("--tests", metavar="DIR", help="gradescope: the folder of the suite, below PATH.")
def command(tool: str, path: Path, to: Path, module: str | None, tests: str | None) -> int:
    """Make a course of the assignments in PATH: a folder, or a zip archive, of another tool.

    nbgrader: a course (source/<assignment>/*.ipynb) or one assignment's source folder. otter: what `otter assign`
    makes, an autograder.zip, or a master notebook. gradescope: an autograder with tests of gradescope-utils.
    github-classroom: a template repository with autograding.json, or a workflow that uses Classroom's graders.
    """
    from viva.plugins.suites.importing.new_course import write_course

    if tool != "gradescope" and (module or tests):
        raise UsageError("--module and --tests are for gradescope; the other tools say which files are which.")
    assignments = _reader(tool, module, tests)(path)
    title = path.resolve().name.removesuffix(".zip").removesuffix(".ipynb")
    write_course(to, title, assignments)
    count = "one assignment" if len(assignments) == 1 else f"{len(assignments)} assignments"
    click.echo(f"{to}: a course with {count}: {', '.join(each.name for each in assignments)}.")
    named: dict[str, list[str]] = {}
    for each in assignments:
        for note in each.notes:
            named.setdefault(note, []).append(each.name)
    for note, names in named.items():
        whose = "all" if len(names) == len(assignments) > 1 else ", ".join(names)
        click.echo(f"  {whose}: {note}")
    if any("suite" in each.settings for each in assignments):
        click.echo("These tests run in the same sandbox as the graded code, and every result says so.")
    click.echo("Next:")
    click.echo(f"  cd {shlex.quote(str(to))}")
    if any(each.accepted for each in assignments):
        click.echo("  viva verify --no-mutants        your own solution gets full marks")
    click.echo("  viva grade SUBMISSION …         the totals that you had")
    return 0


def _reader(tool: str, module: str | None, tests: str | None) -> "Callable[[Path], list[ImportedAssignment]]":
    if tool == "nbgrader":
        from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader

        return import_nbgrader
    if tool == "otter":
        from viva.plugins.suites.otter.otter_import import import_otter

        return import_otter
    if tool == "github-classroom":
        from viva.plugins.suites.importing.classroom_import import import_classroom

        return import_classroom
    from viva.plugins.suites.importing.gradescope_import import import_gradescope

    return partial(import_gradescope, module=module, tests=tests)

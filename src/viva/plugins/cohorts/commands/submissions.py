"""`viva submissions PATH`: show a platform's export as viva reads it: who submitted what, and who did not."""

import os
import tempfile
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from viva.model.errors import UsageError


@click.command("submissions")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--roster", type=click.Path(path_type=Path), metavar="FILE",
              help="A list of the class as CSV, from one of the platforms or of your own (id,name,email).")  # fmt: skip
@click.option("--zone", metavar="ZONE",
              help="Zone of times that are written without one (Brightspace), such as Europe/Zurich.")  # fmt: skip
@click.option("--as-csv", is_flag=True, help="Print a table for a spreadsheet: one row for each person and submission.")
def command(path: Path, roster: Path | None, zone: str | None, as_csv: bool) -> int:
    """Show what is in PATH: a folder, or the archive that a platform exported, with the work of a whole class.

    Known are Canvas, Moodle, Gradescope, Brightspace, GitHub's classroom, nbgrader, and folders with a folder, an
    archive or a file for each student. Nothing is graded, and students' own archives are not opened.

    Exit status: 0 recognised, 1 not recognised, the roster cannot be read, or a file belongs to no known student.
    """
    from viva.formats.class_table import ClassView
    from viva.plugins.cohorts.exports.read_class import read_class

    known = _zone(zone) if zone is not None else None
    with tempfile.TemporaryDirectory(prefix="viva-class-") as folder:  # made with mode 0700
        found = read_class(path, roster=roster, into=Path(os.path.realpath(folder)), zone=known)
    unmatched = [(each.name, each.reason) for each in found.unmatched]
    view = ClassView(found.source, found.attempts, unmatched, found.missing, found.notes)
    if as_csv:
        click.echo(view.csv(), nl=False)
    else:
        view.print()
    return 1 if unmatched else 0


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        raise UsageError(f"--zone {name}: there is no such time zone; give one such as Europe/Zurich or UTC.") from None

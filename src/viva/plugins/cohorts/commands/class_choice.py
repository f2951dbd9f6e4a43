"""Options that say which class is meant: its assignment, its course, its scores, and who is in it."""

from dataclasses import dataclass
from pathlib import Path

import click

from viva.cli.shared.option_groups import option_group
from viva.cli.shared.options import course_option
from viva.cli.shared.record_options import records_option


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """The class whose grades are computed."""

    assignment: str | None
    course_dir: Path | None
    records_url: str | None
    roster: Path | None
    export: Path | None


ASSIGNMENT = click.option(
    "--assignment", "-a", metavar="NAME", help="The assignment (default: the only one of the results)."
)
ROSTER = click.option("--roster", type=click.Path(path_type=Path), metavar="FILE", help="The class list, as CSV.")
EXPORT = click.option(
    "--class", "export", type=click.Path(path_type=Path), metavar="EXPORT",
    help="What a platform exported of the class: says who is in it, and that all of it was graded.",
)  # fmt: skip
class_options = option_group("choice", ClassChoice, ASSIGNMENT, course_option, records_option, ROSTER, EXPORT)
"""Add these options, as the one argument `choice`."""

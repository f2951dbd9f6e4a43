"""Options that say which class is meant, and which assignment on a learning platform."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.option_groups import option_group
from viva.cli.shared.options import course_option
from viva.cli.shared.record_options import records_option
from viva.model.extras import need

if TYPE_CHECKING:
    from viva.plugins.cohorts.lms.platform import Platform


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """The class whose grades are computed."""

    assignment: str | None
    course_dir: Path | None
    records_url: str | None
    roster: Path | None
    export: Path | None


class_options = option_group(
    "choice",
    ClassChoice,
    click.option("--assignment", "-a", metavar="NAME", help="The assignment (default: the only one of the results)."),
    course_option,
    records_option,
    click.option("--roster", type=click.Path(path_type=Path), metavar="FILE", help="The class list, as CSV."),
    click.option(
        "--class", "export", type=click.Path(path_type=Path), metavar="EXPORT",
        help="What a platform exported of the class: says who is in it, and that all of it was graded.",
    ),
)  # fmt: skip
"""Add these options, as the one argument `choice`."""
results_argument = click.argument("results", type=click.Path(path_type=Path), metavar="ASSIGNMENT|DIR")
platform_argument = click.argument("platform", type=click.Choice(["canvas", "moodle"]))
page_option = click.option(
    "--at", "page", required=True, metavar="URL",
    help="The address of the assignment's page there, as your browser shows it.",
)  # fmt: skip
rescale_option = click.option("--rescale", is_flag=True, help="Convert grades where the platform has another maximum.")


@contextmanager
def connect_platform(platform: str, page: str) -> "Iterator[Platform]":
    """Connect to an assignment on a platform.

    Args:
        platform: "canvas" or "moodle".
        page: the address of the assignment's page.

    Raises:
        UsageError: the address is wrong, there is no token, or httpx2 is not installed.
    """
    need("lms", "Talking to a learning platform needs")
    from viva.plugins.cohorts.lms.canvas import Canvas
    from viva.plugins.cohorts.lms.connection import Connection
    from viva.plugins.cohorts.lms.moodle import Moodle
    from viva.plugins.cohorts.lms.site import find_token, read_address

    address = read_address(platform, page)
    token = find_token(platform, address.host, os.environ)
    with Connection(address.site, token) as connection:
        yield Canvas(connection, address, token) if platform == "canvas" else Moodle(connection, address, token)

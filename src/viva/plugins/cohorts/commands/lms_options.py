"""Options of commands that talk to a learning platform."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from viva.model.extras import need

if TYPE_CHECKING:
    from viva.plugins.cohorts.lms.platform import Platform

PLATFORMS: Final = ("canvas", "moodle")


def platform_argument(function: Callable[..., object]) -> Callable[..., object]:
    """Add the argument `canvas|moodle`."""
    return click.argument("platform", type=click.Choice(PLATFORMS))(function)


def at_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--at URL`."""
    return click.option(
        "--at", "page", required=True, metavar="URL",
        help="The address of the assignment's page there, as your browser shows it.",
    )(function)  # fmt: skip


@contextmanager
def connected(platform: str, page: str) -> "Iterator[Platform]":
    """Connect to an assignment on a platform.

    Args:
        platform: one of `PLATFORMS`.
        page: the address of the assignment's page.

    Raises:
        UsageError: the address is wrong, there is no token, or httpx2 is not installed.
    """
    need("lms", "Talking to a learning platform needs")
    from viva.plugins.cohorts.lms.access_token import find_token
    from viva.plugins.cohorts.lms.address import read_address
    from viva.plugins.cohorts.lms.canvas import Canvas
    from viva.plugins.cohorts.lms.connection import Connection
    from viva.plugins.cohorts.lms.moodle import Moodle

    address = read_address(platform, page)
    token = find_token(platform, address.host, os.environ)
    with Connection(address.site, token) as connection:
        yield Canvas(connection, address, token) if platform == "canvas" else Moodle(connection, address, token)

"""Options about the records: where scores are kept, who makes a change, and why."""

import getpass
from collections.abc import Callable
from dataclasses import dataclass

import click

from viva.cli.shared.option_groups import option_group
from viva.model.reason import Reason


def records_option(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--records URL`."""
    return click.option(
        "--records", "records_url", metavar="URL",
        help="Where scores are kept (default: `records` of grader.yaml): sqlite:///FILE or postgresql://USER@HOST/NAME.",
    )(function)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WhoAndWhy:
    """`--by NAME` and `--why REASON`."""

    by: str
    why: str

    def reason(self) -> Reason:
        """Return who does it and why, as the records keep it."""
        return Reason(self.by or login_name(), self.why)


BY = click.option("--by", default="", metavar="NAME", help="Who does this (default: your login name).")
WHY = click.option("--why", default="", metavar="REASON", help="Why; kept with the score.")
reason_options = option_group("who", WhoAndWhy, BY, WHY)
"""Add `--by NAME` and `--why REASON`, as the one argument `who`."""


def login_name() -> str:
    """Return the login name of the user who runs the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a user list
        return "somebody"

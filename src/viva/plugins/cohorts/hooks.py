"""What this plugin adds: the reader of exports, and commands about a class and its grades."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viva.hooks import Command, hookimpl

if TYPE_CHECKING:
    from viva.submissions.class_export import CohortReader

_COMMANDS = "viva.plugins.cohorts.commands"


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    return [
        Command("pull", f"{_COMMANDS}.pull", "Fetch submissions and roster from Canvas or Moodle.", "Grade"),
        Command("submissions", f"{_COMMANDS}.submissions", "Show who submitted what in a platform's export.", "Grade"),
        Command("grades", f"{_COMMANDS}.grades", "Turn scores into grades for Canvas, Moodle or a table.", "Hand back"),
        Command("push", f"{_COMMANDS}.push", "Send grades and feedback to Canvas or Moodle.", "Hand back"),
    ]


@hookimpl
def viva_cohort_reader() -> "CohortReader":
    """Return the reader of exports."""
    from viva.plugins.cohorts.exports import read_class

    return read_class

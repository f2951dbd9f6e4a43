"""What this plugin adds: commands about a class and its grades."""

from collections.abc import Sequence

from viva.hooks import Command, hookimpl

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

"""What this plugin adds: the commands with which students check their own work."""

from collections.abc import Sequence

from viva.hooks import Command, hookimpl

_COMMANDS = "viva.plugins.selfcheck.commands"
_GROUP = "Check your own work"


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    return [
        Command("check", f"{_COMMANDS}.check", "Run the public tests on your work.", _GROUP),
        Command("pack", f"{_COMMANDS}.pack", "Create the archive to submit, and check it.", _GROUP),
    ]

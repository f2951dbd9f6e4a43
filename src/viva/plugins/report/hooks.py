"""What this plugin adds: `viva report`."""

from collections.abc import Sequence

from viva.hooks import Command, hookimpl


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    module = "viva.plugins.report.commands.report"
    return [Command("report", module, "Report on a class; write feedback for students.", "Look")]

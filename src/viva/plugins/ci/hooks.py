"""What this plugin adds: `viva export`."""

from collections.abc import Sequence

from viva.hooks import Command, hookimpl


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    module = "viva.plugins.ci.commands.export"
    return [Command("export", module, "Write results for CI systems, or code to compare.", "Hand back")]

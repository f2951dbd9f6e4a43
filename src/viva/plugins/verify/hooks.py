"""What this plugin adds: `viva verify`."""

from collections.abc import Sequence

from viva.hooks import Command, hookimpl


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    module = "viva.plugins.verify.commands.verify"
    return [Command("verify", module, "Test the tests: grade the example submissions.", "Write")]

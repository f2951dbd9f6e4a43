"""What this plugin adds: `viva review`."""

from collections.abc import Sequence

from viva.hooks import Command, hookimpl


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    module = "viva.plugins.review.commands.review"
    return [Command("review", module, "Grade written answers in the browser.", "Grade by hand")]

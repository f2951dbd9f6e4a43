"""What this plugin adds: `viva release` and `viva preview`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viva.hooks import Command, hookimpl
from viva.plugins.release import KEY_RECORDER

if TYPE_CHECKING:
    from viva.examiner.interceptor import Interceptor

_COMMANDS = "viva.plugins.release.commands"


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    return [
        Command("preview", f"{_COMMANDS}.preview", "Show what students will get and see.", "Write"),
        Command("release", f"{_COMMANDS}.release", "Create what students or Gradescope get.", "Hand out"),
    ]


@hookimpl
def viva_interceptor(name: str) -> "Interceptor | None":
    """Return the recorder of the key."""
    if name != KEY_RECORDER:
        return None
    from viva.plugins.release.key_recorder import KeyRecorder

    return KeyRecorder()

"""The commands: their modules, their lines in `viva --help`, and the groups in which that shows them."""

import functools
from typing import Final

from viva.hooks import Command, hooks

GROUPS: Final = (
    "Set up",
    "Write",
    "Hand out",
    "Check your own work",
    "Grade",
    "Look",
    "Grade by hand",
    "Hand back",
)
"""The headings of `viva --help`; those that only other people's plugins name come after them."""
CORE: Final = {
    command.name: command
    for command in (
        Command("doctor", "viva.cli.doctor", "Show isolation levels and features of this machine.", "Set up"),
        Command("schema", "viva.cli.schema", "Print the JSON Schema of a course file or of results.json.", "Write"),
        Command("grade", "viva.cli.grade", "Grade submissions and write their results.", "Grade"),
        Command("merge", "viva.cli.merge", "Combine results of several runs.", "Grade"),
        Command("explain", "viva.cli.explain", "Run one test again and show its questions.", "Look"),
        Command("shell", "viva.cli.shell", "Try a submission in its sandbox.", "Look"),
        Command("diff", "viva.cli.diff", "Show what changed between two results.", "Look"),
    )
}
"""The commands of the core: they run without asking plugins what they have."""
ALIASES: Final = {"class": "submissions", "marks": "grades", "why": "explain"}
"""Earlier names, which help does not list."""


@functools.cache
def commands() -> dict[str, Command]:
    """Return all commands by their names, in the order of `viva --help`; asks the plugins."""
    plugins = reversed(hooks().viva_commands())  # the hook gives what was registered last first
    found = {command.name: command for table in plugins for command in table} | CORE
    groups = dict.fromkeys([*GROUPS, *(command.group for command in found.values())])
    return {name: command for group in groups for name, command in found.items() if command.group == group}


def find_command(name: str) -> Command | None:
    """Return the command of that name or alias; None if no such command exists."""
    name = ALIASES.get(name, name)
    return CORE.get(name) or commands().get(name)

"""What this plugin adds: commands for authors, and tests that are made again from a solved notebook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viva.hooks import Command, hookimpl

if TYPE_CHECKING:
    from viva.config import Course

_COMMANDS = "viva.plugins.authoring.commands"


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    return [
        Command("init", f"{_COMMANDS}.init", "Create a course.", "Set up"),
        Command("new", f"{_COMMANDS}.new", "Add an assignment to a course.", "Write"),
        Command("new-test", f"{_COMMANDS}.new_test", "Create a test for a question.", "Write"),
        Command("example", f"{_COMMANDS}.example", "Write out an example submission, or store one.", "Write"),
    ]


@hookimpl
def viva_before_grading(course: "Course") -> None:
    """Make tests again that come from a solved notebook that has changed."""
    from viva.config.assignment import TESTS

    if any((course.root / "assignments" / name / TESTS).is_file() for name in course.assignments):
        from viva.plugins.authoring.solved.solved_assignment import refresh

        refresh(course)

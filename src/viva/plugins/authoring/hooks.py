"""What this plugin adds: commands for authors, and files that are made again where their source has changed."""

import contextlib
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
    """Make again the starter's places for answers, and tests that come from a solved notebook that has changed."""
    from viva.config.assignment import TESTS
    from viva.model.errors import CourseError
    from viva.plugins.authoring.source.answers_starter import refresh_answers

    for name in course.assignments:
        settings = course.root / "assignments" / name / "assignment.yaml"
        if settings.is_file() and b"\nanswers:" in settings.read_bytes():
            # What is wrong with one assignment is said by the command that grades it, and stops no other.
            with contextlib.suppress(CourseError):
                refresh_answers(course.assignment(name))
    if any((course.root / "assignments" / name / TESTS).is_file() for name in course.assignments):
        from viva.plugins.authoring.solved.solved_assignment import refresh

        refresh(course)

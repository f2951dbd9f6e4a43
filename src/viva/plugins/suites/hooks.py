"""What this plugin adds: suites of other tools as graders, and `viva import`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viva.hooks import Command, Suite, hookimpl

if TYPE_CHECKING:
    from viva.config import Assignment, Course


@hookimpl
def viva_commands() -> Sequence[Command]:
    """Return the commands."""
    module = "viva.plugins.suites.commands.import_"
    return [Command("import", module, "Create a course from assignments of another tool.", "Set up")]


@hookimpl
def viva_suite_grader(assignment: "Assignment") -> Suite | None:
    """Return how to run the suite, which is imported only where it is needed."""
    if assignment.suite is None:
        return None
    if assignment.suite == "unittest":
        from viva.plugins.suites.unittests.suite_grader import PRELOAD, SuiteGrader

        return Suite(PRELOAD, SuiteGrader.start)
    from viva.plugins.suites.cells.cell_grader import PRELOAD, CellGrader

    return Suite(PRELOAD, CellGrader.start)


@hookimpl
def viva_before_grading(course: "Course") -> bool:
    """Make again what comes from a master notebook that has changed."""
    settings = (course.root / "assignments" / name / "assignment.yaml" for name in course.assignments)
    if not any(path.is_file() and b"\nmaster:" in path.read_bytes() for path in settings):
        return False
    from viva.plugins.suites.importing.follow_master import follow_masters

    return follow_masters(course)

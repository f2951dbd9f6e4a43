"""What this plugin adds: suites of other tools as graders, and `viva import`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from viva.hooks import Command, Suite, hookimpl

if TYPE_CHECKING:
    from viva.config import Assignment, Course


_GRADESCOPE = "gradescope_utils.autograder_utils"


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
        from viva.plugins.suites.unittests.suite_run import start_unittest

        return Suite(("unittest", f"{_GRADESCOPE}.decorators?", f"{_GRADESCOPE}.files?"), start_unittest)
    if assignment.suite == "nbgrader":
        from viva.plugins.suites.nbgrader.nbgrader_grading import start_nbgrader

        return Suite(("doctest", "IPython?"), start_nbgrader)
    from viva.plugins.suites.otter.otter_grading import start_otter

    return Suite(("doctest", "IPython?"), start_otter)


@hookimpl
def viva_before_grading(course: "Course") -> bool:
    """Make again what comes from a master notebook that has changed."""
    settings = (course.root / "assignments" / name / "assignment.yaml" for name in course.assignments)
    if not any(path.is_file() and b"\nmaster:" in path.read_bytes() for path in settings):
        return False
    from viva.plugins.suites.importing.follow_master import follow_masters

    return follow_masters(course)

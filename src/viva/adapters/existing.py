"""The grader of an existing suite, by the suite's name in assignment.yaml; each is imported only where it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viva.config import Assignment
from viva.model.box_source import BoxSource

if TYPE_CHECKING:  # importing it loads pytest and numpy, and the examiner begins with its fork server
    from viva.adapters.shared_grader import SharedGrader


def preload(assignment: Assignment) -> tuple[str, ...]:
    """Return what is imported once for all boxes, besides what the assignment says."""
    if assignment.suite is None:
        return ()
    if assignment.suite == "unittest":
        from viva.adapters.unittests.suite_grader import PRELOAD
    else:
        from viva.adapters.cells.cell_grader import PRELOAD
    return PRELOAD


def grader_of(assignment: Assignment, source: BoxSource, secret: bytes) -> SharedGrader:
    """Read the suite of an assignment that has one.

    Raises:
        CourseError: it cannot be read.
        BoxUnavailable: this host cannot create a box.
    """
    if assignment.suite == "unittest":
        from viva.adapters.unittests.suite_grader import SuiteGrader

        return SuiteGrader.start(assignment, source, secret)
    from viva.adapters.cells.cell_grader import CellGrader

    return CellGrader.start(assignment, source, secret)

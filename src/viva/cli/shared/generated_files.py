"""Make files again that plugins generate from a source: only commands that grade or hand out need them."""

from pathlib import Path

from viva.cli.shared.options import open_course
from viva.config import Course, load_course
from viva.hooks import hooks


def open_refreshed_course(course_dir: Path | None) -> Course:
    """Return the course of the command, after its generated files have been made again where their source has changed.

    Args:
        course_dir: as for `open_course`.

    Raises:
        CourseError: as `open_course`, or a source cannot be used.
    """
    course = open_course(course_dir)
    changed: list[bool] = hooks().viva_before_grading(course=course)
    return load_course(course.root) if any(changed) else course

"""Make files again that come from a solved or a master notebook: only commands that grade or hand out need them."""

from pathlib import Path

from viva.cli.shared.options import open_course
from viva.config import Course, load_course
from viva.config.assignment import TESTS


def open_refreshed_course(course_dir: Path | None) -> Course:
    """Return the course of the command, after its generated files have been made again where their source has changed.

    Args:
        course_dir: as for `open_course`.

    Raises:
        CourseError: as `open_course`, or a source cannot be used.
    """
    course = open_course(course_dir)
    if any((course.root / "assignments" / name / TESTS).is_file() for name in course.assignments):
        from viva.authoring.solved.solved_assignment import refresh

        refresh(course)
    settings = (course.root / "assignments" / name / "assignment.yaml" for name in course.assignments)
    if not any(path.is_file() and b"\nmaster:" in path.read_bytes() for path in settings):
        return course
    from viva.adapters.importing.follow_master import follow_masters

    return load_course(course.root) if follow_masters(course) else course

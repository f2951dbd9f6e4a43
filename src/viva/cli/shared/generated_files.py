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
    for name in course.assignments:
        if _has_key(course, name, "answers"):
            from viva.authoring.source.answers_starter import refresh_answers

            refresh_answers(course.assignment(name))
    if any((course.root / "assignments" / name / TESTS).is_file() for name in course.assignments):
        from viva.authoring.solved.solved_assignment import refresh

        refresh(course)
    if not any(_has_key(course, name, "master") for name in course.assignments):
        return course
    from viva.adapters.importing.follow_master import follow_masters

    return load_course(course.root) if follow_masters(course) else course


def _has_key(course: Course, name: str, key: str) -> bool:
    """Return whether an assignment.yaml may have a key, without reading it as YAML."""
    path = course.root / "assignments" / name / "assignment.yaml"
    return path.is_file() and f"\n{key}:".encode() in path.read_bytes()

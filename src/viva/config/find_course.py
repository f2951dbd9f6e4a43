"""Find the course: as told, by VIVA_COURSE, or upwards from where the command runs; never inside a submission."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from viva.config.load_course import GRADER_YAML
from viva.model.errors import CourseError, UsageError

RELEASED: Final = ".viva"
"""A folder that was released to students holds its course under this name."""


def find_course(explicit: Path | None, environ: Mapping[str, str], start: Path, *, released: bool = False) -> Path:
    """Return the folder of grader.yaml.

    Args:
        explicit: what `--course` says: the folder, or grader.yaml itself.
        environ: may hold VIVA_COURSE, which means the same.
        start: where to look first if neither says anything, then in each folder above.
        released: whether to accept a course that was released to students. Only for what students do themselves: it
            lies in their own folder, and grading must not take it for the teacher's.

    Raises:
        CourseError: there is none.
    """
    if explicit is not None:
        return _told(explicit, "--course")
    if environ.get("VIVA_COURSE"):
        return _told(Path(environ["VIVA_COURSE"]), "VIVA_COURSE")
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / GRADER_YAML).is_file():
            return folder
        if released and (folder / RELEASED / GRADER_YAML).is_file():
            return folder / RELEASED
    raise CourseError(
        f"No course was found: there is no grader.yaml in {start} or above it; "
        "say where it is with --course DIR or VIVA_COURSE, or make one with `viva init DIR`."
    )


def keep_apart(root: Path, submissions: Iterable[Path]) -> None:
    """Refuse a course that lies inside a submission or next to its file: a student could have submitted it.

    Raises:
        UsageError: a submission is the course's folder or holds it, or is a file that lies directly in it.
    """
    course = root.resolve()
    for path in submissions:
        folder = (path if path.is_dir() else path.parent).resolve()
        if course.is_relative_to(folder):
            where = "inside the submission" if path.is_dir() else "next to the submission"
            raise UsageError(
                f"The course {root} is {where} {path}, so the student could have written it; "
                "say which course to use with --course DIR."
            )


def _told(path: Path, by: str) -> Path:
    folder = path.parent if path.name == GRADER_YAML else path
    if not folder.is_dir():
        raise CourseError(f"{by} says {path}, which is not a folder.")
    if not (folder / GRADER_YAML).is_file():
        raise CourseError(f"{by} says {path}, but there is no grader.yaml in it.")
    return folder.absolute()

"""From files to a Course and its assignments; paths are checked here, so that nothing later meets a missing one."""

import os
from pathlib import Path

from viva.course.read import read_model
from viva.course.schema import AssignmentFile, CourseFile
from viva.course.values import Assignment, Course, Handed
from viva.model import Limits
from viva.model.errors import CourseError

GRADER_YAML = "grader.yaml"


def load_course(root: Path) -> Course:
    """Read grader.yaml; assignments are read when they are asked for.

    Raises:
        CourseError: grader.yaml is missing or wrong.
    """
    root = root.absolute()
    path = root / GRADER_YAML
    if not path.is_file():
        raise CourseError(f"{root} is no course: it has no grader.yaml; `viva init DIR` makes a course.")
    written = read_model(path, CourseFile)
    twice = sorted({name for name in written.assignments if written.assignments.count(name) > 1})
    if twice:
        raise CourseError(f"{path}: assignments: `{twice[0]}` is listed twice.")
    return Course(
        root=root,
        title=written.course,
        assignments=tuple(written.assignments),
        min_tier=written.min_tier,
        records=written.records,
        workers=written.workers,
        secret_source=written.secret,
    )


def load_assignment(root: Path, name: str) -> Assignment:
    """Read one assignment.yaml.

    Raises:
        CourseError: it is missing or wrong, or names a file that does not exist.
    """
    folder = root / "assignments" / name
    path = folder / "assignment.yaml"
    if not path.is_file():
        raise CourseError(f"{root / GRADER_YAML} lists the assignment `{name}`, but {path} does not exist.")
    written = read_model(path, AssignmentFile)
    if written.submission.notebook is None and written.submission.module is None:
        raise CourseError(f"{path}: submission: found neither notebook nor module, expected at least one of them.")
    return Assignment(
        name=name,
        folder=folder,
        title=written.title,
        version=written.version,
        submission=Handed(written.submission.notebook, written.submission.module),
        load=written.load,
        points=written.points,
        preload=tuple(written.preload),
        limits=Limits(**written.limits.model_dump()),
        data=tuple(_data_file(path, root, name, entry) for entry in written.data),
        data_names=tuple(Path(entry).as_posix() for entry in written.data),
        forbid=tuple(written.forbid),
        due=written.due,
        min_tier=written.min_tier,
        python=_interpreter(path, root, written.python),
        graders=root / "graders" / name,
        starter=folder / "starter",
    )


def _data_file(path: Path, root: Path, name: str, entry: str) -> Path:
    """The file in fixtures/<name>/data or in the assignment's own folder; nowhere else, not by a link either."""
    places = (root / "fixtures" / name, root / "assignments" / name)
    for place in places:
        found = place / entry
        if not found.exists():
            continue
        fenced = place / "data" if place is places[0] else place
        if Path(entry).is_absolute() or not found.resolve().is_relative_to(fenced.resolve()):
            raise CourseError(f"{path}: data: `{entry}` leads out of {fenced}; data lies in that folder.")
        if not found.is_file():
            raise CourseError(f"{path}: data: `{entry}` is no file; list each file by its own path.")
        return found
    looked = " and ".join(str(place) for place in places)
    raise CourseError(f"{path}: data: `{entry}` does not exist; looked in {looked}.")


def _interpreter(path: Path, root: Path, python: str | None) -> Path | None:
    if python is None:
        return None
    found = root / Path(python).expanduser()
    if not (found.is_file() and os.access(found, os.X_OK)):
        raise CourseError(f"{path}: python: found `{python}`, expected the path of a Python interpreter that exists.")
    return found

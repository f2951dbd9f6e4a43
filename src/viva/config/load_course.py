"""From files to a Course and its assignments; paths are checked here, so that nothing later meets a missing one."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viva.config.course import Assignment, Course, Gradescope, Handed, Release
from viva.config.read_config import CourseDocument, read_document
from viva.config.schema import ASSIGNMENT, COURSE
from viva.model import Limits
from viva.model.errors import CourseError

if TYPE_CHECKING:
    from viva.config.policy import Policy

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
    written = read_document(path).table(COURSE)
    return Course(
        root=root,
        title=written["course"],
        assignments=written["assignments"],
        min_tier=written["min_tier"],
        records=written["records"],
        workers=written["workers"],
        secret_source=written["secret"],
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
    document = read_document(path)
    written = document.table(ASSIGNMENT)
    handed = Handed(**written["submission"])
    if handed.notebook is None and handed.module is None:
        raise document.error(("submission",), "found neither notebook nor module, expected at least one of them.")
    return Assignment(
        name=name,
        folder=folder,
        title=written["title"],
        version=written["version"],
        submission=handed,
        load=written["load"],
        kernel=_kernel(document, written),
        device=written["device"],
        points=written["points"],
        preload=written["preload"],
        limits=Limits(**written["limits"]),
        data=tuple(
            _data_file(document, root, name, index, entry, has_suite=written["suite"] is not None)
            for index, entry in enumerate(written["data"])
        ),
        data_names=tuple(Path(entry).as_posix() for entry in written["data"]),
        forbid=written["forbid"],
        due=written["due"],
        min_tier=written["min_tier"],
        python=_interpreter(document, root, written["python"]),
        graders=root / "graders" / name,
        starter=folder / "starter",
        suite=_suite(document, written),
        release=Release(**{**written["release"], "gradescope": Gradescope(**written["release"]["gradescope"])}),
        declared=_policy(document, written),
    )


def _policy(document: CourseDocument, written: dict[str, Any]) -> "Policy | None":
    if written["policy"] is None:
        return None
    from viva.config.policy_file import read_policy

    return read_policy(document, written["due"], written["points"])


def _suite(document: CourseDocument, written: dict[str, Any]) -> str | None:
    """An existing suite imports the submission by itself; settings of how viva loads one would be a false promise."""
    for key, plain in (("load", "run"), ("kernel", None), ("device", "as_written"), ("forbid", ())):
        if written["suite"] is not None and written[key] != plain:
            raise document.error((key,), "has no effect on a suite, which imports the submission itself; take it out.")
    suite: str | None = written["suite"]
    return suite


def _data_file(document: CourseDocument, root: Path, name: str, index: int, entry: str, *, has_suite: bool) -> Path:
    """The file in fixtures/<name>/data or in the assignment's own folder; nowhere else, not by a link either.

    What a suite needs may lie beside it, in graders/<name>; the answer key never goes into a box.
    """
    at = ("data", index)
    fixtures, folder, graders = root / "fixtures" / name, root / "assignments" / name, root / "graders" / name
    beside = [(graders, graders)] if has_suite else []
    fenced = [(fixtures, fixtures / "data"), (folder, folder), *beside]
    places = [str(place) for place, _ in fenced]
    for place, fence in fenced:
        found = place / entry
        if not found.exists():
            continue
        if Path(entry).is_absolute() or not found.resolve().is_relative_to(fence.resolve()):
            raise document.error(at, f"`{entry}` leads out of {fence}, and data lies in there.")
        if found.resolve() == (graders / "key.py").resolve():
            raise document.error(at, f"`{entry}` is the answer key, which never goes into a box.")
        if not found.is_file():
            raise document.error(at, f"`{entry}` is a folder; list each file by its own path.")
        return found
    raise document.error(at, f"`{entry}` does not exist; looked in {' and '.join(places)}.")


def _kernel(document: CourseDocument, written: dict[str, Any]) -> str | None:
    kernel: str | None = written["kernel"]
    if kernel and written["load"] == "definitions":
        raise document.error(("kernel",), "a kernel runs whole cells; expected `load: run` beside it.")
    if kernel and not written["limits"]["fork"]:
        raise document.error(("kernel",), "a kernel needs processes and sockets in the box; expected no `fork: false`.")
    return kernel


def _interpreter(document: CourseDocument, root: Path, python: str | None) -> Path | None:
    if python is None:
        return None
    found = root / Path(python).expanduser()
    if not (found.is_file() and os.access(found, os.X_OK)):
        raise document.error(("python",), f"found `{python}`, expected the path of a Python interpreter that exists.")
    return found

"""assignment.yaml becomes an Assignment; paths are checked here, so that nothing later finds a missing one."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from viva.config.assignment import Assignment, Release, SubmissionFiles
from viva.config.policy import Policy, PolicyFile
from viva.config.policy_file import policy_of
from viva.config.read_config import CourseDocument, read_document, values_of
from viva.config.yaml_types import (
    STRICT,
    DeclaredForm,
    ModuleName,
    Moment,
    Points,
    PreloadedModule,
    Seconds,
    Text,
    TierName,
    UniqueTuple,
)
from viva.model import Limits
from viva.model.errors import CourseError

_MIB = 1 << 20
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class LimitsFile:
    """What one submission may use."""

    load_s: Seconds = _LIMITS.load_s
    """Seconds for importing the module, or for one cell; a whole notebook may take twice that."""
    call_s: Seconds = _LIMITS.call_s
    """Seconds for one call of the student's code."""
    test_s: Seconds = _LIMITS.test_s
    """Seconds for one test, all its calls together."""
    submission_s: Seconds = _LIMITS.submission_s
    """Seconds for one submission, everything together."""
    memory_mib: Annotated[int, Field(ge=64, le=_MIB)] = _LIMITS.memory_mib
    """Memory of all processes of the sandbox together, in MiB."""
    disk_mib: Annotated[int, Field(ge=1, le=_MIB)] = _LIMITS.disk_mib
    """What the student's code may write to its work directory, and again to /tmp, in MiB."""
    output_kib: Annotated[int, Field(ge=1, le=_MIB)] = _LIMITS.output_kib
    """Printed output that is kept, in KiB; two hundred times as much ends the sandbox."""
    processes: Annotated[int, Field(ge=1, le=4096)] = _LIMITS.processes
    """Processes and threads that may be alive at once."""
    fork: bool = _LIMITS.fork
    """Whether the student's code may start processes (data loaders need it)."""


@dataclass(frozen=True, slots=True)
class AssignmentFile:
    """assignment.yaml: what students submit, what it is worth and how it is run."""

    __pydantic_config__ = STRICT

    title: Text
    """What students and reports call the assignment."""
    version: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Part of every score's signature; a new version draws other random inputs."""
    submission: SubmissionFiles = field(default_factory=SubmissionFiles)
    """What a student submits; null for a kind of file that the assignment does not have."""
    load: Literal["run", "definitions"] = "run"
    """Whether a notebook is run, or only its definitions: for one that would download and train for hours."""
    device: Literal["as_written", "cpu"] = "as_written"
    """cpu runs code that names cuda or mps on the CPU of the sandbox."""
    points: Points | None = None
    """What the tests add up to; `viva verify` compares."""
    preload: UniqueTuple[PreloadedModule] = ()
    """Modules that are imported once, before any submission; `torch?` if it need not be installed."""
    limits: LimitsFile = field(default_factory=LimitsFile)
    """What one submission may use."""
    answers: dict[str, DeclaredForm] = field(default_factory=dict)
    """The form of each answer by hand, by its number; the starter's answers.yaml and notebook are made from it."""
    dropped: dict[str, Literal["give", "remove"]] = field(default_factory=dict)
    """Questions or tests that count no longer: everybody gets their points (give), or they are taken out (remove)."""
    data: UniqueTuple[Text] = ()
    """Files that the submission may read, by the paths that the student's code opens."""
    forbid: UniqueTuple[ModuleName] = ()
    """Modules, and names in modules, that a submission may not import."""
    due: Moment | None = None
    """The deadline, with its time zone: 2026-12-01 23:59 Europe/Vienna."""
    policy: PolicyFile | None = None
    """How points become grades: late penalties, attempts, rounding."""
    min_tier: TierName | None = None
    """The weakest isolation that grading accepts; overrides that of grader.yaml."""
    python: Text | None = None
    """The Python interpreter that runs the student's code; null for viva's own."""
    suite: Literal["unittest", "nbgrader", "otter"] | None = None
    """The tool whose existing tests lie in graders/<assignment>."""
    master: Text | None = None
    """The notebook of otter, or the folder of nbgrader, from which the tests are made again when it has changed."""
    release: Release = field(default_factory=Release)
    """What students get of the tests."""


def load_assignment(root: Path, name: str) -> Assignment:
    """Read one assignment.yaml.

    Args:
        root: the course's folder.
        name: the assignment's, as grader.yaml lists it.

    Raises:
        CourseError: it is missing or wrong, or names a file that does not exist.
    """
    folder = root / "assignments" / name
    path = folder / "assignment.yaml"
    if not path.is_file():
        raise CourseError(f"{root / 'grader.yaml'} lists the assignment `{name}`, but {path} does not exist.")
    document = read_document(path)
    written = document.read(AssignmentFile)
    _check_together(document, written)
    declared: Policy | None = None
    if written.policy is not None:
        declared = policy_of(document, written.policy, written.due, written.points)
    values = values_of(written)
    del values["policy"]
    values |= {
        "limits": Limits(**values_of(written.limits)),
        "data": tuple(_data_file(document, root, name, written, index) for index in range(len(written.data))),
        "data_names": tuple(Path(entry).as_posix() for entry in written.data),
        "python": _interpreter(document, root, written.python),
        "master": None if written.master is None else Path(os.path.normpath(folder / written.master)),
        "declared": declared,
    }
    return Assignment(name=name, folder=folder, graders=root / "graders" / name, starter=folder / "starter", **values)


def _check_together(document: CourseDocument, written: AssignmentFile) -> None:
    """Refuse values that are allowed one by one, but not together."""
    if written.submission.notebook is None and written.submission.module is None:
        raise document.error(("submission",), "found neither notebook nor module, expected at least one of them.")
    if written.master is not None and written.suite not in ("nbgrader", "otter"):
        raise document.error(("master",), "is for `suite: nbgrader` and `suite: otter`; take it out.")
    # An existing suite imports the submission itself; settings of how viva loads one would be a false promise.
    for key, plain in (("load", "run"), ("device", "as_written"), ("forbid", ())):
        if written.suite is not None and getattr(written, key) != plain:
            raise document.error((key,), "has no effect on a suite, which imports the submission itself; take it out.")


def _data_file(document: CourseDocument, root: Path, name: str, written: AssignmentFile, index: int) -> Path:
    """Return the file in fixtures/<name>/data or in the assignment's own folder; nowhere else, not by a link either.

    What a suite needs may lie next to it, in graders/<name>; the answer key never goes into a box.
    """
    at, entry = ("data", index), written.data[index]
    fixtures, folder, graders = root / "fixtures" / name, root / "assignments" / name, root / "graders" / name
    of_suite = [(graders, graders)] if written.suite is not None else []
    fenced = [(fixtures, fixtures / "data"), (folder, folder), *of_suite]
    places = [str(place) for place, _ in fenced]
    for place, fence in fenced:
        found = place / entry
        if not found.exists():
            continue
        if Path(entry).is_absolute() or not found.resolve().is_relative_to(fence.resolve()):
            raise document.error(at, f"`{entry}` points outside {fence}; expected data in that folder.")
        if found.resolve() == (graders / "key.py").resolve():
            raise document.error(at, f"`{entry}` is the answer key, which never goes into a box.")
        if not found.is_file():
            raise document.error(at, f"`{entry}` is a folder; list each file by its own path.")
        return found
    raise document.error(at, f"`{entry}` does not exist; looked in {' and '.join(places)}.")


def _interpreter(document: CourseDocument, root: Path, python: str | None) -> Path | None:
    if python is None:
        return None
    found = root / Path(python).expanduser()
    if not (found.is_file() and os.access(found, os.X_OK)):
        raise document.error(("python",), f"found `{python}`, expected the path of a Python interpreter that exists.")
    return found

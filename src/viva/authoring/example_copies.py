"""Example submissions: store an edited copy of a right one as what is different in it."""

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from viva.config import Assignment, Course
from viva.config.read_config import read_document, suggest
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.submissions import open_submission
from viva.submissions.examples import DESCRIPTION, EXAMPLE_NAME, KINDS, PATCH, STARTER, lay_out
from viva.submissions.patches import make_patch

Files = dict[str, bytes]
"""The files of a submission by their paths."""


@dataclass(frozen=True, slots=True)
class StoredExample:
    """What was stored of an example submission."""

    folder: Path
    base: str | None
    """The example that it is a copy of; None if it has too little in common with any."""
    changed_lines: int
    whole_files: int


@dataclass(slots=True)
class _Difference:
    """What a submission changes in its base."""

    base: str | None = None
    without: list[str] = field(default_factory=list)
    patch: str = ""
    whole: Files = field(default_factory=dict)

    def size(self) -> int:
        """Return the number of lines that a reader has to read."""
        return len(self.without) + self.patch.count("\n") + sum(_count_lines(data) for data in self.whole.values())


def example_folder(course: Course, assignment: Assignment, name: str) -> Path:
    """Return the folder of an example submission by its kind and name, such as `wrong/keeps_case`.

    Raises:
        UsageError: that is not a kind and a name.
    """
    if not re.fullmatch(EXAMPLE_NAME, name):
        raise UsageError(
            f"{name!r} is not an example: give a kind and a name, such as wrong/one_off ({', '.join(KINDS)})."
        )
    return course.root / "fixtures" / assignment.name / "submissions" / name


def copy_example(course: Course, assignment: Assignment, name: str, target: Path) -> None:
    """Write all files of an example submission into a new folder, so that they can be read and edited.

    Raises:
        UsageError: there is no such example, or the folder exists.
        CourseError: the example cannot be laid out; see `lay_out`.
    """
    folder = example_folder(course, assignment, name)
    if not folder.is_dir():
        raise UsageError(f"There is no example {name}{suggest(name, _names(folder.parents[1]))}")
    if target.exists():
        raise UsageError(f"{target} exists; give a new folder.")
    lay_out(folder, target)


def store_example(
    course: Course, assignment: Assignment, name: str, source: Path, base: str | None, mistake: str
) -> StoredExample:
    """Store a submission as an example: as a copy of the most similar right one, with what it changes.

    An example of this name is replaced; what its description expects stays.

    Args:
        course: the course of the assignment.
        assignment: the assignment that gets the example.
        name: the example's kind and name, such as `wrong/keeps_case`.
        source: the submission, a file or a folder.
        base: the example that it is a copy of; None for the one that it has most in common with.
        mistake: what is wrong with it, in one sentence; "" for what an earlier description says.

    Raises:
        UsageError: the submission cannot be read, no mistake is named, or there is no such base.
        CourseError: an example is wrong in itself; see `lay_out`.
    """
    folder = example_folder(course, assignment, name)
    submission = open_submission(source, str(source))
    if submission.problem:
        raise UsageError(f"{source}: {submission.problem}")
    described = _described(folder)
    mistake = mistake or described.get("mistake", "")
    if not mistake and not name.startswith(("accepted/", "bases/")):
        raise UsageError(f"What is wrong with {name}? Say it in one sentence: --mistake '…'")
    files = {file.path: file.data for file in submission.files}
    found = _smallest_difference(files, _bases(course, assignment, name, base))
    told = {"base": found.base, "without": found.without, "mistake": mistake}
    described = {key: value for key, value in told.items() if value} | {
        key: value for key, value in described.items() if key not in told
    }
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for path, data in found.whole.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    if found.patch:
        write_atomically(folder / PATCH, found.patch.encode())
    if described:
        text = yaml.safe_dump(described, sort_keys=False, allow_unicode=True, width=110)
        write_atomically(folder / DESCRIPTION, text.encode())
    changed = re.findall(r"(?m)^[+-](?!-- a/|\+\+ b/)", found.patch)
    return StoredExample(folder, found.base, len(changed), len(found.whole))


def _described(folder: Path) -> dict[str, Any]:
    file = folder / DESCRIPTION
    return dict(read_document(file).document.value or {}) if file.is_file() else {}


def _names(submissions: Path) -> list[str]:
    return [f"{path.parent.name}/{path.name}" for kind in KINDS for path in sorted((submissions / kind).glob("*"))]


def _bases(course: Course, assignment: Assignment, name: str, wanted: str | None) -> dict[str, Files]:
    """Return the files of the examples that a new one can be a copy of: the wanted one, or all that are right."""
    submissions = course.root / "fixtures" / assignment.name / "submissions"
    folders = {STARTER: assignment.starter} if assignment.starter.is_dir() else {}
    folders |= {each: submissions / each for each in _names(submissions) if each != name}
    if wanted is not None and wanted not in folders:
        raise UsageError(f"There is no example {wanted}{suggest(wanted, list(folders))}")
    right = [each for each in folders if each.startswith((STARTER, "accepted/", "bases/"))]
    return {each: _files(folders[each]) for each in ([wanted] if wanted is not None else right)}


def _files(folder: Path) -> Files:
    return {file.path: file.data for file in open_submission(folder, folder.name).files}


def _smallest_difference(files: Files, bases: dict[str, Files]) -> _Difference:
    found = [_Difference(whole=files), *(_difference(name, base, files) for name, base in bases.items())]
    return min(found, key=_Difference.size)


def _difference(name: str, base: Files, files: Files) -> _Difference:
    found = _Difference(name, sorted(base.keys() - files.keys()))
    for path, data in files.items():
        if base.get(path) == data:
            continue
        patch = _patch(path, base[path], data) if path in base else ""
        if 0 < patch.count("\n") < _count_lines(data):
            found.patch += patch
        else:
            found.whole[path] = data
    return found


def _patch(path: str, before: bytes, after: bytes) -> str:
    """Return the unified diff of two texts; "" if one of them is not text."""
    try:
        return make_patch(path, before.decode("utf-8"), after.decode("utf-8"))
    except UnicodeDecodeError:
        return ""


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + 1

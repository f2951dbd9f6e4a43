"""Example submissions: store an edited copy of a right one as what is different in it."""

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from viva.config import Assignment, Course
from viva.config.read_config import read_document, suggest
from viva.model.errors import UsageError
from viva.submissions import open_submission
from viva.submissions.examples import (
    DESCRIPTION,
    EXAMPLE_NAME,
    KINDS,
    PATCH,
    STARTER,
    Files,
    chain_of,
    files_of,
    lay_out,
    read_example,
)
from viva.submissions.patches import make_patch


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


def _example_folder(course: Course, assignment: Assignment, name: str) -> Path:
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
    folder = _example_folder(course, assignment, name)
    if not folder.is_dir():
        raise UsageError(f"There is no example {name}{suggest(name, list(_examples(course, assignment)))}")
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
        UsageError: the submission cannot be stored, no mistake is named, or there is no such base.
        CourseError: an example is wrong in itself; see `files_of`.
    """
    folder = _example_folder(course, assignment, name)
    files = _read_submission(source, folder)
    described = _described(folder)
    mistake = mistake or described.get("mistake", "")
    if not mistake and not name.startswith(("accepted/", "bases/")):
        raise UsageError(f"What is wrong with {name}? Say it in one sentence: --mistake '…'")
    bases = _bases(course, assignment, name, base)
    found = _smallest_difference(files, bases) if base is None else _difference(base, bases[base], files)
    if found.size() == 0:
        raise UsageError(f"{source} is the same as {found.base}; change something in it.")
    own = {"base": found.base, "without": found.without, "mistake": mistake}
    expected = {key: value for key, value in described.items() if key not in own}
    description = {key: value for key, value in own.items() if value} | expected
    stored = dict(found.whole)
    if found.patch:
        stored[PATCH] = found.patch.encode()
    if description:
        stored[DESCRIPTION] = yaml.safe_dump(description, sort_keys=False, allow_unicode=True, width=110).encode()
    _replace(folder, stored)
    changed = re.findall(r"(?m)^[+-](?!-- a/|\+\+ b/)", found.patch)
    return StoredExample(folder, found.base, len(changed), len(found.whole))


def _read_submission(source: Path, folder: Path) -> Files:
    """Return the files of a submission that is to be stored in a folder."""
    if source.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{source} is the example itself; `--to` writes a copy that you can edit.")
    submission = open_submission(source, str(source))
    if submission.problem:
        raise UsageError(f"{source}: {submission.problem}")
    files = {file.path: file.data for file in submission.files}
    if files.keys() & {DESCRIPTION, PATCH}:
        raise UsageError(f"{source}: an example has no files of its own called {DESCRIPTION} and {PATCH}; rename them.")
    return files


def _described(folder: Path) -> dict[str, Any]:
    read_example(folder)  # refuses what is wrong in it
    file = folder / DESCRIPTION
    return dict(read_document(file).document.value) if file.is_file() else {}


def _replace(folder: Path, files: Files) -> None:
    """Write the files into a new folder, and put that in the place of the old one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".viva-", dir=folder.parents[1]) as made:
        new, old = Path(made, "new"), Path(made, "old")
        for path, data in files.items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(data)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)


def _examples(course: Course, assignment: Assignment) -> dict[str, Path]:
    """Return the folders of all examples, by kind and name."""
    submissions = course.root / "fixtures" / assignment.name / "submissions"
    paths = [path for kind in KINDS for path in sorted((submissions / kind).glob("*")) if path.is_dir()]
    return {f"{path.parent.name}/{path.name}": path for path in paths}


def _bases(course: Course, assignment: Assignment, name: str, wanted: str | None) -> dict[str, Files]:
    """Return the files of what an example can be a copy of: the wanted example, or all that are right."""
    folders = {STARTER: assignment.starter} if assignment.starter.is_dir() else {}
    folders |= _examples(course, assignment)
    if wanted is not None and wanted not in folders:
        raise UsageError(f"There is no example {wanted}{suggest(wanted, list(folders))}")
    right = [each for each in folders if each.startswith((STARTER, "accepted/", "bases/"))]
    chains = {each: chain_of(folders[each]) for each in ([wanted] if wanted is not None else right)}
    bases = {each: files_of(folders[each]) for each, chain in chains.items() if not _contains(chain, name)}
    if wanted is not None and wanted not in bases:
        raise UsageError(f"{wanted} is itself a copy of {name}.")
    return bases


def _contains(chain: list[Path], name: str) -> bool:
    return any(f"{folder.parent.name}/{folder.name}" == name for folder in chain)


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

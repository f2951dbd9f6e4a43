"""Example submissions: a folder holds one in full, or says of which other one it is a copy, with which mistake."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from viva.config.load_course import GRADER_YAML
from viva.config.read_config import read_document
from viva.config.yaml_types import STRICT, Expect, Points, Text, TextOrNothing, UniqueTuple
from viva.model.errors import CourseError
from viva.submissions.patches import BadPatch, apply_patch

KINDS: Final = ("accepted", "bases", "partial", "wrong", "error", "timeout", "hostile")
"""The folders of examples. In `bases` is right code without answers in words, of which other examples are copies."""
STARTER: Final = "starter"
DESCRIPTION: Final = "submission.yaml"
PATCH: Final = "mistake.patch"
Files = dict[str, bytes]
"""The files of an example by their paths."""
EXAMPLE_NAME: Final = f"({'|'.join(KINDS)})/[^./][^/]*"
_BASE: Final = f"{STARTER}|{EXAMPLE_NAME}"


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """What `submission.yaml` says of an example submission."""

    __pydantic_config__ = STRICT

    base: (
        Annotated[str, Field(pattern=f"^({_BASE})$"), Expect("starter, or a kind and a name such as accepted/plain")]
        | None
    ) = None
    """The example of which this one is a copy, with the changes of `mistake.patch` and the files next to it."""
    without: UniqueTuple[Text] = ()
    """Files of the base that this example does not have."""
    mistake: TextOrNothing = ""
    """What is wrong with it, in one sentence."""
    score: Points | None = None
    """The exact points it must get in the tests that run everywhere; null if its folder's name says all."""
    training: Points | None = None
    """The exact points it must get in the tests that train; compared where they are run."""
    failing: UniqueTuple[Text] | None = None
    """The test functions that must not pass, and no other."""
    message: TextOrNothing = ""
    """Words that the student must read in some visible test."""


def is_example(path: Path) -> bool:
    """Return whether a path is an example submission with a description or a patch.

    Only these two files may name files of the course, and a student may submit files with their names. So the folder
    must be `fixtures/A/submissions/KIND/NAME` in a course, above which a student decides nothing.
    """
    path = Path(os.path.abspath(path))
    if len(path.parents) < 5 or path.parent.name not in KINDS:
        return False
    above = [path.parents[1].name, path.parents[3].name]
    is_one = above == ["submissions", "fixtures"] and (path.parents[4] / GRADER_YAML).is_file()
    return is_one and any((path / name).is_file() for name in (DESCRIPTION, PATCH))


def read_example(folder: Path) -> ExampleFile:
    """Return what the example's description says; nothing is stated of an example without one.

    Raises:
        CourseError: the description is wrong.
    """
    file = folder / DESCRIPTION
    return read_document(file).read(ExampleFile) if file.is_file() else ExampleFile()


@contextmanager
def laid_out(example: Path) -> Iterator[Path]:
    """Make the files of an example submission in a temporary folder of the same name.

    Raises:
        CourseError: as `files_of`.
    """
    with tempfile.TemporaryDirectory(prefix="viva-example-") as made:
        folder = Path(made).resolve() / Path(os.path.abspath(example)).name
        lay_out(example, folder)
        yield folder


def lay_out(example: Path, target: Path) -> None:
    """Write the files of an example submission into a folder, which is made where it is missing.

    Raises:
        CourseError: as `files_of`; nothing is written.
    """
    for name, data in files_of(example).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)


def files_of(example: Path) -> Files:
    """Return the files of an example submission: those of its base, with its changes.

    Args:
        example: its folder, `fixtures/A/submissions/KIND/NAME`.

    Raises:
        CourseError: a description is wrong, a base does not exist, a patch does not apply or changes nothing, or there
            is no file at all.
    """
    files: Files = {}
    for folder in chain_of(example):
        own = _own_files(folder)
        if not _is_starter(folder):  # it has no description; a file of that name is one for students
            own.pop(DESCRIPTION, None)
            files = _changed(files, folder, own.pop(PATCH, None))
        files = {**files, **own}
    if not files:
        raise CourseError(f"{example} has no files: put them next to {DESCRIPTION}, or name a `base:` there.")
    return files


def chain_of(example: Path) -> list[Path]:
    """Return the folders from which an example is made: the last base first, the example itself at the end.

    Raises:
        CourseError: a description is wrong, a base does not exist, or an example is a copy of itself.
    """
    found = [Path(os.path.abspath(example))]
    while not _is_starter(found[0]) and (base := read_example(found[0]).base):
        folder = _folder_of(base, found[-1])
        if not folder.is_dir():
            raise CourseError(f"{found[0] / DESCRIPTION}: base: there is no example {base}.")
        if folder in found:
            raise CourseError(f"{found[0] / DESCRIPTION}: base: {base} is itself a copy of this example.")
        found.insert(0, folder)
    return found


def _folder_of(base: str, example: Path) -> Path:
    submissions = example.parents[1]
    if base == STARTER:
        return example.parents[4] / "assignments" / submissions.parent.name / STARTER
    return submissions / base


def _is_starter(folder: Path) -> bool:
    return folder.parents[1].name == "assignments"


def _own_files(folder: Path) -> Files:
    """Return the files in a folder; links are not followed."""
    paths = [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]
    own = sorted(path for path in paths if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in own}


def _changed(base: Files, folder: Path, patch: bytes | None) -> Files:
    """Return the files of a base but for what an example is without, with its patch applied."""
    described = read_example(folder)
    for name in described.without:
        if name not in base:
            raise CourseError(f"{folder / DESCRIPTION}: without: the base has no file {name}.")
    files = {name: data for name, data in base.items() if name not in described.without}
    if patch is None:
        return files
    if described.base is None:
        raise CourseError(f"{folder / PATCH} changes a base, and {folder / DESCRIPTION} names none.")
    texts = {name: text for name, data in files.items() if (text := _text(data)) is not None}
    try:
        changed = apply_patch(_text(patch) or "", texts)
    except BadPatch as error:
        raise CourseError(
            f"{folder / PATCH} does not apply: {error}. Edit it, or store it with `viva example`."
        ) from None
    if all(texts[name] == text for name, text in changed.items()):
        raise CourseError(f"{folder / PATCH} changes nothing.")
    return {**files, **{name: text.encode() for name, text in changed.items()}}


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None

"""Example submissions: a folder holds one in full, or says of which other one it is a copy, with which mistake."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from viva.config.read_config import read_document
from viva.config.yaml_types import STRICT, Points, Text, TextOrNothing, matching
from viva.model.errors import CourseError
from viva.submissions.patches import BadPatch, apply_patch

KINDS: Final = ("accepted", "bases", "partial", "wrong", "error", "timeout", "hostile")
"""The folders of examples. Those in `bases` are right but for answers in words, and others are copies of them."""
STARTER: Final = "starter"
DESCRIPTION: Final = "submission.yaml"
PATCH: Final = "mistake.patch"
EXAMPLE_NAME: Final = f"({'|'.join(KINDS)})/[^./][^/]*"
_BASE: Final = f"{STARTER}|{EXAMPLE_NAME}"


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """What `submission.yaml` says of an example submission."""

    __pydantic_config__ = STRICT

    base: Annotated[str, matching(_BASE, "starter, or a kind and a name such as accepted/plain")] | None = None
    """The example of which this one is a copy, with the changes of `mistake.patch` and the files next to it."""
    without: tuple[Text, ...] = ()
    """Files of the base that this example does not have."""
    mistake: TextOrNothing = ""
    """What is wrong with it, in one sentence."""
    score: Points | None = None
    """The exact points it must get in the tests that run everywhere; null if its folder's name says all."""
    training: Points | None = None
    """The exact points it must get in the tests that train; compared where they are run."""
    failing: tuple[Text, ...] | None = None
    """The test functions that must not pass, and no other."""
    message: TextOrNothing = ""
    """Words that the student must read in some visible test."""


def is_example(path: Path) -> bool:
    """Return whether a path is an example submission with a description: `fixtures/A/submissions/KIND/NAME`."""
    path = path.absolute()
    if len(path.parents) < 4 or path.parent.name not in KINDS:
        return False
    above = path.parents[1], path.parents[3]
    return [folder.name for folder in above] == ["submissions", "fixtures"] and (path / DESCRIPTION).is_file()


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
        CourseError: as `lay_out`.
    """
    with tempfile.TemporaryDirectory(prefix="viva-example-") as made:
        folder = Path(made).resolve() / example.absolute().name
        lay_out(example, folder)
        yield folder


def lay_out(example: Path, target: Path) -> None:
    """Write the files of an example submission into a folder.

    Args:
        example: its folder, `fixtures/A/submissions/KIND/NAME`.
        target: the folder to write into; it is made where it is missing.

    Raises:
        CourseError: a description is wrong, a base does not exist, or a patch does not apply or changes nothing.
    """
    target.mkdir(parents=True, exist_ok=True)
    for folder in _with_bases(example.absolute()):
        _add(folder, target)
    if not any(target.iterdir()):
        raise CourseError(f"{example} has no files: put them next to {DESCRIPTION}, or name a `base:` there.")


def _with_bases(example: Path) -> list[Path]:
    """Return the folders of an example and of what it is a copy of, that without a base first."""
    found = [example]
    while base := read_example(found[0]).base:
        folder = _folder_of(base, example)
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


def _add(folder: Path, target: Path) -> None:
    """Add what one folder says to the files of its base."""
    for name in read_example(folder).without:
        file = target / name
        if not file.is_file():
            raise CourseError(f"{folder / DESCRIPTION}: without: the base has no file {name}.")
        file.unlink()
    if (folder / PATCH).is_file():
        _change(folder / PATCH, target)
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(DESCRIPTION, PATCH), dirs_exist_ok=True)


def _change(patch: Path, target: Path) -> None:
    texts = {path.relative_to(target).as_posix(): _text(path) for path in sorted(target.rglob("*")) if path.is_file()}
    try:
        changed = apply_patch(_text(patch) or "", {path: text for path, text in texts.items() if text is not None})
    except BadPatch as error:
        raise CourseError(f"{patch} does not apply: {error}. Edit it, or make it again with `viva example`.") from None
    if all(texts[path] == text for path, text in changed.items()):
        raise CourseError(f"{patch} changes nothing.")
    for path, text in changed.items():
        (target / path).write_text(text, "utf-8", newline="")


def _text(path: Path) -> str | None:
    """Return the text of a file with the ends of its lines as they are; None if it is not text."""
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None

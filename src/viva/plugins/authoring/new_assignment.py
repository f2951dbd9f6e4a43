"""Add an assignment to a course: its folders with an example of each part, and its line in grader.yaml."""

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from viva.config import Course
from viva.config.load_course import GRADER_YAML
from viva.config.yaml_types import FOLDER_NAME_PHRASE, is_folder_name
from viva.formats.atomic_write import write_atomically
from viva.model.errors import CourseError, UsageError
from viva.plugins.authoring.yaml_edit import NotEditable, as_scalar, with_item

EXAMPLE: Final = "first_steps"
"""The assignment of a new course, from which others are made."""
_TITLE: Final = "First steps"
_PARTS: Final = ("assignments", "graders", "fixtures")


def add_assignment(course: Course, name: str, title: str | None = None) -> None:
    """Write the folders of a new assignment, and add it to grader.yaml last.

    Args:
        course: the course that gets the assignment.
        name: the name of its folders.
        title: what students read; None for the name in words.

    Raises:
        UsageError: the name is not usable or taken, or a file cannot be written.
        CourseError: grader.yaml has no list that a name can be added to.
    """
    with adding(course, name) as listed:
        title = title or in_words(name)
        template = resources.files("viva.plugins.authoring") / "templates" / "course"
        for part in _PARTS:
            _copy(template / part / EXAMPLE, course.root / part / name, name, title)
        _write_key(template, course.root / "graders" / name / "key.py")
        listed()


def in_words(name: str) -> str:
    """Return the name of an assignment as a title."""
    return " ".join(name.replace("_", " ").replace("-", " ").split()).capitalize()


def check_name(course: Course, name: str) -> None:
    """Check that a new assignment can have this name.

    Raises:
        UsageError: the name is not usable or taken.
    """
    if not is_folder_name(name):
        raise UsageError(f"An assignment cannot be called {name!r:.80}: expected {FOLDER_NAME_PHRASE}.")
    if name in course.assignments:
        raise UsageError(f"{course.root / GRADER_YAML} lists an assignment `{name}` already. Give another name.")
    taken = [folder for part in _PARTS if (folder := course.root / part / name).exists()]
    if taken:
        raise UsageError(f"{taken[0]} is there already. Give another name, or list `{name}` in {GRADER_YAML}.")


@contextlib.contextmanager
def adding(course: Course, name: str) -> Iterator[Callable[[], None]]:
    """Check that an assignment can be added, and remove what the block has written if it fails.

    Args:
        course: the course that gets the assignment.
        name: the name of its folders.

    Yields:
        Adds the assignment to grader.yaml; to be called when its folders are there.

    Raises:
        UsageError: the name is not usable or taken, or a file cannot be written.
        CourseError: grader.yaml has no list that a name can be added to.
    """
    check_name(course, name)
    grader = course.root / GRADER_YAML
    before = grader.read_bytes()
    text = _listed(grader, name)
    try:
        yield lambda: write_atomically(grader, text.encode())
    except BaseException:
        for part in _PARTS:
            shutil.rmtree(course.root / part / name, ignore_errors=True)
        if grader.read_bytes() != before:
            write_atomically(grader, before)
        raise


def _listed(path: Path, name: str) -> str:
    try:
        return with_item(path.read_bytes().decode("utf-8-sig"), "assignments", name)
    except NotEditable:
        raise CourseError(
            f"{path}: viva cannot add `{name}` to `assignments:`. Write a list there: [{name}]."
        ) from None


def _copy(source: Traversable, to: Path, name: str, title: str) -> None:
    """Copy a folder of the example; its texts get the new name and title."""
    if source.is_dir():
        for inner in source.iterdir():
            if inner.name != "__pycache__":
                _copy(inner, to / inner.name, name, title)
        return
    text = source.read_text("utf-8").replace(EXAMPLE, name)
    shown = as_scalar(title) if source.name.endswith(".yaml") else title
    write_atomically(to, text.replace(_TITLE, shown).encode())


def _write_key(template: Traversable, path: Path) -> None:
    """Write the key with the model answer itself: not every course keeps its answers in `reference`."""
    answer = (template / "reference" / "word_counts.py").read_text("utf-8")
    write_atomically(path, re.sub(r'\A""".*?"""', '"""The model answers, in the student\'s API."""', answer).encode())

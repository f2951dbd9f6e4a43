"""Assignments whose author goes on editing a notebook of otter or nbgrader: viva makes the rest from it again."""

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from viva.config import Assignment, Course
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.plugins.suites.importing.new_course import (
    MANIFEST,
    ImportedAssignment,
    hash_content,
    hash_state,
    list_files,
    make_manifest,
    read_manifest,
)

_MADE_SETTINGS: Final = ("points", "data", "preload")
"""The settings that come from the master; all others are the author's."""


def follow_masters(course: Course) -> bool:
    """Make again what comes from a master that has changed; return whether any has.

    What the author has changed in the course since it was made stays as it is.

    Raises:
        UsageError: a master uses what cannot be imported.
    """
    changed = [_followed(course, course.assignment(name)) for name in course.assignments]
    return any(changed)


def _followed(course: Course, assignment: Assignment) -> bool:
    master = assignment.master
    if master is None or not master.exists():
        return False  # the course is elsewhere, and has what was made last
    known, made = read_manifest(assignment.graders / MANIFEST)
    if known == hash_state(master, assignment.data_names):
        return False
    imported = _imported(assignment)
    files = list_files(imported)
    for path, content in files.items():
        place = course.root / path
        if not place.is_file() or hash_content(place.read_bytes()) == made.get(path):
            write_atomically(place, content)
    for path in made.keys() - files.keys():
        place = course.root / path
        if place.is_file() and hash_content(place.read_bytes()) == made[path]:
            place.unlink()
    settings = assignment.folder / "assignment.yaml"
    text = settings.read_text("utf-8-sig")
    write_atomically(settings, update_settings(text, imported.settings).encode())
    write_atomically(assignment.graders / MANIFEST, make_manifest(master, imported.settings.get("data", ()), files))
    return True


def _imported(assignment: Assignment) -> ImportedAssignment:
    assert assignment.master is not None  # the caller has looked
    if assignment.suite == "otter":
        from viva.plugins.suites.otter.otter_import import import_otter

        found = import_otter(assignment.master)
    else:
        from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader

        found = import_nbgrader(assignment.master)
    if len(found) != 1:
        raise UsageError(f"{assignment.master} holds {len(found)} assignments; expected the folder of one.")
    [imported] = found
    imported.name = assignment.name
    return imported


def update_settings(text: str, settings: Mapping[str, Any]) -> str:
    """Return assignment.yaml with the settings that come from the master, and the author's own as they are."""
    written = yaml.safe_load(text)
    for key in _MADE_SETTINGS:
        value = settings.get(key)
        if written.get(key) == value or not (value or key in written):
            continue
        line = yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=110) if value else ""
        block = re.search(rf"^{key}:.*\n?(?:(?:[ \t]+|- ).*\n?)*", text, re.MULTILINE)
        before, after = (text[: block.start()], text[block.end() :]) if block else (f"{text.rstrip()}\n", "")
        text = f"{before}{line}{after}"
    return text

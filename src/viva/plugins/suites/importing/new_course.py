"""An imported assignment, and the new course: written completely or not at all, and never over an existing one."""

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import yaml

import viva
from viva.config import load_course
from viva.config.yaml_types import as_name, is_folder_name
from viva.formats.atomic_write import write_atomically
from viva.model.errors import CourseError, UsageError
from viva.plugins.suites.nbgrader.nbgrader_source import FOLDER as SOURCE
from viva.plugins.suites.nbgrader.nbgrader_source import read_source
from viva.plugins.suites.otter.otter_grading import read_otter

MANIFEST: Final = ".made"
"""In the folder of the graders."""
AUTOTEST_TEMPLATES: Final = ("autotests.yml", "tests.yml")
"""nbgrader's file of test templates, and its name in nbgrader 0.9.0: the assignment's own, or the course's."""


def make_manifest(master: Path, data: Iterable[str], files: Mapping[str, bytes]) -> bytes:
    """Return the contents of the manifest.

    Args:
        master: the notebook or folder.
        data: files next to it that go with the assignment.
        files: what was made, by its path in the course.
    """
    made = {path: hash_content(content) for path, content in files.items()}
    return (json.dumps({"master": hash_state(master, data), "files": made}, indent=1, sort_keys=True) + "\n").encode()


def read_manifest(path: Path) -> tuple[str, dict[str, str]]:
    """Return the state of the master and the digests of what was made; nothing of a file that is not a manifest."""
    try:
        found = json.loads(path.read_bytes())
        files = {str(name): str(known) for name, known in found["files"].items()}
        return str(found["master"]), files
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "", {}


def hash_content(content: bytes) -> str:
    """Return a hash of a file."""
    return hashlib.sha256(content).hexdigest()


def hash_state(master: Path, data: Iterable[str]) -> str:
    """Return what changes when the master, a file next to it or viva itself changes; no file is read for it."""
    beside = master.parent if master.is_file() else master
    paths = [master, *(beside / name for name in data), *(master.parent.parent / name for name in AUTOTEST_TEMPLATES)]
    if master.is_dir():
        paths += [Path(at, name) for at, _, names in os.walk(master) for name in names]
    seen = [viva.__version__]
    for path in sorted(set(paths)):
        if path.is_file():
            status = path.stat()
            seen.append(f"{os.path.relpath(path, beside)} {status.st_size} {status.st_mtime_ns}")
    return hash_content("\n".join(seen).encode())


@dataclass(slots=True)
class ImportedAssignment:
    """One imported assignment."""

    name: str
    """The name of its folders: letters, digits, `_`, `-` and `.`."""
    settings: dict[str, Any]
    """The contents of assignment.yaml."""
    graders: dict[str, bytes] = field(default_factory=dict)
    """The files of graders/<name>/."""
    starter: dict[str, bytes] = field(default_factory=dict)
    """What students are given."""
    accepted: dict[str, bytes] = field(default_factory=dict)
    """A right submission: the author's own solution."""
    rubric: dict[str, Any] = field(default_factory=dict)
    """Questions that a person grades, in the form of rubric.yaml."""
    notes: list[str] = field(default_factory=list)
    """One sentence for each thing that was not imported."""
    master: Path | None = None
    """The notebook or folder that its author goes on editing."""

    def add_data(self, files: Mapping[str, bytes]) -> None:
        """Add files that are next to the submission.

        Raises:
            UsageError: one has the name of a file that viva keeps there.
        """
        taken = ("key.py", "inside.py", "otter_config.json", MANIFEST)
        for path in files:
            if path in taken or path.partition("/")[0] in (SOURCE, "tests", "inside"):
                raise UsageError(f"{path} cannot be next to the submission, as viva keeps a file there. Rename it.")
        self.graders |= files
        if files:
            self.settings["data"] = sorted([*self.settings.get("data", []), *files])


def write_course(to: Path, title: str, assignments: Sequence[ImportedAssignment]) -> None:
    """Write the course and read it again before it gets its name.

    Raises:
        UsageError: something is there already, or it cannot be written.
        CourseError: viva cannot grade what was imported.
    """
    if to.is_symlink() or (to.exists() and (not to.is_dir() or any(to.iterdir()))):
        raise UsageError(f"{to} is not empty. Give a new folder with --to, so that none of your files are overwritten.")
    if not assignments:
        raise UsageError("No assignment was found; nothing was written.")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}.") from None
    try:
        _write(made, to, title, assignments)
        _read_again(made, to)
        made.chmod(0o755)
        if to.exists():
            to.rmdir()
        made.rename(to)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def make_folder_name(text: str) -> str:
    """Return a name that an assignment's folders can have, as close to the text as possible."""
    if is_folder_name(text):
        return text
    return as_name(text, "").strip("-._") or "assignment"


def format_points(points: Fraction) -> int | float | str:
    """Return points as YAML writes them: 3, 2.5 or "1/3"."""
    if points.denominator == 1:
        return int(points)
    return float(points) if Fraction(str(float(points))) == points else str(points)


def make_question(title: str, points: Fraction, text: str, model: str) -> dict[str, object]:
    """Return a question of rubric.yaml with one item, and the author's own answer if there is one."""
    words = text.strip() or "The answer is right and complete."
    worth = format_points(points)
    answer = {"model": model.strip()} if model.strip() else {}
    return {"title": title, "points": worth, **answer, "items": [{"id": "right", "points": worth, "text": words}]}


def list_files(each: ImportedAssignment) -> dict[str, bytes]:
    """Return the files of an assignment, without assignment.yaml, by their paths in the course."""
    folder, right = f"assignments/{each.name}", f"fixtures/{each.name}/submissions/accepted/author"
    files = {f"{folder}/rubric.yaml": _yaml({"questions": each.rubric})} if each.rubric else {}
    files |= {f"{folder}/starter/{path}": data for path, data in each.starter.items()}
    files |= {f"graders/{each.name}/{path}": data for path, data in each.graders.items()}
    return files | {f"{right}/{path}": data for path, data in each.accepted.items()}


def _write(root: Path, to: Path, title: str, assignments: Sequence[ImportedAssignment]) -> None:
    files: dict[str, bytes] = {
        "grader.yaml": _yaml({"course": title, "secret": "file:.secret", "assignments": [a.name for a in assignments]}),
        ".gitignore": b".secret\nresults/\n__pycache__/\n",
    }
    for each in assignments:
        folder, own = f"assignments/{each.name}", list_files(each)
        if each.master is not None:
            each.settings["master"] = os.path.relpath(each.master.absolute(), to.absolute() / folder)
            own[f"graders/{each.name}/{MANIFEST}"] = make_manifest(each.master, each.settings.get("data", ()), own)
        files |= {**own, f"{folder}/assignment.yaml": _yaml(each.settings)}
    for path, data in files.items():
        write_atomically(root / path, data, durable=False)
    write_atomically(root / ".secret", f"{secrets.token_hex(32)}\n".encode(), durable=False, mode=0o600)


def _read_again(root: Path, to: Path) -> None:
    """Check that what was written is a course; the error names the place where its file was to be."""
    try:
        course = load_course(root)
        for name in course.assignments:
            assignment = course.assignment(name)
            assignment.rubric()
            if assignment.suite == "nbgrader":
                read_source(assignment.graders / SOURCE)
            elif assignment.suite == "otter":
                read_otter(assignment)
    except CourseError as error:
        raise CourseError(f"Nothing was written: {error}".replace(str(root.absolute()), str(to))) from None


def _yaml(value: dict[str, object]) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110).encode()

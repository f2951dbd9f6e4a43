"""The released folder: what students get, as files in memory before any of it is written."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from viva.config import Assignment, Course
from viva.config.read_config import read_document
from viva.examiner.recorded_key.record import RECORD, Record
from viva.model.errors import UsageError
from viva.plugins.release.needed_sources import public_files

_ONLY_FOR_GRADERS: Final = ("points", "dropped", "min_tier", "python", "release")
"""Settings of assignment.yaml that are only for graders."""


def check_new(folder: Path) -> None:
    """Check that a folder may be written: it is new or empty.

    Raises:
        UsageError: it holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty. Give a new folder, so that none of your files are overwritten.")


def write_new(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder that is new or empty, completely or not at all.

    Raises:
        UsageError: the folder holds something.
    """
    check_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        write_files(unfinished, files)
        unfinished.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths in a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def course_files(
    course: Course, assignment: Assignment, public: dict[str, set[str]], record: Record, starter: dict[str, bytes]
) -> dict[str, bytes]:
    """Return the files of the released course: public tests, helpers of the box, data, recorded answers.

    Args:
        course: the course of the assignment.
        assignment: the assignment to be released.
        public: by test file (`test_x.py`), the names of its test functions that are released.
        record: the key's recorded answers.
        starter: the files of the starter, by their paths.

    Raises:
        CourseError: a public test cannot be released; see `public_files`.
    """
    name = assignment.name
    settings = {"course": course.title, "assignments": [name]}
    files = {
        "grader.yaml": _yaml(settings),
        f"assignments/{name}/assignment.yaml": _yaml(_settings(assignment)),
        f"graders/{name}/{RECORD}": record.to_bytes(),
    }
    files |= {f"assignments/{name}/starter/{path}": data for path, data in starter.items()}
    files |= {
        f"assignments/{name}/{path}": file.read_bytes()
        for path, file in zip(assignment.data_names, assignment.data, strict=True)
    }
    files |= {f"graders/{name}/{path}": text.encode() for path, text in public_files(assignment, public).items()}
    return files


def _settings(assignment: Assignment) -> dict[str, object]:
    written = read_document(assignment.folder / "assignment.yaml").document.value
    return {key: value for key, value in written.items() if key not in _ONLY_FOR_GRADERS}


def _yaml(value: Mapping[str, object]) -> bytes:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True).encode()

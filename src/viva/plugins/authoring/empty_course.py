"""Make a new course with one small assignment."""

import os
import secrets
import shutil
from importlib import resources
from pathlib import Path
from typing import Final

from viva.config.load_course import GRADER_YAML
from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError
from viva.plugins.authoring.yaml_edit import as_scalar

_TITLE: Final = "my_course"
"""The title in the template."""


def make_course(folder: Path) -> None:
    """Write the course, named after its folder, with its own secret.

    Raises:
        UsageError: the folder is not empty, or cannot be written.
    """
    existed = folder.exists()
    if existed and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty. Give a new folder, so that none of your files are overwritten.")
    try:
        _write_course(folder)
    except (OSError, UsageError) as error:  # such as a full disk
        for path in folder.iterdir() if folder.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not existed:
            shutil.rmtree(folder, ignore_errors=True)
        raise UsageError(f"{folder}: no course was made, because it cannot be written: {_reason(error)}.") from None


def _reason(error: OSError | UsageError) -> str:
    if isinstance(error, shutil.Error):
        return str(error.args[0][0][2])  # of the first file
    return getattr(error, "strerror", None) or str(error).rstrip(".")


def _write_course(folder: Path) -> None:
    with resources.as_file(resources.files("viva.plugins.authoring") / "templates" / "course") as template:
        shutil.copytree(template, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    grader = folder / GRADER_YAML
    title = os.fsencode(folder.resolve().name).decode("utf-8", "replace").strip() or _TITLE
    write_atomically(grader, grader.read_text("utf-8").replace(_TITLE, as_scalar(title), 1).encode())
    (folder / "gitignore").rename(folder / ".gitignore")  # the package leaves out files whose names begin with a dot
    write_atomically(folder / ".secret", f"{secrets.token_hex(32)}\n".encode(), mode=0o600)

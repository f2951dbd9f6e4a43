"""Make a new course with one small assignment."""

import secrets
import shutil
from importlib import resources
from pathlib import Path

from viva.formats.atomic_write import write_atomically
from viva.model.errors import UsageError


def make_course(folder: Path) -> None:
    """Write the course, with a secret of its own.

    Raises:
        UsageError: the folder is not empty, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty. Give a new folder, so that none of your files are overwritten.")
    with resources.as_file(resources.files("viva.authoring") / "templates" / "course") as template:
        shutil.copytree(template, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "gitignore").rename(folder / ".gitignore")  # the package leaves out files whose names begin with a dot
    write_atomically(folder / ".secret", f"{secrets.token_hex(32)}\n".encode(), mode=0o600)

"""Where the exports of classes are unpacked, and how one student's copy there is removed."""

import itertools
import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import sweep_parts
from viva.model.errors import UsageError

UNPACKED: Final = ".class"
"""The folder for what a platform's export unpacks to: in the folder of the results, else next to grader.yaml."""
_EXPORT: Final = re.compile("[0-9a-f]{12}")


def unpacked_path(folder: Path, export: Path) -> Path:
    """Return where an export unpacks to below a folder."""
    return folder / UNPACKED / sha256(str(export.resolve()).encode()).hexdigest()[:12]


def is_copy(path: Path) -> bool:
    """Return whether a submission lies in a folder that `viva grade` made for the contents of an export."""
    parts = path.parts
    return any(one == UNPACKED and _EXPORT.fullmatch(other) for one, other in itertools.pairwise(parts[:-1]))


def remove_copy(path: Path) -> None:
    """Remove such a submission, and what a killed run had unpacked next to it.

    Raises:
        UsageError: it cannot be removed.
    """
    sweep_parts(next(folder for folder in path.parents if folder.name == UNPACKED))
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be removed: {error.strerror}; remove it by hand.") from None
